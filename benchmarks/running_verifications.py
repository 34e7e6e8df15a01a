"""Verify the baseline of a running store against itself, with recorded runs of the baseline.

    .venv/bin/python benchmarks/running_verifications.py [RUNS]

RUNS has one line of JSON per recorded run, with `workload`, `run` and `metrics`; without it,
benchmarks/results/running_noise.jsonl. Each verification draws pairs of runs of one workload at
random, so it takes no engine, and judges them as a study of that workload does: six pairs, and at
most twelve while a limit that forbids a gain is undecided or the objective is not precise. Writes
to benchmarks/results/running_verifications.json, per workload: the share of verifications that
claim a gain (at most 5 % should), the share of default limits that the pairs decide, and the share
of verifications in which they decide all, both after the last pair and after twelve pairs.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from running import WORKLOADS

from lsmtune.objective import Metrics, Objective, median_metrics
from lsmtune.spec import MIN_PAIRS, StudySettings
from lsmtune.study.verify import PRECISE
from lsmtune.verdict import Pair, Verdict, judge

RESULTS = Path(__file__).parent / "results"
VERIFICATIONS = 400
MOST_PAIRS = 12


def objective_of(workload: str, runs: Sequence[Metrics]) -> Objective:
    """Return the objective of a running study of the workload of `WORKLOADS` with this baseline."""
    spec = StudySettings.model_validate(
        {"workload": WORKLOADS[workload], "rocksdb": "11.8.1", "measure": "running"}
    )
    asked = replace(spec.parsed_objective, most_pairs=MOST_PAIRS)
    return asked.without(asked.blurred(median_metrics(runs)))


def verdicts_of(
    runs: Sequence[Metrics], objective: Objective, rng: np.random.Generator
) -> tuple[Verdict, Verdict]:
    """Return the verdict after the last pair of a verification, and that after twelve pairs."""
    drawn = [rng.choice(len(runs), 2, replace=False) for _ in range(MOST_PAIRS)]
    pairs: list[Pair] = [(runs[best], runs[base]) for best, base in drawn]
    for count in range(MIN_PAIRS, MOST_PAIRS + 1):
        found = judge(pairs[:count], objective)
        if found.half_width <= PRECISE and not found.waits_for_constraints:
            break
    return found, judge(pairs, objective)


def summary(runs: Sequence[Metrics], objective: Objective, seed: int = 1) -> dict[str, Any]:
    """Return what verifications of the baseline against itself say."""
    rng = np.random.default_rng(seed)
    found = [verdicts_of(runs, objective, rng) for _ in range(VERIFICATIONS)]
    last, twelve = zip(*found, strict=True)
    return {
        "runs": len(runs),
        "verifications": len(found),
        "claims_of_gain": sum(one.claim == "gain" for one in last) / len(last),
        "mean_pairs": fmean(one.pairs for one in last),
        "after_the_last_pair": _decided(last, objective),
        "after_twelve_pairs": _decided(twelve, objective),
    }


def _decided(verdicts: Sequence[Verdict], objective: Objective) -> dict[str, Any]:
    """Return which shares of the default limits are decided."""
    names = [limit.metric for limit in objective.limits]
    defaults = [place for place, limit in enumerate(objective.limits) if limit.default]
    is_decided = [
        [one.limits[place].state in ("kept", "broken") for place in defaults] for one in verdicts
    ]
    by_limit = zip(defaults, zip(*is_decided, strict=True), strict=True)
    return {
        "limits_decided": fmean(map(fmean, is_decided)),
        "all_decided": fmean(map(all, is_decided)),
        "with_a_broken_limit": fmean(
            any(check.state == "broken" for check in one.limits) for one in verdicts
        ),
        "by_limit": {names[place]: fmean(states) for place, states in by_limit},
    }


def main() -> None:
    """Replay the verifications of each workload and write the shares."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS / "running_noise.jsonl"
    by_workload: dict[str, list[Metrics]] = {}
    for line in path.read_text().splitlines():
        run = json.loads(line)
        by_workload.setdefault(run["workload"], []).append(run["metrics"])
    document = {name: summary(runs, objective_of(name, runs)) for name, runs in by_workload.items()}
    (RESULTS / "running_verifications.json").write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
