"""Read LOGs in the frames of other programs: the findings must be those of the bare LOG.

    .venv/bin/python benchmarks/frames.py [LOG.gz ...] [--layered N]

Without names, reads examples/LOG.gz and the captured LOGs of tests/data. Each is put into each
frame of tests/fakes/frames.py and into N layered frames, made with the seeds 0 to N - 1. Writes
benchmarks/results/frames.json: for each LOG and frame, whether findings and numbers are equal, and
the share of lines that RocksDB did not write and that are left over. Ends with 1 if a frame gives
another diagnosis; without a diagnosis, the guard spoke.
"""

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.frames import FRAMES, Frame, layered  # noqa: E402
from lsmtune.analysis.inspect.inspection import Inspection  # noqa: E402
from lsmtune.analysis.inspect.read import inspect_path  # noqa: E402
from lsmtune.metrics.frames import without_frames  # noqa: E402
from lsmtune.metrics.log_lines import read_lines  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "frames.json"
DATA = ROOT / "tests" / "data"
LOGS = (ROOT / "examples" / "LOG.gz", DATA / "captured" / "rocksdb-7.8.3-level" / "LOG.gz",
        DATA / "captured" / "rocksdb-11.8.1-universal" / "LOG.gz",
        DATA / "captured" / "myrocks-6.29-tpcc-universal.LOG.gz")  # fmt: skip
_STAMP = len("2026/11/21-21:17:44.881941 ")


def numbers(log: Inspection) -> dict[str, Any]:
    """Return all that a frame must not change."""
    return {
        "findings": [finding.code for finding in log.findings],
        "version": log.version,
        "options": log.options,
        "levels": log.levels,
        "tickers": log.tickers,
        "write_amp": log.totals.write_amp,
        "jobs": len(log.jobs),
        "error_lines": log.trouble_lines,
    }


def messages(lines: list[str]) -> Counter[str]:
    """Count the lines without their times: a frame may have its own."""
    return Counter(line[_STAMP:].partition(" ")[2] if line[4:5] == "/" else line for line in lines)


def tried(text: str, own: Inspection, frame: Frame, path: Path) -> dict[str, Any]:
    """Put a LOG into a frame and compare."""
    path.write_bytes(frame(text))
    found = inspect_path(path)
    other = [name for name, value in numbers(own).items() if numbers(found)[name] != value]
    read = messages(list(without_frames(read_lines(path, []))))
    strange = read - messages(text.split("\n"))
    return {
        "result": "no diagnosis" if found.is_refused else "other" if other else "equal",
        "other": other,
        "left_over": round(strange.total() / max(1, read.total()), 4),
    }


def main() -> int:
    """Do what the module says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", type=Path, default=LOGS)
    parser.add_argument("--layered", type=int, default=40)
    arguments = parser.parse_args()
    results, counts = dict[str, Any](), Counter[str]()
    frames = {**FRAMES, **dict(map(layered, range(arguments.layered)))}
    with tempfile.TemporaryDirectory() as folder:
        for log in arguments.logs:
            text, own = gzip.decompress(log.read_bytes()).decode(), inspect_path(log)
            name = str(log.resolve().relative_to(ROOT)) if log in LOGS else log.name
            results[name] = {
                frame: tried(text, own, make, Path(folder, "LOG")) for frame, make in frames.items()
            }
            found = Counter(one["result"] for one in results[name].values())
            print(name, dict(found), flush=True)
            counts += found
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    return int(counts["other"] > 0)


if __name__ == "__main__":
    sys.exit(main())
