"""What moving one factor, or two together, does to an outcome."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lsmtune.learning.factors import Design, Factor, Floats
from lsmtune.learning.models import Regressor
from lsmtune.stats import Interval

_BOOTSTRAPS = 200
_MOST_RUNS = 150
"""So many runs stand for all where a model is asked for every pair of groups."""


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The runs of one group of a factor's values: their mean outcome, and what a model expects.

    `modelled` is the mean over all runs if the factor alone were moved there.
    """

    group: str
    runs: int
    mean: Interval
    modelled: float


def main_effect(
    design: Design, place: int, outcome: Floats, fitted: Regressor, seed: int
) -> list[GroupMean]:
    """The means of a factor's groups, with bootstrap intervals (95 %)."""
    factor, rng = design.factors[place], np.random.default_rng(seed)
    means = []
    for group, runs in factor.groups:
        values = outcome[runs]
        if not len(values):
            continue
        drawn = values[rng.integers(len(values), size=(_BOOTSTRAPS, len(values)))].mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        moved = _moved(design, design.matrix, {place: group})
        modelled = float(fitted.predict(moved).mean())
        interval = Interval(float(values.mean()), float(low), float(high))
        means.append(GroupMean(group, int(runs.sum()), interval, modelled))
    return means


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two factors, and how their effects depend on each other.

    `cells` are the modelled means, a row a group of the first, a column a group of the second.
    `strength` is what the sum of both single effects leaves unexplained of the cells' variance.
    """

    first: str
    second: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float, ...], ...]
    strength: float


def interactions(
    design: Design, places: list[int], fitted: Regressor, seed: int
) -> list[Interaction]:
    """The interactions between the factors at these places, the strongest first."""
    rng = np.random.default_rng(seed)
    runs = rng.permutation(len(design.matrix))[:_MOST_RUNS]
    found = [_interaction(design, one, other, fitted, design.matrix[runs])
             for one, other in combinations(places, 2)]  # fmt: skip
    return sorted(found, key=lambda interaction: -interaction.strength)


def _interaction(
    design: Design, one: int, other: int, fitted: Regressor, matrix: Floats
) -> Interaction:
    rows, columns = (_names(design.factors[place]) for place in (one, other))
    moved = [_moved(design, matrix, {one: r, other: c}) for r in rows for c in columns]
    expected = fitted.predict(np.concatenate(moved)).reshape(len(rows), len(columns), -1)
    cells = expected.mean(axis=2)
    centre = cells.mean()
    added = cells.mean(axis=1, keepdims=True) + cells.mean(axis=0, keepdims=True) - centre
    spread = float(((cells - centre) ** 2).sum())
    strength = float(((cells - added) ** 2).sum()) / spread if spread else 0.0
    names = design.factors[one].name, design.factors[other].name
    values = tuple(tuple(float(cell) for cell in row) for row in cells)
    return Interaction(*names, rows, columns, values, strength)


def _names(factor: Factor) -> tuple[str, ...]:
    return tuple(group for group, runs in factor.groups if runs.any())


def _moved(design: Design, matrix: Floats, groups: dict[int, str]) -> Floats:
    """The runs as if each of these factors stood where its group's runs have it on average."""
    moved = matrix.copy()
    for place, group in groups.items():
        factor, span = design.factors[place], design.spans[place]
        members = next(runs for name, runs in factor.groups if name == group)
        moved[:, span] = np.median(factor.columns[members], axis=0)
    return moved
