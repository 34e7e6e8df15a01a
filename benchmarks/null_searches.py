"""Search 200 times where no option has any effect: how often is a gain claimed?

    .venv/bin/python benchmarks/null_searches.py

Every run, of the baseline and of every config, is one of the 40 runs of the baseline that
read_counts.py has measured with the same workload, drawn at random. So every gain that is claimed
is false; at most 5 % of the searches should claim one. Takes no engine. Writes
benchmarks/results/null_searches.json.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from opened import open_study
from read_counts import LOADS, RECORDS, runs, spec_of

from lsmtune.analysis.claim import GAINS, claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.objective import Metrics
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.study.simplify import simplify_new_winner
from lsmtune.study.verify import verify_contenders
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec

RESULTS = Path(__file__).parent / "results" / "null_searches.json"
SEARCHES = 200


class Drawn:
    """Answers each run with a stored run of the baseline."""

    def __init__(self, stored: Sequence[Metrics], seed: int) -> None:
        self._stored = stored
        self._rng = np.random.default_rng(seed)

    def __call__(self, spec: TrialSpec) -> TrialResult:
        """Return the next run."""
        run = self._stored[int(self._rng.integers(len(self._stored)))]
        return measured(**{**run, "others_cpu_percent": 0.0})


def search(load: str, seed: int, folder: Path) -> dict[str, Any]:
    """Search and verify as `tune` does; return what is claimed."""
    spec = spec_of(load, RECORDS, study="null", optimizer="random", seed=seed)
    engine = ScriptedEngine(Drawn(runs(load, RECORDS), seed))
    with Home(folder, create=True) as home:
        with open_study(home, spec, engine) as study:
            run_search(study)
            simplify_new_winner(study)
            verify_contenders(study)
            sure = bool(study.history.ranked)
            contenders = len(home.verifications(study.stored))
        claim = claim_of(read_study(home, spec.name))
    return {"load": load, "status": claim.status, "sure": sure, "verified": contenders}


def summary(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how many searches claim a gain, and how many had a finalist that was sure."""
    return {
        "searches": len(found),
        "claims_of_gain": sum(one["status"] in GAINS for one in found),
        "without_a_sure_finalist": sum(not one["sure"] for one in found),
        "claims_of_gain_without_a_sure_finalist": sum(
            one["status"] in GAINS and not one["sure"] for one in found
        ),
        "mean_verifications": float(np.mean([one["verified"] for one in found])),
    }


def main() -> None:
    """Run the searches and write the counts."""
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        found = [
            search(LOADS[seed % len(LOADS)], seed + 1, Path(folder, str(seed)))
            for seed in range(SEARCHES)
        ]
    document = {**summary(found), "found": found}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(summary(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
