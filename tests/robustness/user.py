"""A user of the real command line, with a stand-in for db_bench and disks of his own."""

import errno
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.fake_db_bench import Mode, install
from fakes.forks import Program
from fakes.patience import PATIENCE_S, eventually
from fakes.traces import left_behind, started

STUDY_FILE = """\
optimizer = "random"
early_stop = false  # a load that is held would be cut
base_runs = 1
finalists = 1
repeats = 0
simplify = false
pairs = 0
[workload]
name = "fillrandom"
num = 5000
[protocol]
quiet_s = 0.05
probe_reads = 100
"""


@dataclass
class User:
    """Someone in a folder of his own, with a study file, a db_bench and a home."""

    folder: Path
    home: Path
    program: Path

    @classmethod
    def make(cls, folder: Path, home: Path | None = None, mode: Mode = Mode.WORKS) -> "User":
        """Set up the folder; the home is in it unless it is somewhere else."""
        (folder / "tmp").mkdir()
        (folder / "study.toml").write_text(STUDY_FILE)
        return cls(folder, home or folder / "home", install(folder / "bin", mode))

    @property
    def hold(self) -> Path:
        """While this file says N, the loads from the Nth on do not end."""
        return self.program.with_name("hold")

    def start(self, *arguments: str) -> Program:
        """Start the program."""
        settings = {"LSMTUNE_HOME": str(self.home), "LSMTUNE_DB_BENCH": str(self.program),
                    "TMPDIR": str(self.folder / "tmp")}  # fmt: skip
        return Program(arguments, self.folder, os.environ | settings)

    def tune(self, name: str, trials: int) -> Program:
        """Start tuning a study."""
        return self.start("tune", "study.toml", "--study", name, "--trials", str(trials), "--json")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run the program to its end: exit code, output, errors; a traceback is none of them."""
        return end(self.start(*arguments))

    def loads(self) -> int:
        """How many loads have begun."""
        return sum(what == "load" for _, what in started(self.program))

    def check_clean(self) -> None:
        """No process, and no work directory, is left."""
        assert eventually(lambda: left_behind(self.program) == [])
        assert list((self.home / "work").iterdir()) == []


def end(process: Program) -> tuple[int, str, str]:
    """Wait for the end of a program; its exit code, output and errors."""
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.send_signal(signal.SIGKILL)
    assert "Traceback" not in err, err
    return process.returncode, out, err


@contextmanager
def disk(path: Path, size_bytes: int) -> Iterator[Path]:
    """A small disk of its own at the path; the test is skipped where none can be mounted."""
    path.mkdir()
    with _mounted(path, "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs"):
        yield path


@contextmanager
def read_only(source: Path, path: Path) -> Iterator[Path]:
    """The folder once more at the path, where nothing can be written."""
    path.mkdir()
    with _mounted(path, "--bind", str(source)):
        subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
        yield path


@contextmanager
def _mounted(path: Path, *how: str) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    done = subprocess.run(["mount", *how, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def fill(folder: Path, leave_bytes: int = 0) -> Path:
    """Fill the disk of the folder, all but so many bytes, with one file.

    Others may write meanwhile, so that less is left than was looked up: then it is looked up anew.
    """
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        while True:
            facts = os.statvfs(folder)
            left = facts.f_bavail * facts.f_frsize - leave_bytes
            try:
                os.posix_fallocate(file.fileno(), 0, max(1, left))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
            else:
                return ballast
