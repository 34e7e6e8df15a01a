"""Processes with a clock that is off, by libfaketime."""

import shutil
import subprocess
from pathlib import Path

import pytest

LIBFAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
NEEDS_LIBFAKETIME = pytest.mark.skipif(
    LIBFAKETIME is None or shutil.which("cc") is None,
    reason="no libfaketime or no C compiler: apt-get install libfaketime gcc",
)


def off_by(seconds: int, folder: Path) -> dict[str, str]:
    """The environment of a process whose wall clock is ahead by so many seconds.

    The monotonic clock is that of the machine.
    """
    sleep = folder / "real_sleep.so"
    source = Path(__file__).with_name("real_sleep.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", sleep, source], check=True)
    return {
        "LD_PRELOAD": f"{sleep}:{LIBFAKETIME}",
        "FAKETIME": f"{seconds:+d}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
