"""Verify the baseline against itself 200 times, with recorded runs of the baseline.

    .venv/bin/python benchmarks/null_verifications.py

Each verification draws pairs at random from the runs in benchmarks/results/base_noise.json, so it
takes no engine. Writes how many verifications claim a gain, and how many break a default
constraint, to benchmarks/results/null_verifications.json. At most 5 % of them should do either. The
recorded runs have no counted reads; read_counts.py verifies with runs that have them.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from opened import open_study

from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import complete_trials
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.verify import verify_trial
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, TrialResult, TrialSpec
from lsmtune.verdict import Verdict

RESULTS = Path(__file__).parent / "results"
PAIRS = [pair for group in json.loads((RESULTS / "base_noise.json").read_text()) for pair in group]
VERIFICATIONS = 200


class Replay:
    """Answers each pair of runs with a recorded pair of baseline runs, in random order."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._runs: list[dict[str, float]] = []

    def __call__(self, spec: TrialSpec) -> TrialResult:
        if not self._runs:
            pair = PAIRS[int(self._rng.integers(len(PAIRS)))]
            self._runs = [pair[i] for i in self._rng.permutation(2)]
        return measured(**{**self._runs.pop(), "others_cpu_percent": 0.0})


def verify_baseline(folder: Path, seed: int) -> Verdict:
    """Verify the baseline against itself."""
    spec = StudySettings(study="null", seed=seed, base_runs=2)
    engine = ScriptedEngine(Replay(seed))
    with (
        Home(folder, create=True) as home,
        open_study(home, spec, engine) as study,
    ):
        measure_baseline(study)
        trial = complete_trials(study.trials(), Role.BASE)[0]
        return verify_trial(study, trial, spec.scale, spec.workload)


def broken(verdict: Verdict) -> list[str]:
    """Return the constraints that a verification breaks."""
    return [str(check.limit) for check in verdict.limits if check.state == "broken"]


def main() -> None:
    """Run the verifications and write the counts."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts = [verify_baseline(Path(folder, str(n)), n) for n in range(1, VERIFICATIONS + 1)]
    document = {
        "verifications": len(verdicts),
        "claims_of_gain": sum(verdict.claim == "gain" for verdict in verdicts),
        "with_a_broken_constraint": sum(bool(broken(verdict)) for verdict in verdicts),
        "broken": sorted(name for verdict in verdicts for name in broken(verdict)),
        "mean_pairs": float(np.mean([verdict.pairs for verdict in verdicts])),
    }
    (RESULTS / "null_verifications.json").write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
