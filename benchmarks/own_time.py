"""Compare lsmtune's own CPU time of a study with that of another version, in pairs.

    .venv/bin/python benchmarks/own_time.py SRC [--trials N] [--pairs N]

SRC is the folder `src` of the other version. Each run is a process that tunes the simulator with
random search, so nearly all of its time is lsmtune's own. The sides of a pair take turns. Writes
results/own_time.json after every pair and goes on from there. Prints the CPU time per trial, and
the ratio this version / other version with its 95 % interval. Other programs disturb wall times,
so only CPU times count. Takes about 10 s per pair.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from lsmtune.stats import geometric_mean_interval

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "own_time.json"
_CODE = "import sys\nfrom lsmtune.cli.main import run\nsys.exit(run(sys.argv[1:]))"


def cpu_s(src: Path, trials: int) -> float:
    """Return the CPU seconds of a process that tunes with a version of lsmtune."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-c", _CODE, "tune", "--engine", "simulated", "--num", "20000",
            "--optimizer", "random", "--trials", str(trials), "--pairs", "0", "--no-simplify",
            "--home", folder,
        ]  # fmt: skip
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command, env=os.environ | {"PYTHONPATH": str(src.resolve())}, check=True,
            capture_output=True,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run the pairs that are missing, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("src", type=Path)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=12)
    given = parser.parse_args()
    done = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {"pairs": []}
    done["trials"] = given.trials
    sides = {"this": ROOT / "src", "other": given.src}
    while len(done["pairs"]) < given.pairs:
        order = list(sides)[:: 1 if len(done["pairs"]) % 2 else -1]
        found = {side: cpu_s(sides[side], given.trials) for side in order}
        done["pairs"].append(found)
        RESULTS.write_text(json.dumps(done, indent=1) + "\n")
    ratio = geometric_mean_interval([one["this"] / one["other"] for one in done["pairs"]])
    for side in sides:
        each = sorted(one[side] for one in done["pairs"])
        print(f"{side}: {1000 * each[len(each) // 2] / given.trials:.1f} ms of CPU per trial")
    print(f"this / other: {ratio.median:.3f} ({ratio.low:.3f} to {ratio.high:.3f})")


if __name__ == "__main__":
    main()
