"""lsmtune, ended before its n-th change of the world: a file, a folder, a process, a record.

The processes are forks of one that has imported lsmtune, so that a run costs no start.
"""

import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from fakes.fake_db_bench import Mode, install
from fakes.forks import be_quick, warm_up
from fakes.patience import eventually
from fakes.traces import left_behind

_CHANGES = {
    "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate",
    "subprocess.Popen",
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_READING = ("SELECT", "PRAGMA")


_PAIRS = 6
"""The pairs of a verification: the least number, and on a busy machine no more."""
STUDY = f"""\
study = "it"
optimizer = "random"
early_stop = false
trials = 1
base_runs = 1
finalists = 1
repeats = 0
pairs = 0
max_pairs = {_PAIRS}
[workload]
name = "fillrandom"
num = 25000
[protocol]
quiet_s = 0.05
probe_reads = 100
"""
_LOCKS = {"lsmtune-host.lock", "lsmtune-turn.lock"}


Change = int | Callable[[str], bool]
"""A change of the world by its number, from 1 on, or by its text."""


class Place(NamedTuple):
    """What became of a study whose process was killed before a change.

    `change` is what it did not do any more, `problems` is what is wrong after the same command has
    completed the study; empty if all is well.
    """

    number: int
    change: str
    problems: list[str]


@dataclass(frozen=True)
class Ended:
    """How a run ended: exit code (negative: the signal), the changes it made, and the next one."""

    code: int
    changes: list[str]
    next: str
    err: str


def run_steps(
    arguments: Sequence[str],
    folder: Path,
    settings: Mapping[str, str],
    killed_before: Change | None = None,
    killed_after_s: float | None = None,
) -> Ended:
    """Run the command line in `folder`, killed before a change or after a time."""
    out, err, log = (folder.with_name(f"steps.{name}") for name in ("out", "err", "log"))
    log.write_text("")
    child = os.fork()
    if child == 0:
        _be_the_program(arguments, folder, settings, (out, err, log), killed_before)
    if killed_after_s is not None:
        time.sleep(killed_after_s)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    changes = log.read_text().splitlines()
    killed = changes.pop() if code == -signal.SIGKILL else ""
    return Ended(code, changes, killed, err.read_text())


class Site:
    """A folder with a study file, a stand-in for db_bench, a home and a folder for drafts."""

    def __init__(self, folder: Path) -> None:
        warm_up()
        self.folder = folder / "site"
        self.home = self.folder / "home"
        self._saved = folder / "saved"
        self.folder.mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        (self.folder / "study.toml").write_text(STUDY)
        self.program = install(self.folder / "bin", Mode.WORKS)
        self._settings = {
            "LSMTUNE_HOME": str(self.home), "LSMTUNE_DB_BENCH": str(self.program),
            "TMPDIR": str(self.folder / "tmp"),
        }  # fmt: skip
        self.save()

    def save(self) -> None:
        """Keep the folder as it is now, to begin from there again."""
        shutil.rmtree(self._saved, ignore_errors=True)
        shutil.copytree(self.folder, self._saved)

    def restore(self) -> None:
        """Make the folder what it was at the last `save`."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._saved, self.folder)

    def run(
        self,
        command: Sequence[str],
        killed_before: Change | None = None,
        killed_after_s: float | None = None,
    ) -> Ended:
        """Run a command line, killed before a change or after a time if given."""
        return run_steps(command, self.folder, self._settings, killed_before, killed_after_s)

    def rows(self) -> list[tuple[Any, ...]]:
        """Number, role and start of the trials that are kept; the home itself is not opened."""
        if not list(self.home.glob("lsmtune.sqlite3")):
            return []
        with tempfile.TemporaryDirectory() as scratch:
            for path in self.home.glob("lsmtune.sqlite3*"):
                shutil.copy(path, scratch)
            with closing(sqlite3.connect(Path(scratch) / "lsmtune.sqlite3")) as database:
                tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'trial'")
                if not tables.fetchall():
                    return []
                columns = "SELECT number, role, started_at FROM trial ORDER BY number"
                return database.execute(columns).fetchall()

    def problems(self, ended: Ended, kept: list[tuple[Any, ...]]) -> list[str]:
        """What is wrong with a completed study of which these trials were kept before."""
        rows, found = self.rows(), []
        if ended.code != 0:
            found.append(f"exit code {ended.code}: {ended.err[-300:]}")
        if rows[: len(kept)] != kept:
            found.append(f"lost of {kept}: now {rows}")
        if [row[0] for row in rows] != list(range(len(rows))):
            found.append(f"numbers {rows}")
        evidence = sorted(path.name for path in (self.home / "evidence" / "it").glob("*"))
        if evidence != [f"{row[0]:05}" for row in rows]:
            found.append(f"evidence {evidence} of {rows}")
        left = [*(self.home / "work").glob("*"), *(self.folder / "tmp").glob("*")]
        if names := sorted({path.name for path in left} - _LOCKS):
            found.append(f"left {names}")
        if not eventually(lambda: left_behind(self.program) == []):
            found.append("a process is left")
        return found


def places(site: Site, command: Sequence[str], numbers: Iterable[int]) -> Iterator[Place]:
    """Kill the command before each of these changes, and complete it; ends behind the last one."""
    for number in numbers:
        site.restore()
        killed = site.run(command, killed_before=number)
        if killed.code == 0:
            return  # it made fewer changes
        assert killed.code == -signal.SIGKILL, killed.err
        assert eventually(lambda: left_behind(site.program) == [])
        kept = site.rows()
        yield Place(number, killed.next, site.problems(site.run(command), kept))


def killed_after(site: Site, command: Sequence[str], seconds: float) -> Place:
    """Kill the command after a time, and complete it."""
    site.restore()
    killed = site.run(command, killed_after_s=seconds)
    assert eventually(lambda: left_behind(site.program) == [])
    kept = site.rows()
    return Place(len(killed.changes), killed.next, site.problems(site.run(command), kept))


def tune_site(folder: Path) -> tuple[Site, list[str]]:
    """A site in which nothing has run, and the command that tunes."""
    return Site(folder), ["tune", "study.toml", "--json"]


def verify_site(folder: Path) -> tuple[Site, list[str]]:
    """A site with a tuned study of whose verification all but the last pair is done."""
    site = Site(folder)
    assert site.run(["tune", "study.toml", "--json"]).code == 0
    site.save()
    command = ["verify", "it", "--trial", "1", "--scale", "1/32", "--json"]
    runs = count(1)

    def starts_the_last_pair(change: str) -> bool:
        return _starts_a_run(change) and next(runs) == 2 * _PAIRS - 1

    killed = site.run(command, killed_before=starts_the_last_pair)
    assert killed.code == -signal.SIGKILL, killed.err
    site.save()
    return site, command


def _starts_a_run(change: str) -> bool:
    return change.startswith("os.mkdir") and "work" in change and "~it-verify" in change


def _be_the_program(
    arguments: Sequence[str],
    folder: Path,
    settings: Mapping[str, str],
    files: tuple[Path, Path, Path],
    killed_before: Change | None,
) -> None:
    code = 70
    try:
        out, err, log = (os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for path in files)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.chdir(folder)
        os.environ.update(settings)
        tempfile.tempdir = None
        tempfile.gettempdir()  # that of the settings; Python tries it with a file of its own
        signal.signal(signal.SIGINT, signal.default_int_handler)
        be_quick()
        _count_changes(folder, log, killed_before)
        from lsmtune.cli.main import run  # noqa: PLC0415 - its tests may have replaced parts

        sys.argv = ["lsmtune", *arguments]
        code = run(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # the parent shows it
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(code)


def _count_changes(folder: Path, log: int, killed_before: Change | None) -> None:
    """Log each change, and end the process before the one that is given."""
    done = 0
    inside = str(folder)

    def change(what: str) -> None:
        nonlocal done
        done += 1
        os.write(log, f"{what}\n".encode())
        if killed_before(what) if callable(killed_before) else done == killed_before:
            os.kill(os.getpid(), signal.SIGKILL)

    def statement(text: str) -> None:
        if not text.lstrip().upper().startswith(_READING):
            change(f"sqlite {text.split(maxsplit=1)[0]}")

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and given[2] & _WRITING:
            path = _text(given[0])
            if path.startswith(inside):
                change(f"open {path.removeprefix(inside)}")
        elif event in _CHANGES:
            change(f"{event} {_text(given[0]).removeprefix(inside)}")

    class Watched(sqlite3.Connection):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.set_trace_callback(statement)

    sys.addaudithook(hook)
    sqlite3.connect = partial(sqlite3.connect, factory=Watched)


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)


if __name__ == "__main__":
    make = {"tune": tune_site, "verify": verify_site}[sys.argv[1]]
    for place in places(*make(Path(sys.argv[2])), count(1, int(sys.argv[3]))):
        print(json.dumps(place._asdict()), flush=True)
