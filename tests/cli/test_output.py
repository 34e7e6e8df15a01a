"""Standard output that cannot be written to is told in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
LSMTUNE = [sys.executable, "-c", "from lsmtune.cli.main import main; main()"]


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["--version"], ["tune", "--help"], ["knobs", "rocksdb"], ["workloads", "--json"]]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told(arguments: list[str], unbuffered: str) -> None:
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with FULL.open("w") as full:
        done = subprocess.run(
            [*LSMTUNE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
            env=environment, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("lsmtune: standard output: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_ends_is_no_failure() -> None:
    with subprocess.Popen([*LSMTUNE, "knobs", "rocksdb"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
