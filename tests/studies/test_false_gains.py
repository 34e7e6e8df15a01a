"""Base against base, replayed from recorded runs: hardly ever may a gain be claimed."""

import json
from pathlib import Path

import numpy as np
import pytest

from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.store.records import complete_trials
from lsmtune.studies.study import open_study
from lsmtune.studies.verify import verify_trial
from lsmtune.trials import Role, TrialResult, TrialSpec

NOISE = Path(__file__).parents[2] / "benchmarks" / "results" / "base_noise.json"
REPLAYS = 60
PAIRS = [pair for group in json.loads(NOISE.read_text()) for pair in group]


class Replay:
    """Answers each pair with a recorded pair of base runs, in either order."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._runs: list[dict[str, float]] = []

    def __call__(self, spec: TrialSpec) -> TrialResult:
        if not self._runs:
            pair = PAIRS[int(self._rng.integers(len(PAIRS)))]
            self._runs = [pair[i] for i in self._rng.permutation(2)]
        return measured(**{**self._runs.pop(), "others_cpu_percent": 0.0})


def claim(folder: Path, seed: int) -> str:
    spec = StudySpec(study="null", seed=seed, base_runs=2)
    engine = ScriptedEngine(Replay(seed))
    with (
        Home(folder, create=True) as home,
        open_study(home, spec, engine, lambda event: None) as study,
    ):
        study.measure_base()
        trial = complete_trials(study.trials(), Role.BASE)[0]
        return verify_trial(study, trial, spec.scale, spec.workload).claim


@pytest.mark.usefixtures("own_host")
def test_at_most_five_percent_claim_a_gain(tmp_path: Path) -> None:
    claims = [claim(tmp_path / str(seed), seed) for seed in range(1, REPLAYS + 1)]
    assert claims.count("gain") <= 0.05 * REPLAYS
