"""Measure time and memory of `inspect` for a LOG of 100 MB.

    .venv/bin/python benchmarks/inspect_speed.py LOG.gz

The LOG is the part of a real LOG after its first lines, repeated until it is large. A separate
process reads it `--runs` times, plain and compressed.
"""

import argparse
import gzip
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_BYTES = 100 * 10**6
_CODE = "import sys; from lsmtune.cli.main import run; sys.exit(run(['inspect', sys.argv[1]]))"


def enlarged(log: bytes) -> bytes:
    """Return the first lines of the LOG, and the rest repeated to the wanted size."""
    begin = log.index(b"\n", log.index(b"DB pointer")) + 1
    head, rest = log[:begin], log[begin:]
    return head + rest * (_BYTES // len(rest) + 1)


def main() -> None:
    """Measure and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    whole = enlarged(gzip.decompress(arguments.log.read_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("plain", whole), ("gzip", gzip.compress(whole, 6))):
            path = Path(folder, name)
            path.write_bytes(content)
            took = []
            for _ in range(arguments.runs):
                begun = time.monotonic()
                subprocess.run([sys.executable, "-c", _CODE, str(path)], check=True,
                               stdout=subprocess.DEVNULL)  # fmt: skip
                took.append(time.monotonic() - begun)
            print(f"{name}: {len(whole) / 1e6:.0f} MB in {statistics.median(took):.2f} s "
                  f"({min(took):.2f} to {max(took):.2f})")  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
