"""Measure time and memory of `inspect` for a large LOG, plain, compressed and in frames.

    .venv/bin/python benchmarks/inspect_speed.py LOG.gz [--megabytes N] [--runs N] [--before SRC]

The LOG is the part of a real LOG after its first lines, repeated until it is large. A separate
process reads it `--runs` times in each form. Wall time counts only on a quiet machine; the CPU
time of the process is printed next to it.

With --before, the folder `src` of another version of lsmtune reads the same file right before or
after each run. The ratio of CPU times is the median over these pairs; a median of 1.1 means that
this version needs 10 % more than the other one.
"""

import argparse
import gzip
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.frames import FRAMES  # noqa: E402

_FRAMES = ("journald", "kubectl", "docker")
_CODE = """
import re, sys
from pathlib import Path
from lsmtune.cli.main import run
status = run(["inspect", sys.argv[1]])
print(re.search("VmHWM: *([0-9]+)", Path("/proc/self/status").read_text().replace("\\t", " "))[1])
sys.exit(status)
"""
"""Prints the peak of memory in KiB at last: what a parent measures includes its own memory."""


class Run(NamedTuple):
    """Wall time and CPU time in seconds, and the peak of memory in MB, of one process."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def enlarged(log: bytes, size: int) -> bytes:
    """Return the first lines of the LOG, and the rest repeated to the wanted size."""
    begin = log.index(b"\n", log.index(b"DB pointer")) + 1
    head, rest = log[:begin], log[begin:]
    return head + rest * (size // len(rest) + 1)


def forms(log: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the LOG in each form, with its name."""
    yield "plain", log
    yield "gzip", gzip.compress(log, 6)
    for name in _FRAMES:
        yield name, FRAMES[name](log.decode(errors="replace"))


def main() -> None:
    """Measure and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--before", type=Path, metavar="SRC")
    arguments = parser.parse_args()
    log = gzip.decompress(arguments.log.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "LOG")
        for name, content in forms(enlarged(log, arguments.megabytes * 10**6)):
            path.write_bytes(content)
            print(f"{name}, {len(content) / 1e6:.0f} MB:", flush=True)
            measure(path, arguments.runs, arguments.before)


def measure(path: Path, runs: int, before: Path | None) -> None:
    """Read the file with one version or with two, and print the medians."""
    trees = {"now": ROOT / "src"} | ({"before": before} if before else {})
    done: dict[str, list[Run]] = {name: [] for name in trees}
    for number in range(runs):
        for name in list(trees)[:: -1 if number % 2 else 1]:
            done[name].append(run(path, trees[name]))
    for name, found in done.items():
        walls = [one.wall_s for one in found]
        print(f"  {name}: {statistics.median(walls):.2f} s ({min(walls):.2f} to {max(walls):.2f}), "
              f"CPU {statistics.median(one.cpu_s for one in found):.2f} s, "
              f"memory {max(one.peak_mb for one in found):.0f} MB", flush=True)  # fmt: skip
    if before:
        pairs = zip(done["now"], done["before"], strict=True)
        ratios = [now.cpu_s / then.cpu_s for now, then in pairs]
        print(f"  CPU now / before: {statistics.median(ratios):.3f} "
              f"({min(ratios):.3f} to {max(ratios):.3f})", flush=True)  # fmt: skip


def run(path: Path, source: Path) -> Run:
    """Read the file in a process that imports lsmtune from a folder."""
    begun = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", _CODE, str(path)], check=True, text=True,
                          capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(source)})  # fmt: skip
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, cpu, int(done.stdout.split()[-1]) * 1024 / 1e6)


if __name__ == "__main__":
    main()
