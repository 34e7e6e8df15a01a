"""lsmtune is killed before a change of the world; the same command completes the study."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
EVERY = 11
"""`benchmarks/kills.py` does this at every place."""


@pytest.mark.parametrize("command", ["tune", "verify"])
def test_killed_before_a_change_it_loses_no_finished_trial(command: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "fakes.steps", command, str(tmp_path), str(EVERY)]
    threads = {"OMP_NUM_THREADS": "1"}  # a process with threads cannot fork safely
    done = subprocess.run(
        argv, cwd=TESTS, env=os.environ | threads, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    places = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(places) > 10
    assert [place for place in places if place["problems"]] == []
