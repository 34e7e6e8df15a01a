"""The script that runs numeric tests under kernels of OpenBLAS."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "kernels.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_kernel_that_the_build_lacks_fails() -> None:
    assert run("--only", "Pentium", "tests/learning/test_least_squares.py").returncode == 1


@pytest.mark.slow
def test_tests_run_under_the_kernel_that_is_named() -> None:
    found = run("--only", "Prescott", "tests/learning/test_least_squares.py")
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("Katmai") == 1
