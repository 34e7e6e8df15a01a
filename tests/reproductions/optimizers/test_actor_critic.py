"""The actor learns what its critic has seen rewarded."""

import numpy as np

from lsmtune_reproductions.optimizers.cdbtune import Steps, train


def steps(seed: int = 1, count: int = 80) -> Steps:
    """Rewarded is an action near 0.8 in its first place where the state is high, else near 0.2."""
    rng = np.random.default_rng(seed)
    states = np.sign(rng.normal(size=(count + 1, 1)))
    actions = rng.random((count, 2))
    goal = 0.5 + 0.3 * states[:-1, 0]
    rewards = -((actions[:, 0] - goal) ** 2)
    return Steps(states[:-1], actions, rewards / rewards.std(), states[1:])


def test_the_actor_does_in_each_state_what_was_rewarded_there() -> None:
    for seed in range(1, 6):
        actor = train(steps(seed), [seed])
        high, low = actor.act(np.array([1.0]))[0], actor.act(np.array([-1.0]))[0]
        assert high > 0.5 > low


def test_the_same_seed_teaches_the_same() -> None:
    state = np.array([1.0])
    first = train(steps(), [3]).act(state)
    assert np.array_equal(first, train(steps(), [3]).act(state))
    assert not np.array_equal(first, train(steps(), [4]).act(state))


def test_without_any_metric_it_still_learns_what_is_rewarded() -> None:
    told = steps()
    rewards = told.actions[:, 1] / told.actions[:, 1].std()
    nothing = told.states[:, :0]
    actor = train(Steps(nothing, told.actions, rewards, nothing), [1])
    assert actor.act(np.empty(0))[1] > 0.5
