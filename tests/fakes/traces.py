"""What runs of an engine, or of the stand-in for db_bench, have left on the machine."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import psutil


def started(program: Path) -> list[tuple[int, str]]:
    """The runs so far: process id, and "describe", "load" or "probe"."""
    runs = program.with_name("runs")
    lines = runs.read_text().splitlines() if runs.exists() else []
    return [(int(pid), what) for pid, what in (line.split() for line in lines)]


def left_behind(program: Path) -> list[psutil.Process]:
    """The processes that still live: of that program, or in a process group that it led."""
    groups = {pid for pid, _ in started(program)}
    return [process for process in _living() if _belongs(process, program, groups)]


def _living() -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process


def _belongs(process: psutil.Process, program: Path, groups: set[int]) -> bool:
    try:
        return str(program) in process.cmdline() or os.getpgid(process.pid) in groups
    except (psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError):
        return False


def processes_of(folder: Path) -> list[psutil.Process]:
    """The other processes that work in the folder, or have it in their arguments."""
    return [p for p in _living() if p.pid != os.getpid() and _works_in(p, str(folder))]


def _works_in(process: psutil.Process, folder: str) -> bool:
    try:
        return folder in process.cwd() or folder in " ".join(process.cmdline())
    except psutil.Error:
        return False
