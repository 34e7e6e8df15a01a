"""Processes of the driver: start with a plan, events, and failures as those of a trial."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lsmtune.engines.base import MOST_CHARACTERS, TrialFailedError, Watch, disk_full, is_disk_full
from lsmtune.engines.rocksdb.bench import Files, HeldRun
from lsmtune.engines.rocksdb.best_case import BestCase
from lsmtune.engines.rocksdb.watching import END_S, SETTLE_TICK_S, TICK_S, Hope, Look, timed
from lsmtune.errors import Argument, UserError
from lsmtune.system.cancelling import Deadline
from lsmtune.system.process import ChildProcess, ExitStatus, NoLine
from lsmtune.trials import Protocol, Status

Event = dict[str, Any]

NO_DRIVER = "lsmtune is installed without its driver"
BUILD_DRIVER = "install cargo and run `make setup`"
"""What is wrong if the driver was not built, and what to do."""

_PACKAGE = "lsmsim"
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); import lsmsim; lsmsim.drive()"
"""The driver is a function of the module, because a wheel has a module or programs, not both."""
_SHORT_S = 60.0
"""Limit of a plan that only opens a store."""
_STATUS = {
    "library": Status.REFUSED,
    "open": Status.REFUSED,
    "operation": Status.CRASHED,
    "wrong": Status.UNREADABLE,
    "restless": Status.TIMED_OUT,
}
"""Kinds of failures of the driver, as the status of a trial."""
_STORES = {"rocksdb": "RocksDB", "leveldb": "LevelDB", "lmdb": "LMDB"}


@dataclass(frozen=True, slots=True)
class Client:
    """A driver process: its library, its plan, the folder of its database, its output files.

    The client adds library and folder to the plan.
    """

    library: str
    plan: Mapping[str, Any]
    database: Path
    files: Files

    def run_held(
        self, phase: str | None, limits: Protocol, watch: Watch, best: BestCase | None
    ) -> tuple[HeldRun, list[Event]]:
        """Run the plan. The load ends with its phase; without a phase, there is no load.

        TrialFailedError if the store refuses the options, if the process crashes or hangs, or if
        the watch finds that the trial cannot win even in the best case.
        """
        deadline = Deadline(wall_s=limits.wall_limit_s, silence_s=limits.silence_limit_s)
        events: list[Event] = []
        hope = None if best is None else Hope(watch.hopeless, best)
        with self.start() as process:
            look = Look(process, self.database, deadline, hope)
            load_end_s = time.time()
            if phase is not None:
                with timed("lsmtune stopped the driver during the load"):
                    for event in _events(process, look, TICK_S):
                        events.append(event)
                        if event["event"] == "run" and event["phase"] == phase:
                            load_end_s = event["time_s"]
                            break
            look.loaded()
            watch.phase("settle")
            with timed("lsmtune stopped the driver after the load"):
                events.extend(_events(process, look, SETTLE_TICK_S))
                status = process.wait(END_S)
        self.check(status, events)
        return HeldRun(load_end_s, status, look.peak_space_bytes), events

    def run_to_end(
        self, what: str, limits: Protocol, watch: Watch | None = None
    ) -> tuple[ExitStatus, list[Event]]:
        """Run the plan to its end; TrialFailedError if it fails.

        `what` is the beginning of the message if a time limit is exceeded. The watch gets the
        phases of the plan.
        """
        deadline = Deadline(wall_s=limits.wall_limit_s, silence_s=limits.silence_limit_s)
        events: list[Event] = []
        with timed(what), self.start() as process:
            look = Look(process, self.database, deadline, None)
            for event in _events(process, look, TICK_S):
                events.append(event)
                if watch is not None and event["event"] == "phase":
                    watch.phase(event["phase"])
            status = process.wait(END_S)
        self.check(status, events)
        return status, events

    def run_short(self) -> list[Event]:
        """Run a plan that only opens a store; return its events."""
        limits = Protocol(wall_limit_s=_SHORT_S, silence_limit_s=_SHORT_S)
        return self.run_to_end("lsmtune stopped the driver while it opened a store", limits)[1]

    def start(self, *, has_commands: bool = False) -> ChildProcess:
        """Start the plan. With `has_commands`, each further line of input is a command."""
        plan = self.files.stdout.with_suffix(".plan.json")
        placed = {"library": self.library, "folder": str(self.database), **self.plan}
        text = json.dumps(placed)
        plan.write_text(text, encoding="utf-8")
        process = ChildProcess(
            # -I and -S: Python loads no module of the user and starts in 15 ms.
            [sys.executable, "-I", "-S", "-c", _PROGRAM, _package_folder()],
            cwd=self.database.parent,
            stdin_path=plan,
            has_input=has_commands,
            stdout_path=self.files.stdout,
            stderr_path=self.files.stderr,
            env={},
        )
        if has_commands:
            process.write_line(text)
        return process

    def check(self, status: ExitStatus, events: list[Event]) -> None:
        """Raise TrialFailedError if the driver did not carry out its plan."""
        last = events[-1] if events else {}
        if status.returncode == 0 and last.get("event") == "ended":
            return
        if last.get("event") == "failed":
            self._raise_failed(last["kind"], last["message"][:MOST_CHARACTERS])
        errors = self.files.stderr_text().strip()
        if is_disk_full(errors, self.database):
            raise disk_full(errors)
        how = status.signal_name or f"exit code {status.returncode}"
        words = errors[-MOST_CHARACTERS:] or "it printed no error message"
        raise TrialFailedError(Status.CRASHED, f"the driver ended with {how}: {words}")

    def _raise_failed(self, kind: str, message: str) -> None:
        if is_disk_full(message, self.database):
            raise disk_full(message)
        if kind == "plan":
            raise RuntimeError(f"the driver cannot read its plan: {message}")
        store = _STORES[self.plan.get("engine", "rocksdb")]
        words = message if kind == "library" else f"{store}: {message}"
        raise TrialFailedError(_STATUS[kind], words)


def has_driver() -> bool:
    """Return whether the driver was built when lsmtune was installed."""
    return find_spec(_PACKAGE) is not None


def _package_folder() -> str:
    package = find_spec(_PACKAGE)
    if package is None or package.origin is None:
        raise UserError(
            f"{NO_DRIVER}; {BUILD_DRIVER}, or use ", Argument("program", flag="--db-bench")
        )
    return str(Path(package.origin).parent.parent)


def _events(process: ChildProcess, look: Look, tick_s: float) -> Iterator[Event]:
    """Yield the events up to the end of the output. Check the process every `tick_s` seconds."""
    while (line := process.read_line(tick_s)) is not NoLine.END:
        look.measure_space()
        event = event_in(line) if isinstance(line, str) else None
        if event is not None:
            if _shows_work(event):
                look.heard()
            yield event
        look.look()


def event_in(line: str) -> Event | None:
    """Return the event of a line; None for other text.

    The last line of a driver that crashed may be incomplete. A library may print other lines.
    """
    try:
        event = json.loads(line)
    except json.JSONDecodeError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


def _shows_work(event: Event) -> bool:
    """Return whether an event shows that the driver did something.

    The driver prints an event every second, even if all clients wait.
    """
    if event["event"] != "second":
        return True
    return any(kind["count"] for kind in event["operations"].values())
