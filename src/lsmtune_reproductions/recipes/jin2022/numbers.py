"""Numbers of the paper and the numbers measured here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lsmtune.analysis.importance import KnobImportance, MetricImportance
from lsmtune.learning.variance import one_way_p
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Metrics, jin2022_fitness, median_metrics
from lsmtune.stats import Interval
from lsmtune.verdict import Pair
from lsmtune_reproductions.recipes.jin2022.study import (
    INDICATORS,
    MODES,
    Mode,
    Results,
    Screening,
    Search,
)
from lsmtune_reproductions.recipes.published import published

_MEGA = 1e6


paper = partial(published, __package__)
"""Function that returns the published numbers."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Figure 5 for one indicator: held-out R² of the paper and of each mode here.

    `forest` is comparable with the paper. `best` is the R² of the selected model. `ceiling` is the
    highest R² that the noise of single runs allows.
    """

    metric: str
    paper: float | None
    forest: dict[Mode, Interval]
    best: dict[Mode, Interval]
    model: dict[Mode, str]
    ceiling: dict[Mode, Interval | None]


def accuracies(results: Results) -> list[Accuracy]:
    """Return figure 5, with the exact write amplification in addition."""
    names = [m.metric for m in results.screenings["honest"].importance.metrics]
    return [_accuracy(results, name) for name in names]


def _accuracy(results: Results, name: str) -> Accuracy:
    of = {mode: _metric(results.screenings[mode], name) for mode in MODES}
    return Accuracy(
        metric=name,
        paper=paper()["r_squared"].get(name),
        forest={mode: of[mode].forest_r2 for mode in MODES},
        best={mode: of[mode].accuracy.r2 for mode in MODES},
        model={mode: of[mode].model for mode in MODES},
        ceiling={
            mode: noise.ceiling if (noise := of[mode].noise) is not None else None for mode in MODES
        },
    )


def _metric(screening: Screening, name: str) -> MetricImportance:
    return next(m for m in screening.importance.metrics if m.metric == name)


@dataclass(frozen=True, slots=True)
class Contribution:
    """Figure 6 for one parameter: its mean decrease in impurity over the four indicators.

    `place` is its rank in each mode, None if it did not vary. `paper_place` is its rank in the
    paper, which names the first six; None for the others.
    """

    knob: str
    paper_place: int | None
    place: dict[Mode, int | None]
    mdi: dict[Mode, float]
    permutation: dict[Mode, float]


def contributions(results: Results) -> list[Contribution]:
    """Return figure 6: every parameter, in the order of the published mode."""
    means = {mode: _means(results.screenings[mode]) for mode in MODES}
    ranks = {mode: sorted(means[mode], key=lambda k: -means[mode][k][0]) for mode in MODES}
    named: list[str] = paper()["ranking"]["knobs"]
    names = list(dict.fromkeys([*ranks["published"], *ranks["honest"]]))
    return [
        Contribution(
            knob=name,
            paper_place=named.index(name) + 1 if name in named else None,
            place={m: ranks[m].index(name) + 1 if name in ranks[m] else None for m in MODES},
            mdi={m: means[m].get(name, (0.0, 0.0))[0] for m in MODES},
            permutation={m: means[m].get(name, (0.0, 0.0))[1] for m in MODES},
        )
        for name in names
    ]


def _means(screening: Screening) -> dict[str, tuple[float, float]]:
    """Return the means of MDI and of lost R² over the paper's four indicators."""
    by_name: dict[str, list[KnobImportance]] = {}
    for name in INDICATORS:
        for knob in _metric(screening, name).knobs:
            by_name.setdefault(knob.knob, []).append(knob)
    return {
        name: (
            float(np.mean([k.mdi for k in found])),
            float(np.mean([k.permutation.median for k in found])),
        )
        for name, found in by_name.items()
    }


@dataclass(frozen=True, slots=True)
class GroupTest:
    """Figure 7 and the group means of the text for one knob and indicator, in one mode.

    `least` and `most` are the lowest and the highest group mean, with the names of the groups.
    """

    mode: Mode
    p: float
    least: tuple[str, float]
    most: tuple[str, float]

    @property
    def spread(self) -> float:
        """Difference of the two means as a share of the lower one."""
        return self.most[1] / self.least[1] - 1


def group_tests(results: Results, knob: str, metric: str) -> list[GroupTest]:
    """Return the one-way analysis of variance of a knob and an indicator, in each mode."""
    found = []
    for mode in MODES:
        runs = results.screenings[mode].runs
        factor = next((f for f in runs.design.factors if f.name == knob), None)
        if factor is None:
            continue
        outcome = runs.outcome(metric)
        means = {name: float(outcome[of].mean()) for name, of in factor.groups if of.any()}
        least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        p = one_way_p(factor, outcome)
        found.append(GroupTest(mode, p, (least, means[least]), (most, means[most])))
    return found


def paper_fitness() -> float:
    """Return the fitness computed from the paper's table 2."""
    table = paper()["table_2"]
    return jin2022_fitness(table["found"], table["default"], "w_amp_table")


def convergence(search: Search) -> list[float]:
    """Return figure 8: the best fitness so far after each evaluation."""
    fitness = [jin2022_fitness(t.result.metrics, search.base) for t in search.trials]
    return [float(best) for best in np.maximum.accumulate(fitness)]


@dataclass(frozen=True, slots=True)
class Verified:
    """Fitness of a config over pairs of runs with the baseline.

    `exact` uses the exact write amplification, `published` the formula of the paper.
    """

    exact: Interval
    published: Interval
    base: Metrics
    found: Metrics
    pairs: int


def verified(pairs: Sequence[Pair]) -> Verified | None:
    """Return the median fitness over the pairs with its 95 % bootstrap interval, or None."""
    if not pairs:
        return None
    exact = [jin2022_fitness(best, base) for best, base in pairs]
    table = [jin2022_fitness(best, base, "w_amp_table") for best, base in pairs]
    return Verified(
        _median_interval(exact),
        _median_interval(table),
        median_metrics([base for _, base in pairs]),
        median_metrics([best for best, _ in pairs]),
        len(pairs),
    )


def _median_interval(values: Sequence[float]) -> Interval:
    rng = np.random.default_rng(1)
    drawn = np.median(rng.choice(values, size=(2000, len(values))), axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(np.median(values)), float(low), float(high))


def improvements(default: Metrics, found: Metrics) -> dict[str, float]:
    """Return figure 9: the improvement of each indicator as a share of the default."""
    return {
        name: (found[name] / default[name] - 1) * (1 if METRICS[name].better == "higher" else -1)
        for name in INDICATORS
    }


def honest_fitness(results: Results) -> Interval | None:
    """Return the verified fitness of the honest searches: median, lowest, highest of the seeds."""
    found = [v for s in results.searches if s.mode == "honest" and (v := verified(s.pairs))]
    values = [v.exact.median for v in found]
    return Interval(float(np.median(values)), min(values), max(values)) if values else None


def data_share(search: Search) -> float | None:
    """Return the share of a published search's fitness that comes from changing the data."""
    whole, kept = verified(search.pairs), verified(search.on_base_data)
    if whole is None or kept is None or whole.exact.median <= 0:
        return None
    return 1 - kept.exact.median / whole.exact.median


def indicator(metric: str, value: float) -> float:
    """Return a value in the paper's units: megabytes, MB/s, s, or a ratio."""
    return value / _MEGA if metric == "live_sst_bytes" else value
