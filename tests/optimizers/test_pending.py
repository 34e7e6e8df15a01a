"""Pending runs are avoided, and nothing is learnt from them."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import fit_process
from lsmtune.optimizers.base import Earlier, Observation, ended, pending_configs, seen, with_pending
from lsmtune.optimizers.expectation import Before, Expectation, corrected, expectation, joined
from lsmtune.optimizers.judgement import incumbent, ranking
from lsmtune.optimizers.opening import ENOUGH, opening
from lsmtune.optimizers.points import Points
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.testing.landscapes import (
    make_space,
    random_history,
    shared_history,
    shared_space,
    smooth,
)

SPACE = shared_space()
HISTORY = shared_history(smooth, 12)
PENDING = [observation.config for observation in shared_history(smooth, 18, seed=2)[-3:]]


def test_pending_runs_are_at_the_end_sorted_by_hash_without_values() -> None:
    known = with_pending(HISTORY, PENDING)
    assert known[: len(HISTORY)] == HISTORY
    added = known[len(HISTORY) :]
    assert [o.config for o in added] == sorted(PENDING, key=lambda config: config.hash)
    assert all(o.pending and o.values is None and not o.is_measured for o in added)


def test_a_pending_run_that_has_ended_or_is_named_twice_is_added_once() -> None:
    known = with_pending(HISTORY, [PENDING[0], HISTORY[3].config, PENDING[0]])
    assert pending_configs(known) == PENDING[:1]
    assert ended(known) == HISTORY


def test_a_pending_run_is_never_the_best_and_ranks_last() -> None:
    failed = Observation(SPACE.sample(np.random.default_rng(3)), None, None)
    known = with_pending([*HISTORY, failed], PENDING)
    assert incumbent(known, np.random.default_rng(1)) not in PENDING
    assert set(ranking(known)[-len(PENDING) :]) == set(range(len(HISTORY) + 1, len(known)))


def test_the_opening_ends_when_enough_runs_have_ended() -> None:
    rng = np.random.default_rng(1)
    known = with_pending(HISTORY[:ENOUGH], PENDING)
    assert opening(SPACE, known, rng, 1) is not None
    assert opening(SPACE, with_pending(HISTORY, PENDING), rng, 1) is None


class Foretold:
    """A simulator that thinks of each config something else."""

    def __call__(self, configs: Sequence[Config]) -> Floats:
        return np.array([[int(config.hash, 16) % 1000 / 1000 - 0.5] for config in configs])


def expectations(history: Sequence[Observation]) -> Iterator[Expectation | None]:
    before: Before = Foretold()
    yield expectation(SPACE, history)
    yield corrected(SPACE, history[:3] + [o for o in history if o.pending], before)
    yield joined(SPACE, history, Earlier("before", tuple(shared_history(smooth, 20, seed=4))))


def test_models_keep_their_means_and_are_surer_near_pending_runs() -> None:
    places = Points(SPACE.knobs).places([*PENDING, *(o.config for o in HISTORY)])
    pairs = zip(expectations(HISTORY), expectations(with_pending(HISTORY, PENDING)), strict=True)
    for without, having in pairs:
        assert without is not None
        assert having is not None
        assert without.is_known_before == having.is_known_before
        mean, deviation = without.predict(places)
        believed, surer = having.predict(places)
        np.testing.assert_allclose(believed, mean, atol=1e-9)
        assert np.all(surer <= deviation + 1e-6)
        assert np.all(surer[: len(PENDING)] < 0.95 * deviation[: len(PENDING)])


def test_a_process_that_believes_its_mean_is_the_one_with_that_outcome() -> None:
    rng = np.random.default_rng(1)
    points, new, elsewhere = rng.random((12, 3)), rng.random((2, 3)), rng.random((20, 3))
    categorical = np.zeros(3, dtype=bool)
    process = fit_process(points, np.sin(4 * points).sum(axis=1), categorical)
    believing = process.believing(new)
    mean, deviation = process.predict(elsewhere)
    for at, (expected, surer) in enumerate(zip(*believing.predict(elsewhere), strict=True)):
        assert expected == pytest.approx(mean[at])
        assert surer <= deviation[at] + 1e-9
    again = process.believing(new[:1]).believing(new[1:])
    np.testing.assert_allclose(again.predict(elsewhere)[1], believing.predict(elsewhere)[1])


@pytest.mark.parametrize("name", ["gp-ucb", "tpe"])
def test_hosts_of_a_warm_start_get_different_configs_in_any_order(name: str) -> None:
    optimizer = make_optimizer(name, [Earlier("before", tuple(shared_history(smooth, 20, seed=4)))])
    for count in (0, 12):
        history = shared_history(smooth, count)
        pending: list[Config] = []
        for _ in range(4):
            known = with_pending(history, pending)
            pending.append(optimizer.ask(SPACE, known, 1))
            assert optimizer.ask(SPACE, with_pending(history, pending[-2::-1]), 1) == pending[-1]
        assert len(seen(with_pending(history, pending))) == count + 5


@pytest.mark.parametrize("name", ["genetic", "nsga2"])
def test_evolution_selects_no_pending_run(name: str) -> None:
    """Other pending runs, of the same number, change nothing."""
    space = make_space("write_buffer_size,block_size,cache_size,bloom_bits", memory=4)
    history = random_history(space, 24, smooth(space))
    optimizer = make_optimizer(name)
    for seed in range(1, 6):
        rngs = (np.random.default_rng(100 * seed + n) for n in (1, 2))
        runs = (with_pending(history, [space.sample(rng) for _ in range(8)]) for rng in rngs)
        found = {(len(known), optimizer.ask(space, known, seed)) for known in runs}
        assert len(found) == 1
