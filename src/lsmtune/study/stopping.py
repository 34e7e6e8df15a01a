"""When a search has found what it will find: a pure function of its history."""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import expected_improvement, fit_process
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.expectation import MOST_TRIALS
from lsmtune.optimizers.judgement import chosen_trials, outcomes
from lsmtune.optimizers.points import CandidateSearch, Points

_DECISIONS = 3
"""So many in a row must expect nothing: a single one may overlook where the gain is."""
_FEWEST, _FEWEST_FRUITLESS, _FRUITLESS_A_KNOB = 12, 20, 2
_DEVIATIONS = 2
"""So many standard deviations is the noise of a value; see `run_noise`."""


def fewest_trials(knobs: int) -> int:
    """Before so many trials a search of so many knobs is not called stable.

    With fewer trials than knobs a model has only seen what is near the advised starts, and knows
    too little of how far the rest may differ.
    """
    return max(_FEWEST, knobs)


def why_to_stop(
    space: KnobSpace,
    history: Sequence[Observation],
    noise: Sequence[float],
    until: int | str,
) -> str | None:
    """Why a search ends with this history, which begins with the base; None while it goes on.

    A number says after how many trials in a row without a gain. Otherwise it ends once it is
    stable: three decisions in a row expect to improve the best by less than one standard
    deviation of a run (as CherryPick, Alipourfard et al. 2017, by less than a tenth), or twice as
    many trials as knobs were without a gain. `noise` is the factor a goal by which the value of
    one run may be off by chance.
    """
    fruitless, knobs = _fruitless(history, noise), len(space.knobs)
    if isinstance(until, int):
        return f"no gain in the last {fruitless} trials" if fruitless >= until else None
    if fruitless >= max(_FEWEST_FRUITLESS, _FRUITLESS_A_KNOB * knobs):
        return f"stable: no gain in the last {fruitless} trials"
    if len(history) - _DECISIONS < fewest_trials(knobs):
        return None
    promises = (
        _promise(space, history[: len(history) - back], noise) for back in range(_DECISIONS)
    )
    gain, deviation = next(promises)
    if gain >= deviation or any(gain >= deviation for gain, deviation in promises):
        return None
    return (
        f"stable: the expected improvement of the objective is {_percent(gain)}, less than the "
        f"standard deviation of one run ({_percent(deviation)})"
    )


def _percent(logarithm: float) -> str:
    return f"{100 * np.expm1(logarithm):.2g} %"


def _fruitless(history: Sequence[Observation], noise: Sequence[float]) -> int:
    """How many trials there were since the last gain.

    A trial gains if it keeps the limits and no earlier gain is as good in every goal, its own
    values made worse by the noise; the base is the first.
    """
    gains: list[tuple[float, ...]] = []
    last = 0
    for place, observation in enumerate(history):
        values = observation.values
        if values is None or observation.cut or (observation.violation or 0.0) > 0:
            continue
        doubtful = [value * factor for value, factor in zip(values, noise, strict=True)]
        if all(any(x < y for x, y in zip(doubtful, gain, strict=True)) for gain in gains):
            gains.append(values)
            last = place
    return len(history) - 1 - last


def _promise(
    space: KnobSpace, history: Sequence[Observation], noise: Sequence[float]
) -> tuple[float, float]:
    """What the best is expected to be improved by, and the deviation of a run, both as logarithms.

    Of several goals and their mean, by which the winner is chosen, the one that promises most.
    """
    configs, values = outcomes(chosen_trials(history, MOST_TRIALS))
    deviations = np.log(noise) / _DEVIATIONS
    if len(deviations) > 1:
        values = np.column_stack([values, values.mean(axis=1)])
        deviations = np.append(deviations, deviations.mean())
    points = Points(space.knobs)
    places, tried = points.places(configs), seen(history)
    rows = points.at(places)

    def gain(column: Floats) -> float:
        process = fit_process(rows, column, points.categorical)
        best = float(process.predict(rows)[0].min())

        def loss(there: Floats) -> Floats:
            return -expected_improvement(best, *process.predict(points.at(there)))

        rng = np.random.default_rng(len(history))
        ranked = places[np.argsort(column, kind="stable")]
        found = CandidateSearch(space, loss, tried, rng).lowest(ranked)
        return 0.0 if found is None else -float(loss(points.places([found]))[0])

    promises = [(gain(c), float(d)) for c, d in zip(values.T, deviations, strict=True)]
    return max(promises, key=lambda promise: promise[0] - promise[1])
