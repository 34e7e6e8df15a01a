"""Baseline against baseline, replayed from recorded runs: lsmtune finds hardly any difference."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from null_verifications import broken, verify_baseline

pytestmark = pytest.mark.slow

REPLAYS = 40


@pytest.mark.usefixtures("own_host")
def test_baseline_hardly_ever_gains_or_breaks_a_constraint(tmp_path: Path) -> None:
    verdicts = [verify_baseline(tmp_path / str(seed), seed) for seed in range(1, REPLAYS + 1)]
    assert sum(verdict.claim == "gain" for verdict in verdicts) <= 0.05 * REPLAYS
    assert sum(bool(broken(verdict)) for verdict in verdicts) <= 0.05 * REPLAYS
