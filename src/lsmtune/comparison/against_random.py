"""Comparison of each optimizer with random search: only what beats it has learnt something."""

from dataclasses import dataclass

from lsmtune.comparison.race import Outcome
from lsmtune.stats import Interval, of_several, ratio_interval, unpaired_ratio_interval

RANDOM = "random"
_MIN_SEARCHES = 2


@dataclass(frozen=True, slots=True)
class AgainstRandom:
    """Final cost of an optimizer divided by that of random search, over all seeds.

    `ratio` is None if an optimizer ran fewer than two searches.
    """

    optimizer: str
    ratio: Interval | None

    @property
    def beats(self) -> bool:
        """True if the whole interval is below 1."""
        return self.ratio is not None and self.ratio.high < 1

    @property
    def loses(self) -> bool:
        """True if the whole interval is above 1."""
        return self.ratio is not None and self.ratio.low > 1


def against_random(found: Outcome) -> tuple[AgainstRandom, ...]:
    """Return one record per optimizer, the best first; empty without random search.

    All intervals together hold at 95 % (Bonferroni).
    """
    names = [standing.optimizer for standing in found.standings]
    if RANDOM not in names:
        return ()
    others = [name for name in names if name != RANDOM]
    ends = {name: _ends(found, name) for name in names}
    confidence = of_several(len(others))
    return tuple(
        AgainstRandom(name, _ratio(ends[name], ends[RANDOM], confidence)) for name in others
    )


def _ends(found: Outcome, name: str) -> dict[int, float]:
    """Return the final cost of each search by its seed."""
    return {curve.seed: curve.costs[-1] for curve in found.curves if curve.optimizer == name}


def _ratio(own: dict[int, float], random: dict[int, float], confidence: float) -> Interval | None:
    seeds = sorted(own.keys() & random.keys())
    if min(len(own), len(random)) < _MIN_SEARCHES or min(*own.values(), *random.values()) <= 0:
        return None
    if len(seeds) >= _MIN_SEARCHES:
        pairs = [own[seed] for seed in seeds], [random[seed] for seed in seeds]
        return ratio_interval(*pairs, confidence)
    return unpaired_ratio_interval([*own.values()], [*random.values()], confidence)
