"""What an importance says, in sentences."""

from collections.abc import Callable

from lsmtune.analysis.importance import NOTABLE, SIGNIFICANT, KnobImportance, MetricImportance
from lsmtune.learning.effects import GroupMean
from lsmtune.metrics.definitions import METRICS
from lsmtune.units import format_bytes

_TOP, _FAR_DOWN = 5, 10
"""A knob that one method ranks among the first and another behind these is worth a word."""


def effect_text(metric: str, knob: KnobImportance) -> str:
    """Where the metric is least and where most when this knob alone moves."""
    if not knob.effect:
        return "it did not vary"
    least = min(knob.effect, key=lambda group: group.modelled)
    most = max(knob.effect, key=lambda group: group.modelled)
    more = (most.modelled / least.modelled - 1) * 100 if least.modelled > 0 else 0.0
    return f"least at {_at(metric, least)}, most at {_at(metric, most)}: {more:.3g} % between them"


def short_effect_text(metric: str, knob: KnobImportance) -> str:
    """The effect in a cell of a table: how much, and where the metric is best."""
    if not (knob.is_seen or knob.is_significant) or not knob.effect:
        return "useless"
    higher = METRICS[metric].better == "higher"
    ordered = sorted(knob.effect, key=lambda group: group.modelled, reverse=higher)
    best, worst = ordered[0], ordered[-1]
    change = best.modelled / worst.modelled - 1 if worst.modelled else 0.0
    return f"{change:+.0%} at {best.group} (against {worst.group})"


def _at(metric: str, group: GroupMean) -> str:
    return f"{group.group} ({value_text(metric, group.modelled)})"


def value_text(metric: str, value: float) -> str:
    """A value of a metric with its unit."""
    unit = METRICS[metric].unit
    if unit == "bytes":
        return format_bytes(value)
    return f"{value:.3g}" if unit == "ratio" else f"{value:.4g} {unit}"


def verdict_text(knob: KnobImportance) -> str:
    """Whether the knob matters, and whether the methods agree on it."""
    if knob.is_seen and knob.is_significant:
        return "matters"
    if knob.is_seen:
        return (
            f"methods disagree: the model needs it, the analysis of variance sees no effect of "
            f"its own (p = {knob.multi_p:.2g}): it acts together with others"
        )
    if knob.is_significant:
        return (
            f"real but small: significant (p = {knob.multi_p:.1g}), and less than "
            f"{NOTABLE:.0%} of what can be predicted"
        )
    if knob.anova_p < SIGNIFICANT:
        return (
            f"useless; alone it looks significant (p = {knob.anova_p:.2g}), among all knobs it "
            "is not"
        )
    return "useless"


def disagreements(metric: MetricImportance) -> list[str]:
    """Knobs that one method ranks among the first and another far behind."""
    names = [knob.knob for knob in metric.knobs]
    rankings = {
        "permutation": names,
        "MDI": _ranked(metric, lambda knob: -knob.mdi),
        "Lasso": _ranked(metric, lambda knob: knob.lasso_rank),
        "eta squared": _ranked(metric, lambda knob: -knob.eta_squared),
        "PED-ANOVA": _ranked(metric, lambda knob: -knob.ped_anova),
    }
    found = []
    for name in names:
        places = {method: ranking.index(name) + 1 for method, ranking in rankings.items()}
        first = [m for m, place in places.items() if place <= _TOP]
        last = [m for m, place in places.items() if place > _FAR_DOWN]
        if first and last and len(names) > _FAR_DOWN:
            found.append(f"{name}: {_places(places, first)}, but {_places(places, last)}")
    return found


def _ranked(metric: MetricImportance, key: Callable[[KnobImportance], float]) -> list[str]:
    return [knob.knob for knob in sorted(metric.knobs, key=key)]


def _places(places: dict[str, int], methods: list[str]) -> str:
    return ", ".join(f"{places[method]}. by {method}" for method in methods)


def accuracy_text(metric: MetricImportance) -> str:
    """How well the metric can be predicted, beside what its noise allows."""
    r2, forest = metric.accuracy.r2, metric.forest_r2
    ceiling = "no config ran twice: the noise is unknown"
    if metric.noise is not None:
        top = metric.noise.ceiling
        ceiling = (
            f"the noise of single runs ({metric.noise.relative:.1%}) allows "
            f"{top.median:.3f} ({top.low:.3f} to {top.high:.3f})"
        )
    return (
        f"held-out R² {r2.median:.3f} ({r2.low:.3f} to {r2.high:.3f}) by {metric.model}, "
        f"{forest.median:.3f} by random forest; {ceiling}"
    )
