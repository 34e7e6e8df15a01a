"""Runs the driver program: starts it, hears what it prints, tells how it failed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.attempt import is_disk_full
from lsmtune.engines.base import TrialFailedError, Watch
from lsmtune.engines.read_back import first_log
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.system.deadline import Deadline, ProcessTimeout
from lsmtune.system.process import ChildProcess, ExitStatus, NoLine
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Protocol, Status, TrialSpec

_TICK_S = 0.1
_END_S = 30.0
_MOST_CHARACTERS = 300
_PART = '{"part": '
_NEXT = {"open": "load", "load": "settle", "settle": "probe"}
"""What begins when a part has ended."""
_PARTS = frozenset({"open", "load", "loaded", "reopened", "settle", "get", "get_missing", "scan",
                    "end"})  # fmt: skip
_TABLES = ("*.sst", "*.ldb", "data.mdb")

Part = Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class Space:
    """Sizes of a store: the largest of its folder so far, all files, its tables."""

    peak_bytes: int = 0
    disk_bytes: int = 0
    table_bytes: int = 0


@dataclass(frozen=True, slots=True)
class DriverRun:
    """What the driver told: each part by name, and the store's own words once it was loaded and
    once it was opened again; its sizes when it had settled; how it ended."""

    version: str
    parts: Mapping[str, Part]
    words: Mapping[str, str]
    space: Space
    exit: ExitStatus

    def number(self, part: str, name: str) -> float:
        """A number of a part; TrialFailedError where it is missing."""
        told = self.parts[part].get(name)
        if not isinstance(told, int | float):
            raise TrialFailedError(
                Status.UNREADABLE,
                f"the benchmark driver printed no value {name} for the step {part}",
            )
        return float(told)


def driver_argv(program: str, spec: TrialSpec, folder: Path) -> list[str]:
    """The command line of a trial."""
    load, settings = spec.workload, dict(spec.settings)
    store = str(settings.pop("store"))
    told = {
        **settings,
        "num": load.num,
        "operations": load.client_operations,
        "seed": spec.seed,
        "in_order": int(load.name == "fillseq"),
        "threads": load.threads,
        "key_size": load.key_size,
        "value_size": load.value_size,
        "compression_ratio": load.compression_ratio,
        "probe_reads": spec.protocol.probe_reads,
        "scan_length": spec.protocol.scan_length,
        "quiet_s": spec.protocol.quiet_s,
    }
    return [program, store, str(folder), *(f"{name}={value}" for name, value in told.items())]


class Driver:
    """One process of the driver, with its output beside the folder of its store."""

    def __init__(self, argv: Sequence[str], folder: Path, limits: Protocol) -> None:
        self._argv = argv
        self._folder = folder
        self._limits = limits
        self._stdout = folder.parent / "driver-stdout.txt"
        self._stderr = folder.parent / "driver-stderr.txt"

    def run(self, watch: Watch) -> DriverRun:
        """Run it to its end; TrialFailedError when it dies, takes too long or lacks a part."""
        heard = _Heard(self._folder)
        deadline = Deadline(
            wall_s=self._limits.wall_limit_s, silence_s=self._limits.silence_limit_s
        )
        with ChildProcess(
            self._argv,
            cwd=self._folder.parent,
            stdout_path=self._stdout,
            stderr_path=self._stderr,
            env={},
        ) as process:
            try:
                _hear(process, heard, deadline, watch)
                status = process.wait(_END_S)
            except ProcessTimeout as timeout:
                raise TrialFailedError(
                    Status.TIMED_OUT, f"lsmtune stopped the benchmark driver: {timeout}"
                ) from timeout
        self._check_end(status, heard)
        if missing := _PARTS - heard.parts.keys():
            raise TrialFailedError(
                Status.UNREADABLE,
                "the benchmark driver printed no results for these steps: "
                f"{', '.join(sorted(missing))}",
            )
        version = str(heard.parts["open"].get("version")) or _logged_version(self._folder)
        words = {part: "\n".join(lines) + "\n" for part, lines in heard.words.items()}
        return DriverRun(version, heard.parts, words, heard.space, status)

    def evidence(self) -> dict[str, Path]:
        """The files that exist, by the name under which they are kept."""
        named = {path.name: path for path in (self._stdout, self._stderr)}
        named["LOG"] = first_log(self._folder)
        for path in sorted(self._folder.glob("OPTIONS-*"))[:1]:
            named["OPTIONS"] = path
        return {name: path for name, path in named.items() if path.is_file()}

    def _check_end(self, status: ExitStatus, heard: "_Heard") -> None:
        if status.returncode == 0:
            return
        said = self._stderr.read_text(errors="replace").strip()
        words = (said.splitlines() or ["the driver printed no error message"])[-1][
            :_MOST_CHARACTERS
        ]
        if is_disk_full(said, self._folder):
            raise TrialFailedError(Status.OUT_OF_SPACE, f"the disk is full: {words}")
        how = status.signal_name or f"exit code {status.returncode}"
        kind = Status.CRASHED if "open" in heard.parts else Status.REFUSED
        raise TrialFailedError(kind, f"the benchmark driver ended with {how}: {words}")


class _Heard:
    """What the driver has told so far, and the sizes of the store meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.parts: dict[str, Part] = {}
        self.words: dict[str, list[str]] = {}
        self.space = Space()

    def take(self, line: str, watch: Watch) -> None:
        """A line: the end of a part, or words of the store."""
        if not line.startswith(_PART):
            self.words.setdefault(next(reversed(self.parts), ""), []).append(line)
            return
        try:
            part = dict(json.loads(line))
        except ValueError as error:
            raise TrialFailedError(
                Status.UNREADABLE,
                f"lsmtune cannot parse this line of the benchmark driver: {line!r}",
            ) from error
        name = str(part["part"])
        self.parts[name] = part
        if name == "settle":
            self._settled()
        if name in _NEXT:
            watch.phase(_NEXT[name])

    def look(self) -> None:
        """Note the folder's size where it is the largest yet."""
        size = directory_bytes(self._folder)
        if size > self.space.peak_bytes:
            self.space = Space(size, self.space.disk_bytes, self.space.table_bytes)

    def _settled(self) -> None:
        tables = [path for pattern in _TABLES for path in self._folder.glob(pattern)]
        size = directory_bytes(self._folder)
        table_bytes = sum(path.stat().st_size for path in tables)
        self.space = Space(max(size, self.space.peak_bytes), size, table_bytes)


def _hear(process: ChildProcess, heard: _Heard, deadline: Deadline, watch: Watch) -> None:
    """Read all that it prints; CPU time that it uses is a sign of life."""
    cpu_s = 0.0
    while (line := process.read_line(_TICK_S)) is not NoLine.END:
        if isinstance(line, str):
            deadline.heard()
            heard.take(line, watch)
            continue
        heard.look()
        if process.running and (used_s := process.cpu_s()) > cpu_s:
            cpu_s = used_s
            deadline.heard()
        deadline.check()


def _logged_version(folder: Path) -> str:
    return read_log(read_lines(first_log(folder), [])).version or "unknown"
