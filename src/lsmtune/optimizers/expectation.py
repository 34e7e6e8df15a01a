"""What is expected of configs, from the runs of this study and from what was known before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import GaussianProcess, Prior, fit_process
from lsmtune.optimizers.base import Earlier, Observation, ended, pending_configs
from lsmtune.optimizers.judgement import chosen_trials, drawn_in, measured, outcomes
from lsmtune.optimizers.points import Points

Before = Callable[[Sequence[Config]], Floats]
"""What was expected of configs before any ran here: logarithms of values (n, goals), the base's
about 0."""

_LEAST_SPREAD = 0.1
"""Values are thought to differ by so much, in logarithms, until there are enough to tell."""
_MISLED, _ENOUGH = log(3), 3
"""What was known before is left aside once the runs of so many configs are so much more probable
without it."""
_HERE, _EARLIER = 0.0, 1.0
_USUAL_SCALE = 1.5
"""The length scale that is expected between two studies: they are thought fairly alike, but the
first few runs may say otherwise, which those of a knob could not."""
_ALIKE = 0.5
"""A study that tells less of this one, from 0 to 1, is left aside."""
MOST_TRIALS = 250
"""A process learns from so many trials: it takes the cube of them."""
_MOST_EARLIER = 100
"""So many runs of an earlier study count: a process takes the cube of all."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A process a goal, of the logarithm of its value, anywhere in the unit cube.

    `configs`, their `places` (n, knobs) and `values` (n, goals) are what was measured here. Whether
    something `is_known_before` says if the processes lean on more than that.
    """

    configs: Sequence[Config]
    places: Floats
    values: Floats
    is_known_before: bool
    _measured: Floats
    _points: Points
    _processes: tuple[GaussianProcess, ...]
    _is_joined: bool = False

    def predict(self, places: Floats, before: Floats | None = None) -> tuple[Floats, Floats]:
        """Mean and standard deviation at each of the places: (n, goals).

        `before` (n, goals) is what was expected there before, where that is corrected.
        """
        rows = self._rows(places)
        told = [process.predict(rows) for process in self._processes]
        mean, deviation = (np.column_stack(columns) for columns in zip(*told, strict=True))
        if before is not None:
            mean += drawn_in(before, self._measured)
        return mean, deviation

    def _rows(self, places: Floats) -> Floats:
        """The rows of the processes at the places."""
        rows = self._points.at(places)
        return _of_study(rows, _HERE) if self._is_joined else rows

    def differences(self, configs: Sequence[Config], reference: Config) -> tuple[Floats, Floats]:
        """Mean and deviation of each config's value minus that of the reference: (n,).

        Of several goals, those of the first.
        """
        rows = self._points.matrix([*configs, reference])
        return self._processes[0].differences(rows[:-1], rows[-1:])

    @property
    def probability(self) -> float:
        """The logarithm of how probable each run here is, given all others: the sum over them."""
        return float(sum(p.left_out[: len(self.values)].sum() for p in self._processes))


def expectation(space: KnobSpace, history: Sequence[Observation]) -> Expectation | None:
    """What the history alone leads to expect; None if nothing has values.

    What is far from everything is thought as bad as the worst so far: most configs are worse than
    the base and what is advised, near which a search begins; with the mean of those for a prior it
    would spend its first dozen trials in the corners of the space.
    """
    alone = _alone(space, history)
    return None if alone is None else _believing(alone, history)


def _alone(space: KnobSpace, history: Sequence[Observation]) -> Expectation | None:
    """What the ended runs of the history lead to expect."""
    configs, as_measured = measured(chosen_trials(ended(history), MOST_TRIALS))
    if not configs:
        return None
    values, points = drawn_in(as_measured, as_measured), Points(space.knobs)
    places = points.places(configs)
    rows = points.at(places)
    processes = tuple(
        fit_process(rows, column, points.categorical, Prior(float(column.max()), _LEAST_SPREAD))
        for column in values.T
    )
    return Expectation(configs, places, values, False, as_measured, points, processes)


def corrected(
    space: KnobSpace, history: Sequence[Observation], before: Before
) -> Expectation | None:
    """What was known before, corrected by the runs: they say where it is wrong, and by how much.

    Far from all of them it is thought as wrong as it is on average. It counts while the runs are
    foretold about as well with it as without.
    """
    alone = _alone(space, history)
    if alone is None:
        return None
    beyond = alone.values - drawn_in(before(alone.configs), alone._measured)
    rows, points = alone._points.at(alone.places), alone._points
    processes = tuple(
        fit_process(rows, column, points.categorical, Prior(None, _LEAST_SPREAD))
        for column in beyond.T
    )
    known = replace(alone, is_known_before=True, _processes=processes)
    return _believing(_more_probable(alone, known), history)


def joined(
    space: KnobSpace, history: Sequence[Observation], earlier: Earlier
) -> Expectation | None:
    """What the history and the runs of an earlier study lead to expect.

    They stand beside each other, told apart by a category of their own: its length scale says how
    alike the loads are, found as all others are, by what explains the runs. The study counts while
    the loads are alike, and the runs here are foretold about as well with it as without: next to
    one under which nothing matters, all of them look like noise.
    """
    alone = _alone(space, history)
    if alone is None:
        return None
    points = alone._points
    before, known = _earlier(points, earlier)
    rows = np.vstack([_of_study(points.at(alone.places), _HERE), _of_study(before, _EARLIER)])
    categorical, usual = np.append(points.categorical, True), {rows.shape[1] - 1: _USUAL_SCALE}
    processes = tuple(
        fit_process(rows, column, categorical, Prior(float(column.max()), _LEAST_SPREAD, usual))
        for column in np.vstack([alone.values, known]).T
    )
    if any(process.likeness(-1) < _ALIKE for process in processes):
        return _believing(alone, history)
    together = replace(alone, is_known_before=True, _processes=processes, _is_joined=True)
    return _believing(_more_probable(alone, together), history)


def _believing(expected: Expectation, history: Sequence[Observation]) -> Expectation:
    """The expectation if each pending run results in what is expected of it.

    Means stay the same: only what is uncertain changes.
    """
    configs = pending_configs(history)
    if not configs:
        return expected
    rows = expected._rows(expected._points.places(configs))
    processes = tuple(process.believing(rows) for process in expected._processes)
    return replace(expected, _processes=processes)


def _more_probable(alone: Expectation, known: Expectation) -> Expectation:
    tried = len(np.unique(alone.places, axis=0))
    misled = tried >= _ENOUGH and alone.probability > known.probability + _MISLED
    return alone if misled else known


def _earlier(points: Points, earlier: Earlier) -> tuple[Floats, Floats]:
    """The best runs of the earlier study and random others, as rows with their values."""
    configs, values = outcomes(earlier.observations)
    order = np.argsort(values.mean(axis=1), kind="stable")
    drawn = np.random.default_rng(len(order)).permutation(order)
    kept = np.union1d(order[: _MOST_EARLIER // 2], drawn[: _MOST_EARLIER // 2])
    return points.matrix([configs[at] for at in kept]), values[kept]


def _of_study(rows: Floats, study: float) -> Floats:
    return np.column_stack([rows, np.full(len(rows), study)])
