"""Measure time and memory of `inspect` for a LOG of 300 MB, plain, compressed and in frames.

    .venv/bin/python benchmarks/inspect_speed.py LOG.gz

The LOG is the part of a real LOG after its first lines, repeated until it is large. A separate
process reads it `--runs` times in each form. Wall time counts only on a quiet machine; the CPU
time of the process is printed next to it.
"""

import argparse
import gzip
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.frames import FRAMES  # noqa: E402

_BYTES = 300 * 10**6
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


def enlarged(log: bytes) -> bytes:
    """Return the first lines of the LOG, and the rest repeated to the wanted size."""
    begin = log.index(b"\n", log.index(b"DB pointer")) + 1
    head, rest = log[:begin], log[begin:]
    return head + rest * (_BYTES // len(rest) + 1)


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
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    whole = enlarged(gzip.decompress(arguments.log.read_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "LOG")
        for name, content in forms(whole):
            path.write_bytes(content)
            walls, cpus, peaks = zip(*(run(path) for _ in range(arguments.runs)), strict=True)
            print(f"{name}: {len(content) / 1e6:.0f} MB in {statistics.median(walls):.2f} s "
                  f"({min(walls):.2f} to {max(walls):.2f}), CPU {statistics.median(cpus):.2f} s, "
                  f"memory {max(peaks):.0f} MB", flush=True)  # fmt: skip


def run(path: Path) -> tuple[float, float, float]:
    """Return wall time and CPU time in seconds, and the peak of memory in MB, of one process."""
    begun = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", _CODE, str(path)], check=True,
                          capture_output=True, text=True)  # fmt: skip
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, int(done.stdout.split()[-1]) * 1024 / 1e6


if __name__ == "__main__":
    main()
