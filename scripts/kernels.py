#!/usr/bin/env python3
"""Runs the numeric tests under several kernels of OpenBLAS, which round differently.

    .venv/bin/python scripts/kernels.py [--only KERNEL,KERNEL] [TESTS]

numpy and scipy each bring an OpenBLAS. It chooses the kernel of the processor, or the one that
OPENBLAS_CORETYPE names. With the name of a kernel that the build lacks, it runs another one: this
counts as a failure. A kernel that the processor cannot run is skipped.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS = "Prescott,Nehalem,Sandybridge,Haswell,SkylakeX"
TESTS = [
    "tests/learning",
    "tests/optimizers",
    "tests/reproductions/optimizers",
    "tests/simulator",
]
_OTHER_NAMES = {"Prescott": "Katmai"}
"""The name that OpenBLAS reports for a kernel, if it is not the kernel's own."""
_PROBE = """
import numpy, scipy.linalg
matrix = numpy.random.default_rng(1).random((300, 300))
scipy.linalg.svd(matrix @ matrix)
numpy.linalg.svd(matrix @ matrix)
"""


def environment(kernel: str) -> dict[str, str]:
    """Return the environment of a program that runs under this kernel, on one thread."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    return {**own, "OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": kernel}


def outcome(kernel: str, tests: list[str]) -> str:
    """Return the outcome of the tests under a kernel."""
    probe = subprocess.run(
        [sys.executable, "-c", _PROBE],
        env=environment(kernel) | {"OPENBLAS_VERBOSE": "2"},
        check=False,
        capture_output=True,
        text=True,
    )
    ran = set(re.findall(r"^Core: (\S+)", probe.stderr, re.MULTILINE))
    if probe.returncode == -signal.SIGILL:
        return "skipped: this processor cannot run it"
    if probe.returncode or ran != {_OTHER_NAMES.get(kernel, kernel)}:
        return f"failed: OpenBLAS ran {', '.join(sorted(ran)) or 'no known kernel'}"
    print(f"kernels: {kernel}: OpenBLAS reports {', '.join(ran)}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *tests]
    ran_tests = subprocess.run(command, cwd=ROOT, env=environment(kernel), check=False)
    code = ran_tests.returncode
    return f"failed: code {code} of pytest" if code else "passed"


def main() -> int:
    """Run the tests under each kernel; return 1 if a kernel failed or none could run."""
    parser = argparse.ArgumentParser(usage="kernels.py [--only KERNEL,KERNEL] [TESTS]")
    parser.add_argument("--only", default=KERNELS)
    parser.add_argument("tests", nargs="*", default=TESTS)
    given = parser.parse_args()
    found = {kernel: outcome(kernel, given.tests) for kernel in given.only.split(",")}
    for kernel, text in found.items():
        print(f"kernels: {kernel}: {text}")
    return int("passed" not in found.values() or any("failed" in text for text in found.values()))


if __name__ == "__main__":
    sys.exit(main())
