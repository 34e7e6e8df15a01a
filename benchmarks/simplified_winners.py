"""Search, simplify and verify: how many changes are left, and which share of the gain they keep.

    .venv/bin/python benchmarks/simplified_winners.py HOME [RECORDS]

Three workloads with two seeds each, 16 trials: random writes, random overwrites, and half gets and
half puts. An interrupted call continues; the results are written after every search. With 100,000
records (the default) it takes about 30 minutes on two cores. Nothing else may run on the machine.
Writes benchmarks/results/simplified_winners.json.
"""

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home
from lsmtune.trials import Role

RESULTS = Path(__file__).parent / "results" / "simplified_winners.json"
RECORDS = 100_000
LOADS = {
    "fillrandom": 'name = "fillrandom"',
    "overwrite": 'name = "overwrite"',
    "mix": 'name = "mix"\nmix = { get = 0.5, put = 0.5 }',
}
SEEDS = (1, 2)
STUDY = """study = "{name}"
trials = 16
seed = {seed}

[workload]
num = {records}
{load}
"""


def search(home: Path, load: str, seed: int, records: int) -> dict[str, Any]:
    """Run or continue a study; return its result and what its simplification needed."""
    name = f"{load}-{seed}"
    file = home / f"{name}.toml"
    home.mkdir(exist_ok=True)
    file.write_text(STUDY.format(name=name, seed=seed, records=records, load=LOADS[load]))
    if run(["tune", str(file), "--home", str(home / "home")]) != 0:
        sys.exit(f"study {name} failed")
    with Home(home / "home", create=False) as opened:
        view = read_study(opened, name)
        document = show_document(view)
    roles = (Role.SIMPLIFY, Role.VERIFY_RAW)
    extra = [trial for trial in view.measured if trial.role in roles]
    claim = claim_of(view)
    raw = view.simplification and next(
        t for t in view.trials if t.number == view.simplification.raw
    )
    return {
        "study": name,
        "status": claim.status,
        "objective": document["claim"]["objective"],
        "changes": len(view.changes),
        "raw_changes": None if raw is None else len(raw.changes),
        "simplified": document["claim"]["simplified"],
        "more_runs": len(extra),
        "more_seconds": round(sum(trial.duration_s for trial in extra), 1),
    }


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians over the searches that were simplified."""
    done = [one for one in found if one["simplified"] is not None]
    kept = [one["simplified"]["kept_gain"] for one in done if one["simplified"]["kept_gain"]]
    return {
        "searches": len(found),
        "simplified": len(done),
        "median_changes": median([one["changes"] for one in done]) if done else None,
        "median_raw_changes": median([one["raw_changes"] for one in done]) if done else None,
        "median_kept_gain": median([one["median"] for one in kept]) if kept else None,
        "most_more_runs": max((one["more_runs"] for one in done), default=None),
    }


def main() -> None:
    """Run the searches; write the results after each."""
    home = Path(sys.argv[1])
    records = int(sys.argv[2]) if sys.argv[2:] else RECORDS
    found: list[dict[str, Any]] = []
    for seed in SEEDS:
        for load in LOADS:
            found.append(search(home, load, seed, records))
            document = {"records": records, "summary": summary(found), "found": found}
            RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(summary(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
