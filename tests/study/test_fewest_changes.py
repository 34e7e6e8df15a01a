"""Which changes are taken back: decided on planted effects, in thousands of replays."""

from collections.abc import Sequence
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsmtune.study.fewest_changes import EFFORT, Effect, Unit, fewest_changes

MOST_RUNS = EFFORT["filled"].most
NOISE = 0.03
ALLOWED = 0.1


class Planted:
    """A winner whose units bring these gains, as logarithms; each run has noise."""

    def __init__(self, gains: Sequence[float], noise: float, seed: int) -> None:
        self.gains = {(str(n),): gain for n, gain in enumerate(gains)}
        self._rng = np.random.default_rng(seed)
        self._noise = noise
        self._runs: dict[tuple[Unit, ...], list[float]] = {(): self._measured((), 4)}

    def lost(self, units: Sequence[Unit]) -> float:
        """The share of the gain that is lost without the units, without noise."""
        return sum(self.gains[unit] for unit in units) / sum(self.gains.values())

    def effects(self, spread: float) -> list[Effect]:
        """Predictions with an error of their own."""
        predicted = {u: g + float(self._rng.normal(0, spread)) for u, g in self.gains.items()}
        return [Effect(u, loss, loss - 1.2816 * spread) for u, loss in predicted.items()]

    def loses(self, units: Sequence[Unit], runs: int) -> bool:
        """Judge as a simplification does, by the mean of the runs."""
        known = self._runs.setdefault(tuple(units), [])
        known += self._measured(units, runs - len(known))
        raw = float(np.mean(self._runs[()]))
        return float(np.mean(known)) - raw > ALLOWED * -raw

    def runs(self) -> int:
        return sum(len(runs) for units, runs in self._runs.items() if units)

    def _measured(self, units: Sequence[Unit], count: int) -> list[float]:
        level = sum(self.gains[unit] for unit in units) - sum(self.gains.values())
        return [float(level + self._rng.normal(0, self._noise)) for _ in range(count)]


def test_units_without_effect_are_taken_back_and_the_others_stay() -> None:
    planted = Planted([0.2, 0.0, 0.0, 0.15, 0.0], 0.0, 1)
    found = fewest_changes(planted.effects(0.01), planted.loses, MOST_RUNS)
    assert sorted(found.taken_back) == [("1",), ("2",), ("4",)]
    assert sorted(unit for unit, _ in found.needed) == [("0",), ("3",)]
    assert all(without[-1] == unit for unit, without in found.needed)


def test_if_all_idle_units_cost_too_much_the_half_with_smaller_losses_is_tried() -> None:
    planted = Planted([0.2, 0.1, 0.0, 0.0], 0.0, 1)
    effects = [Effect(unit, place, -1.0) for place, unit in enumerate(reversed(planted.gains))]
    assert sorted(fewest_changes(effects, planted.loses, MOST_RUNS).taken_back) == [("2",), ("3",)]


def test_small_losses_do_not_add_up() -> None:
    planted = Planted([0.02] * 10, 0.0, 1)
    effects = [Effect(unit, gain, gain / 2) for unit, gain in planted.gains.items()]
    found = fewest_changes(effects, planted.loses, MOST_RUNS)
    assert planted.lost(found.taken_back) == pytest.approx(ALLOWED)


def test_config_that_cannot_run_is_neither_taken_back_nor_needed() -> None:
    planted = Planted([0.2, 0.0], 0.0, 1)
    effects = [Effect(unit, gain, 0.1) for unit, gain in planted.gains.items()]
    found = fewest_changes(effects, lambda units, runs: None, MOST_RUNS)
    assert (found.taken_back, found.needed) == ((), ())


@settings(max_examples=200, deadline=None)
@given(
    gains=st.lists(st.floats(0, 0.2), min_size=2, max_size=17).filter(lambda gains: sum(gains) > 0),
    noise=st.floats(0, 0.1),
    seed=st.integers(0, 10_000),
)
def test_it_never_needs_more_runs_than_allowed(gains: list[float], noise: float, seed: int) -> None:
    planted = Planted(gains, noise, seed)
    found = fewest_changes(planted.effects(0.03), planted.loses, MOST_RUNS)
    assert planted.runs() <= MOST_RUNS
    assert set(found.taken_back).isdisjoint(unit for unit, _ in found.needed)


def test_two_thousand_noisy_replays_keep_the_gain() -> None:
    rng, kept = np.random.default_rng(7), []
    for seed in range(2_000):
        gains = np.zeros(int(rng.integers(8, 18)))
        bringing = int(rng.integers(2, 6))
        gains[:bringing] = rng.dirichlet(np.ones(bringing)) * rng.uniform(0.15, 0.5)
        planted = Planted([float(gain) for gain in gains], NOISE, seed)
        found = fewest_changes(planted.effects(0.1), planted.loses, MOST_RUNS)
        kept.append(1 - planted.lost(found.taken_back))
    assert median(kept) >= 0.85
    assert sum(share < 0.7 for share in kept) <= 0.1 * len(kept)
