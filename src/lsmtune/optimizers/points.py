"""Configs as rows of numbers, for models, and the search for the best bound among such points."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lsmtune.knobs.space import SPECIAL_SHARE, KnobSpace, place_of
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.learning.factors import Floats

_MIDDLE = 0.5


class Points:
    """What configs of these knobs are in numbers.

    As `places` they are points of the unit cube, one coordinate a knob, as `KnobSpace.at` takes
    them. As rows of a `matrix` they are what models learn from: a knob of a range has a column
    with its place from 0 to 1 in its own scale, and so has a list of quantities, such as 4, 8 and
    16 KiB; one of names has a column with the number of its name (0, 1, 2, ...), in no order. A
    knob with special values has two: its place, where a special value stands in the middle, and a
    number that is 0 in the range and else says which of them.
    """

    def __init__(self, knobs: Sequence[Knob]) -> None:
        self.knobs = tuple(knobs)
        columns = [(knob.name, kind) for knob in self.knobs for kind in _kinds(knob)]
        self.names = tuple(name for name, _ in columns)
        """Whose each column is."""
        self.categorical = np.array([kind for _, kind in columns], dtype=bool)
        """Which columns have numbers of names or of special values, instead of places."""

    def places(self, configs: Sequence[Mapping[str, Value]]) -> Floats:
        """The configs as points of the unit cube.

        A value beyond a knob's range stands at its end, an unknown name with the first.
        """
        places = np.empty((len(configs), len(self.knobs)))
        for column, knob in enumerate(self.knobs):
            values = [config[knob.name] for config in configs]
            found = {value: place_of(knob, value) for value in set(values)}
            places[:, column] = [found[value] for value in values]
        return places

    def matrix(self, configs: Sequence[Mapping[str, Value]]) -> Floats:
        """The configs as rows."""
        return self.at(self.places(configs))

    def at(self, places: Floats) -> Floats:
        """The rows of points of the unit cube, rules between knobs left aside."""
        placed = zip(self.knobs, places.T, strict=True)
        return np.column_stack(
            [column for knob, place in placed for column in _columns(knob, place)]
        )


def _kinds(knob: Knob) -> tuple[bool, ...]:
    """For each column of a knob whether it has numbers instead of places."""
    if not knob.is_range:
        return (not _lists_quantities(knob),)
    return (False, True) if knob.special else (False,)


def _lists_quantities(knob: Knob) -> bool:
    """Whether the choices are amounts of something, in order: numbers that have a unit.

    A negative one stands for something else, such as no limit.
    """
    numbers = [v for v in knob.drawn if isinstance(v, int | float) and not isinstance(v, bool)]
    return bool(knob.unit) and numbers == list(knob.drawn) == sorted(numbers) and numbers[0] >= 0


def _columns(knob: Knob, place: Floats) -> tuple[Floats, ...]:
    if not knob.is_range:
        count = len(knob.drawn)
        return (_middles(place, count) if _lists_quantities(knob) else np.floor(place * count),)
    if not knob.special:
        return (_on_grid(knob, place),)
    within = _on_grid(knob, (place - SPECIAL_SHARE) / (1 - SPECIAL_SHARE))
    which = np.floor(place / SPECIAL_SHARE * len(knob.special)) + 1
    return np.where(within < 0, _MIDDLE, within), np.where(within < 0, which, 0.0)


def _on_grid(knob: Knob, place: Floats) -> Floats:
    return _middles(place, len(knob.grid)) if knob.grid else place


def _middles(place: Floats, count: int) -> Floats:
    """The middles of the parts in which the places lie, of so many equal parts of the scale."""
    return (np.floor(place * count) + 0.5) / count


_RANDOM, _NEAR = 1000, 1000
"""Candidates: so many anywhere, and near the best for each step."""
_PARENTS = 5
_LEGAL = 12
"""So many of the candidates are made legal in each round: the rules between knobs take time."""
_STEPS = (0.2, 0.1, 0.05)
_CHANGED = 3.0
"""How many knobs of a neighbour change on average."""
_REDRAWN = 0.3


class CandidateSearch:
    """The search for the lowest bound among legal configs that have not been tried."""

    def __init__(
        self,
        space: KnobSpace,
        bound: Callable[[Floats], Floats],
        tried: frozenset[Config],
        rng: np.random.Generator,
    ) -> None:
        self._space = space
        self._points = Points(space.knobs)
        self._bound = bound
        self._tried = tried
        self._rng = rng
        self._found: dict[Config, float] = {}

    def lowest(self, best: Floats) -> Config | None:
        """The config, given the places of those so far, the best first; None if none is new."""
        anywhere = self._rng.random((_RANDOM, best.shape[1]))
        near = np.vstack([self._near(best[:_PARENTS], step) for step in _STEPS])
        self._keep(np.vstack([anywhere, near]))
        for step in _STEPS:
            if self._found:
                self._keep(self._near(self._places_of_best(), step))
        return min(self._found, key=lambda config: self._found[config], default=None)

    def _near(self, places: Floats, step: float) -> Floats:
        return neighbours(places, _NEAR, step, self._rng)

    def _places_of_best(self) -> Floats:
        ranked = sorted(self._found, key=lambda config: self._found[config])
        return self._points.places(ranked[:_PARENTS])

    def _keep(self, places: Floats) -> None:
        """Make the most promising of the places legal, and keep those that are new."""
        order = np.argsort(self._bound(places), kind="stable")[:_LEGAL]
        legal = {self._space.at(places[at]) for at in order.tolist()}
        new = sorted(legal - self._tried - self._found.keys(), key=lambda config: config.hash)
        if new:
            bounds = self._bound(self._points.places(new))
            self._found |= dict(zip(new, bounds.tolist(), strict=True))


def neighbours(places: Floats, count: int, step: float, rng: np.random.Generator) -> Floats:
    """So many points near the given ones: some knobs moved a step, or drawn anew."""
    near = places[rng.integers(len(places), size=count)]
    changed = rng.random(near.shape) < min(1.0, _CHANGED / places.shape[1])
    redrawn = rng.random(near.shape) < _REDRAWN
    moved = np.abs(near + rng.normal(0, step, near.shape))
    moved = np.where(moved >= 1, np.maximum(2 - moved, 0.0), moved)
    moved = np.where(redrawn, rng.random(near.shape), moved)
    return np.minimum(np.where(changed, moved, near), np.nextafter(1.0, 0.0))
