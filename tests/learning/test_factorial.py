"""Planted effects of factors are found, blocks are taken out, idle factors do nothing."""

from itertools import product

import numpy as np
import pytest

from lsmtune.learning.factorial import fit_factorial

CELLS = np.array([cell for _ in range(4) for cell in product(range(3), range(2), range(2))])
BLOCKS = [block for block in range(4) for _ in range(12)]


def outcome(seed: int, joint: float = 1.0, noise: float = 0.03) -> np.ndarray:
    """Factor 0 halves and quarters it, factor 1 is idle, factor 2 adds a tenth; blocks drift."""
    rng = np.random.default_rng(seed)
    effect = 10 * 0.5 ** CELLS[:, 0] * 1.1 ** CELLS[:, 2] * (1 + 0.2 * np.array(BLOCKS))
    effect *= joint ** (CELLS[:, 0] * CELLS[:, 2])
    return effect * np.exp(noise * rng.standard_normal(len(CELLS)))


@pytest.mark.slow
def test_planted_ratios_lie_in_their_intervals() -> None:
    found = [fit_factorial(CELLS, BLOCKS, outcome(seed)) for seed in range(24)]
    changes = [fit.factors[0].contrasts[1].change for fit in found]
    assert sum(change.low <= 0.25 <= change.high for change in changes) >= 21
    assert all(fit.relative for fit in found)
    assert all(fit.factors[0].p < 1e-6 for fit in found)
    assert all(fit.factors[2].p < 0.01 for fit in found)
    assert sum(fit.factors[1].p < 0.05 for fit in found) <= 3


@pytest.mark.slow
def test_planted_ratios_lie_in_their_intervals_on_hosts_of_different_speed() -> None:
    held, idle = 0, 0
    for seed in range(24):
        hosts = np.random.default_rng([seed, 1]).integers(3, size=len(CELLS))
        slowed = outcome(seed) * np.array([1.0, 1.5, 2.5])[hosts]
        fit = fit_factorial(CELLS, BLOCKS, slowed, [f"host-{host}" for host in hosts])
        change = fit.factors[0].contrasts[1].change
        held += change.low <= 0.25 <= change.high
        idle += fit.factors[1].p < 0.05
        assert fit.hosts is not None
        assert fit.hosts.p < 1e-6
    assert held >= 21
    assert idle <= 3


def test_equal_hosts_explain_nothing() -> None:
    hosts = [f"host-{place % 5 % 2}" for place in range(len(CELLS))]
    fit = fit_factorial(CELLS, BLOCKS, outcome(1), hosts)
    assert fit.hosts is not None
    assert fit.hosts.p > 0.01
    assert fit.hosts.eta_squared < 0.01


def test_shares_of_the_variance_follow_the_strength() -> None:
    first, idle, tenth = fit_factorial(CELLS, BLOCKS, outcome(1)).factors
    assert first.eta_squared > tenth.eta_squared > idle.eta_squared


def test_what_two_factors_do_together_is_told_from_what_each_does() -> None:
    alone, together = (fit_factorial(CELLS, BLOCKS, outcome(1, joint)) for joint in (1.0, 1.3))
    assert {(pair.first, pair.second) for pair in together.pairs} == {(0, 1), (0, 2), (1, 2)}
    joint = {(pair.first, pair.second): pair.p for pair in together.pairs}
    assert joint[0, 2] < 1e-4
    assert joint[0, 1] > 0.01
    assert all(pair.p > 0.001 for pair in alone.pairs)


def test_outcomes_that_are_not_all_positive_are_compared_by_differences() -> None:
    values = outcome(1)
    values[CELLS[:, 0] == 2] = 0.0
    fit = fit_factorial(CELLS, BLOCKS, values)
    assert not fit.relative
    assert fit.factors[0].contrasts[1].change.median < 0


def test_an_outcome_that_never_changes_has_no_effects() -> None:
    fit = fit_factorial(CELLS, BLOCKS, np.ones(len(CELLS)))
    assert all(effect.p == 1.0 for effect in fit.factors)


def test_levels_without_runs_are_not_mistaken_for_others() -> None:
    kept = CELLS[:, 0] != 0
    fit = fit_factorial(CELLS[kept], np.array(BLOCKS)[kept].tolist(), outcome(1)[kept])
    first = fit.factors[0]
    assert first.reference == 1
    assert [contrast.level for contrast in first.contrasts] == [2]
    one = CELLS[:, 0] == 1
    lone = fit_factorial(CELLS[one], np.array(BLOCKS)[one].tolist(), outcome(1)[one]).factors[0]
    assert (lone.p, lone.contrasts) == (1.0, ())


def test_factors_that_move_together_are_not_told_apart() -> None:
    both = CELLS[:, [2, 2]]
    fit = fit_factorial(both, BLOCKS, outcome(1))
    assert all(effect.contrasts == () for effect in fit.factors)


def test_a_cell_without_runs_leaves_no_number_that_is_none() -> None:
    square = CELLS[:, 1:]
    kept = ~((square[:, 0] == 1) & (square[:, 1] == 1))
    fit = fit_factorial(square[kept], np.array(BLOCKS)[kept].tolist(), outcome(1)[kept])
    assert fit.pairs == ()
    assert all(np.isfinite(effect.p) for effect in fit.factors)


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        fit_factorial(CELLS[:3], BLOCKS[:3], outcome(1)[:3])
