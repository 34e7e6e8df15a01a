"""What does `make tune` find, on a running store and on a filled one?

    .venv/bin/python benchmarks/running_tune.py HOME [--seeds 1,2,3,4] [--accept-noise]

1. Tunes with the settings of `make tune` and each seed. A study takes at most ten minutes.
2. Tunes once with `measure = "filled"`, as lsmtune did before 0.3: a store that is filled and then
   settles.
3. Runs baseline, filled winner and running winner five times each in a running store, side by side,
   with one rate.

Writes benchmarks/results/running_tune.json after each study and each run, and continues there.
Nothing else may run on the machine; with --accept-noise, disturbed runs count.
"""

import argparse
import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from running import RESULTS, bed, rounded

import lsmtune
from lsmtune.store.home import Home
from lsmtune.study.record import read_record

SUMMARY = RESULTS / "running_tune.json"
MAKE_TUNE: dict[str, Any] = {"workload": {"num": 100_000}, "trials": 10}
RUNS = 5
SIDES = ("baseline", "filled", "running")


def tuned(home: Path, study: str, seed: int, **more: Any) -> dict[str, Any]:
    """Tune with a seed; return the claim, what is better and worse, the changes, the time."""
    result = lsmtune.tune(**MAKE_TUNE, seed=seed, home=home, study=study, **more)
    claim = result.claim
    with Home(home, create=False) as opened:
        record = read_record(opened, study)
        winner, runs = record.history.winner(), record.history.runs
        begin, end = (datetime.fromisoformat(run.started_at) for run in (runs[0], runs[-1]))
        took_s = (end - begin).total_seconds() + runs[-1].duration_s
    ratios = {} if claim.verdict is None else claim.verdict.ratios
    return {
        "study": study,
        "seed": seed,
        "minutes": round(took_s / 60, 1),
        "runs": len(runs),
        "claim": claim.status,
        "objective": claim.objective and asdict(claim.objective),
        "ratios": {name: [round(v, 3) for v in (one.median, one.low, one.high)]
                   for name, one in ratios.items()},
        "limits": {} if claim.verdict is None else
                  {str(check.limit): check.state for check in claim.verdict.limits},
        "changes": {change.knob.name: change.best for change in claim.changes},
        "rehearsed": claim.view.rehearsal and claim.view.rehearsal.passed,
        "values": None if winner is None else dict(winner.trial.config),
    }  # fmt: skip


def side_by_side(found: dict[str, Any]) -> None:
    """Run the two winners beside the baseline, one after the other, with one rate."""
    studies = {one["study"]: one for one in found["studies"]}
    winners = {"filled": studies["filled"]["values"], "running": studies["running-1"]["values"]}
    done = found.setdefault("side_by_side", [])
    with bed({"name": "overwrite"}, MAKE_TUNE["workload"]["num"]) as one:
        rate = done[0]["rate"] if done else one.half_rate()
        for run in range(1, RUNS + 1):
            for side in SIDES:
                if any((row["run"], row["side"]) == (run, side) for row in done):
                    continue
                values = winners.get(side) or {}
                config = one.space.canonical({**one.space.default(), **values})
                metrics = rounded(one.run(config, run, one.at(rate)).metrics)
                done.append({"side": side, "run": run, "rate": rate, "metrics": metrics})
                write(found)


def write(found: dict[str, Any]) -> None:
    """Store what is known so far."""
    SUMMARY.write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    """Tune what has no result yet, then compare the winners."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--seeds", default="1,2,3,4")
    parser.add_argument("--accept-noise", action="store_true")
    given = parser.parse_args()
    found = json.loads(SUMMARY.read_text()) if SUMMARY.exists() else {"studies": []}
    found["records"] = MAKE_TUNE["workload"]["num"]
    wanted = [(f"running-{seed}", int(seed), {}) for seed in given.seeds.split(",")]
    wanted.append(("filled", 1, {"measure": "filled"}))
    for study, seed, more in wanted:
        if all(one["study"] != study for one in found["studies"]):
            options = {"accept_noise": given.accept_noise, **more}
            found["studies"].append(tuned(given.home, study, seed, **options))
            write(found)
    side_by_side(found)


if __name__ == "__main__":
    main()
