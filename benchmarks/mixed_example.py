"""The study of README.md with gets, puts and scans: its claim, its ratios and its time.

    .venv/bin/python benchmarks/mixed_example.py HOME [SEED …] [--records N] [--accept-noise]

Runs the study with examples/OPTIONS on RocksDB 11.8.1, once per seed (1, 2 and 3), with a quarter
of its records, or with as many as given. It takes about 30 minutes per seed on two cores, on which
nothing else may run.
With --accept-noise, runs that other programs disturb count at once and are marked. An
interrupted call continues; a seed whose time is known is skipped. Writes
benchmarks/results/mixed_example.json after every seed.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mixed_example.json"
SEEDS = (1, 2, 3)
RECORDS = 50_000
STUDY = """study = "{name}"
base = "{base}"
rocksdb = "11.8.1"
cache = "512MiB"
objective = "balanced"
limits = ["get_p99_us <= 1.1 * base", "throughput_ops_s >= 0.95 * base"]
seed = {seed}

[workload]
name = "mix"
num = {records}
value_size = 1024
mix = {{ get = 0.6, put = 0.3, scan = 0.1 }}
"""


def example(home: Path, seed: int, records: int, flags: list[str]) -> dict[str, Any]:
    """Run or continue the study of a seed; return its claim, ratios and time."""
    name = f"mix-{seed}"
    home.mkdir(exist_ok=True)
    file = home / f"{name}.toml"
    file.write_text(
        STUDY.format(name=name, seed=seed, records=records, base=ROOT / "examples" / "OPTIONS")
    )
    if run(["tune", str(file), "--home", str(home / "home"), *flags]) != 0:
        sys.exit(f"study {name} failed")
    with Home(home / "home", create=False) as opened:
        view = read_study(opened, name)
        document = show_document(view)
        seconds = sum(trial.duration_s for trial in opened.trials(opened.study(name)))
    claim = claim_of(view)
    disturbed = sum(trial.disturbance is not None for trial in view.trials)
    return {
        "seed": seed,
        "records": records,
        "seconds": round(seconds),
        "runs": len(view.trials),
        "disturbed_runs": disturbed,
        "status": claim.status,
        "headline": document["claim"]["headline"],
        "verification": document["verification"],
        "trades": document["claim"]["trades"],
    }


def main() -> None:
    """Run the seeds that have no result yet."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("home", type=Path)
    reader.add_argument("seeds", type=int, nargs="*", default=SEEDS)
    reader.add_argument("--records", type=int, default=RECORDS)
    reader.add_argument("--accept-noise", action="store_true")
    given = reader.parse_args()
    flags = ["--accept-noise"] if given.accept_noise else []
    done = json.loads(RESULTS.read_text())["studies"] if RESULTS.exists() else []
    for seed in given.seeds:
        if any(found["seed"] == seed for found in done):
            continue
        done.append(example(given.home, seed, given.records, flags))
        RESULTS.write_text(json.dumps({"studies": done}, indent=1) + "\n")
    for found in done:
        size, time = f"{found['records']:,} records", f"{found['seconds']} s"
        print(f"{found['seed']}: {size}, {time}, {found['status']}: {found['headline']}")


if __name__ == "__main__":
    main()
