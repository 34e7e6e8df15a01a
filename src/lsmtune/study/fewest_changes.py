"""Which changes of a config can be taken back without losing its gain: the decisions alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsmtune.limits import Measure

Unit = tuple[str, ...]
"""Changes that are taken back together, by the names of their knobs."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a simplification may run.

    raw   how often the raw winner runs again; these runs do not count as those of simpler configs
    most  at most so many runs of configs without some of the changes
    """

    raw: int
    most: int


EFFORT: Mapping[Measure, Effort] = {"filled": Effort(2, 10), "running": Effort(1, 6)}
"""A run of a running store takes longer, and its means vary less."""
_HALVES = 2


@dataclass(frozen=True, slots=True)
class Effect:
    """The predicted loss without a unit, as a logarithm, and the low end of its 80 % interval."""

    unit: Unit
    loss: float
    low: float


Loses = Callable[[Sequence[Unit], int], bool | None]
"""Runs the config without these units until it ran so many times; returns whether it loses.

It loses if it costs more of the gain than allowed and than noise explains, or probably breaks a
limit that the config with all units surely keeps. None if it
cannot run without these units.
"""


@dataclass(frozen=True, slots=True)
class FewestChanges:
    """The units that are taken back, and those that were taken back alone and had to stay.

    Each of the latter has all units without which its config ran.
    """

    taken_back: tuple[Unit, ...]
    needed: tuple[tuple[Unit, tuple[Unit, ...]], ...]


def fewest_changes(effects: Sequence[Effect], loses: Loses, most_runs: int) -> FewestChanges:
    """Take back the units that are predicted to have no effect, and then the others one by one."""
    runs = _Runs(loses, most_runs)
    ranked = sorted(effects, key=lambda effect: effect.loss)
    back = _idle([effect.unit for effect in ranked if effect.low <= 0], runs)
    needed = []
    for unit in (effect.unit for effect in ranked if effect.unit not in back):
        tried = [*back, unit]
        lost = runs.lose(tried, 1)
        if lost is False:
            lost = runs.lose(tried, 2)
        if lost is False:
            back = tried
        elif lost:
            needed.append((unit, tuple(tried)))
    return FewestChanges(tuple(back), tuple(needed))


def _idle(units: list[Unit], runs: "_Runs") -> list[Unit]:
    """Return the units that can be taken back at once.

    If all of them cost too much, the half with the smaller predicted losses is tried.
    """
    for _ in range(1 + _HALVES):
        if not units or runs.lose(units, 2) is False:
            return units
        units = units[: len(units) // 2]
    return []


class _Runs:
    """Tests configs while runs are left."""

    def __init__(self, loses: Loses, most_runs: int) -> None:
        self._loses = loses
        self._most_runs = most_runs
        self._wanted: dict[tuple[Unit, ...], int] = {}

    def lose(self, units: Sequence[Unit], runs: int) -> bool | None:
        """Return whether the config without these units loses; None if it may not or cannot run."""
        known = tuple(units)
        wanted = {**self._wanted, known: max(runs, self._wanted.get(known, 0))}
        if sum(wanted.values()) > self._most_runs:
            return None
        found = self._loses(units, runs)
        if found is not None:
            self._wanted = wanted
        return found
