"""What is expected of configs, from the runs of this study and perhaps of an earlier one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import GaussianProcess, fit_process
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.earlier import Earlier
from lsmtune.optimizers.outcomes import outcomes
from lsmtune.optimizers.points import Points

_HERE, _BEFORE = 0.0, 1.0
_USUAL_SCALE = 1.5
"""The length scale that is expected between two studies: they are thought fairly alike, but the
first few runs may say otherwise, which those of a knob could not."""
_ALIKE = 0.5
"""A study that tells less of this one, from 0 to 1, is left aside."""
_MOST_BEFORE = 100
"""So many runs of an earlier study count: a process takes the cube of all."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A process a goal, of the logarithm of its value, anywhere in the unit cube.

    `places` (n, knobs) and `values` (n, goals) are what was measured here.
    """

    places: Floats
    values: Floats
    _points: Points
    _processes: tuple[GaussianProcess, ...]
    _is_joint: bool

    def predict(self, places: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation at each of the places: (n, goals)."""
        rows = self._points.at(places)
        if self._is_joint:
            rows = _of_study(rows, _HERE)
        told = [process.predict(rows) for process in self._processes]
        return np.column_stack([m for m, _ in told]), np.column_stack([sd for _, sd in told])

    @property
    def is_alike(self) -> bool:
        """Whether the earlier study tells of this one, for each goal; True where there is none."""
        return not self._is_joint or all(p.likeness(-1) >= _ALIKE for p in self._processes)


def expectation(
    space: KnobSpace, history: Sequence[Observation], earlier: Earlier | None = None
) -> Expectation | None:
    """What the history leads to expect; None if nothing has values.

    The runs of an earlier study stand beside it, told apart by a category of their own: its length
    scale says how alike the loads are. It is found as all others are, by what explains the runs, so
    that a study which misleads soon counts for nothing.

    What is far from everything is thought as bad as the worst so far: most configs are worse than
    the base and what is advised, near which a search begins; with the mean of those for a prior it
    would spend its first dozen trials in the corners of the space.
    """
    configs, values = outcomes(history)
    if not configs:
        return None
    points = Points(space.knobs)
    places = points.places(configs)
    rows, told, categorical = points.at(places), values, points.categorical
    if earlier is not None:
        before, known = _before(points, earlier)
        rows = np.vstack([_of_study(rows, _HERE), _of_study(before, _BEFORE)])
        told, categorical = np.vstack([values, known]), np.append(categorical, True)
    usual = {} if earlier is None else {rows.shape[1] - 1: _USUAL_SCALE}
    processes = tuple(
        fit_process(rows, column, categorical, float(column.max()), usual) for column in told.T
    )
    return Expectation(places, values, points, processes, earlier is not None)


def _before(points: Points, earlier: Earlier) -> tuple[Floats, Floats]:
    """The best runs of the earlier study and random others, as rows with their values."""
    configs, values = outcomes(earlier.observations)
    order = np.argsort(values.mean(axis=1), kind="stable")
    drawn = np.random.default_rng(len(order)).permutation(order)
    kept = np.union1d(order[: _MOST_BEFORE // 2], drawn[: _MOST_BEFORE // 2])
    return points.matrix([configs[at] for at in kept]), values[kept]


def _of_study(rows: Floats, study: float) -> Floats:
    return np.column_stack([rows, np.full(len(rows), study)])
