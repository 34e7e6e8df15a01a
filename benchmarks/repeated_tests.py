"""Repeat tests that could fail by chance, while two busy loops run.

    .venv/bin/python benchmarks/repeated_tests.py [TIMES]

Tests that failed once, and tests that were changed for that, run 30 times. Every other test with
an engine, a clock or a kill runs TIMES times (5). Writes benchmarks/results/repeated_tests.json
after each round and resumes. Only failures count, not times.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "repeated_tests.json"
OFTEN = 30
CHANGED = (
    "tests/cli/test_progress.py",
    "tests/cli/test_sweep_command.py",
    "tests/study/test_screen.py::test_runs_go_side_by_side_once_that_is_seen_to_change_nothing",
    "tests/study/test_screen.py::test_runs_stay_alone_where_company_slows_them",
    "tests/system/test_lock.py",
    "tests/system/test_process.py",
    "tests/system/test_stand_in.py",
    "tests/engines/test_embedded_real.py::test_the_settings_reach_the_stores",
    "tests/robustness/test_killed_setup.py",
    "tests/simulator/test_predictions.py",
)
OTHERS = (
    "tests/cli/test_embedded_tuning.py", "tests/cli/test_interruption.py",
    "tests/cli/test_real_tuning.py", "tests/cli/test_tikv_tuning.py",
    "tests/engines/test_embedded_faults.py", "tests/engines/test_embedded_real.py",
    "tests/engines/test_myrocks_real.py", "tests/engines/test_rocksdb_faults.py",
    "tests/engines/test_rocksdb_real.py", "tests/engines/test_templates.py",
    "tests/engines/test_tikv.py", "tests/engines/test_tikv_settling.py", "tests/robustness",
    "tests/studies", "tests/system",
)  # fmt: skip
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_PASSED = re.compile(r"(\d+) passed")


@contextmanager
def busy() -> Iterator[None]:
    """Keep two cores busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def one_round(tests: tuple[str, ...]) -> dict[str, Any]:
    """Run the tests once: how many passed, and the names of those that failed."""
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        argv, cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    passed = _PASSED.search(done.stdout)
    return {"passed": int(passed[1]) if passed else 0, "failed": _FAILED.findall(done.stdout)}


def main() -> None:
    """Run the rounds that are missing."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    with busy():
        for name, tests, wanted in (("changed", CHANGED, OFTEN), ("others", OTHERS, times)):
            rounds = results.setdefault(name, [])
            while len(rounds) < wanted:
                rounds.append(one_round(tests))
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")
                print(name, len(rounds), rounds[-1], flush=True)


if __name__ == "__main__":
    main()
