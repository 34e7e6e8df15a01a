"""Importance of knobs in words, for the terminal and the page."""

from collections.abc import Callable, Sequence

from lsmtune.analysis.importance import (
    MIN_R2,
    SIGNIFICANT,
    Importance,
    KnobImportance,
    MetricImportance,
)
from lsmtune.analysis.measurable import flushes_text
from lsmtune.host_levels import HOST
from lsmtune.learning.effects import GroupMean
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.words import listed
from lsmtune.units import format_bytes

_TOP, _FAR_DOWN = 5, 10
"""Methods disagree if one ranks a knob among the first 5 and another below rank 10."""


def hosts_text(importance: Importance) -> str:
    """Return what the host does to a ranking of runs from several hosts."""
    return (
        f"the runs are from {len(importance.hosts)} hosts: {listed(importance.hosts)}. The host is "
        "a factor, so a slow host does not look like an effect of a knob. The row "
        f"{HOST} shows how much of a metric the hosts explain."
    )


def headline_text(importance: Importance) -> str:
    """Return which knobs matter most, or that the runs do not show it."""
    named = importance.headline_knobs()
    prefix = "Simulated: " if importance.is_simulated else ""
    if named:
        knobs = "knob" if len(named) == 1 else "knobs"
        return f"{prefix}most important {knobs}: {listed(named)}"
    if any(metric.is_predictable for metric in importance.metrics):
        return f"{prefix}no knob matters for these metrics"
    return f"{prefix}important knobs are unknown: no metric can be predicted from the runs"


def reason_text(importance: Importance) -> str:
    """Return why the headline names these knobs, or none."""
    text = _accuracy_reason(importance)
    if importance.few_flushes:
        text += f" {flushes_text(importance.few_flushes, importance.runs)}"
    return text


def _accuracy_reason(importance: Importance) -> str:
    weak = [metric for metric in importance.metrics if not metric.is_predictable]
    good = [metric for metric in importance.metrics if metric.is_predictable]
    if not good:
        return (
            f"Held-out R², the accuracy of the predictions, is {_r2s(weak)}. If held-out R² is "
            f"below {MIN_R2}, lsmtune cannot find out which knobs matter. Measure more configs "
            "with `lsmtune screen`."
        )
    text = "Without the most important knobs, a model predicts the metrics less accurately."
    if not importance.headline_knobs():
        text = "The models need no single knob to predict the metrics."
    text += f" With all knobs, held-out R² (the accuracy of the predictions) is {_r2s(good)}."
    if weak:
        text += (
            f" The headline ignores metrics with a held-out R² below {MIN_R2}: held-out R² is "
            f"{_r2s(weak)}."
        )
    return text


def _r2s(metrics: Sequence[MetricImportance]) -> str:
    return listed([f"{_two(metric.accuracy.r2.median)} for {metric.metric}" for metric in metrics])


def _two(value: float) -> str:
    """Return a number with two decimals and a minus sign instead of a hyphen."""
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def metric_headline(metric: MetricImportance) -> str:
    """Return which knob matters most for the metric, or why none can be named."""
    first = metric.knobs[0]
    if not metric.is_predictable:
        return f"important knobs are unknown, held-out R² is {_two(metric.accuracy.r2.median)}"
    if not first.is_seen:
        return "no knob matters"
    return f"{first.knob} matters most"


def effect_text(metric: str, knob: KnobImportance) -> str:
    """Return where the metric is lowest and highest if only this knob changes."""
    if not knob.effect:
        return "every run has the same value of the knob"
    least = min(knob.effect, key=lambda group: group.modelled)
    most = max(knob.effect, key=lambda group: group.modelled)
    more = (most.modelled / least.modelled - 1) * 100 if least.modelled > 0 else 0.0
    return (
        f"{metric} is lowest at {_at(metric, least)} and {more:.3g} % higher at {_at(metric, most)}"
    )


def short_effect_text(metric: str, knob: KnobImportance) -> str:
    """Return the effect for a cell of a table: the change, the worst and the best value."""
    if not (knob.is_seen or knob.is_significant) or not knob.effect:
        return "no effect shown"
    higher = METRICS[metric].better == "higher"
    ordered = sorted(knob.effect, key=lambda group: group.modelled, reverse=higher)
    best, worst = ordered[0], ordered[-1]
    change = best.modelled / worst.modelled - 1 if worst.modelled else 0.0
    return f"{100 * change:+.0f} %: {worst.group} \N{RIGHTWARDS ARROW} {best.group}"


def _at(metric: str, group: GroupMean) -> str:
    return f"{group.group} ({value_text(metric, group.modelled)})"


def value_text(metric: str, value: float) -> str:
    """Return a value of a metric with its unit."""
    unit = METRICS[metric].unit
    if unit == "bytes":
        return format_bytes(value)
    return f"{value:.3g}" if unit == "ratio" else f"{value:.4g} {unit}"


def verdict_text(knob: KnobImportance) -> str:
    """Return whether the knob matters, and whether the methods agree."""
    if knob.is_seen and knob.is_significant:
        return "matters"
    if knob.is_seen:
        return (
            "matters together with other knobs: the predictions need this knob, but the analysis "
            f"of variance finds no effect of the knob alone (p = {knob.multi_p:.2g})"
        )
    if knob.is_significant:
        return (
            f"small effect: proven (p = {knob.multi_p:.1g}), but the predictions are not clearly "
            "worse without the knob"
        )
    if knob.anova_p < SIGNIFICANT:
        return (
            f"no effect shown: the knob is significant in a test of only this knob (p = "
            f"{knob.anova_p:.2g}), but not in the test of all knobs"
        )
    return "no effect shown"


def disagreements(metric: MetricImportance) -> list[str]:
    """Return the knobs that one method ranks high and another one low."""
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
            found.append(f"{name}: {_places(places, first)}; {_places(places, last)}")
    return found


def _ranked(metric: MetricImportance, key: Callable[[KnobImportance], float]) -> list[str]:
    return [knob.knob for knob in sorted(metric.knobs, key=key)]


def _places(places: dict[str, int], methods: list[str]) -> str:
    return ", ".join(f"rank {places[method]} by {method}" for method in methods)


def accuracy_text(metric: MetricImportance) -> str:
    """Return how well the metric can be predicted, the limit that noise sets, and missing runs."""
    r2, forest = metric.accuracy.r2, metric.forest_r2
    limit = "The noise between runs of a config is unknown, because no config ran twice."
    if metric.noise is not None:
        top = metric.noise.ceiling
        limit = (
            f"The values of {metric.metric} in runs of the same config differ by "
            f"{100 * metric.noise.relative:.1f} % (standard deviation). No model can predict this "
            f"noise between runs: held-out R² can be at most {_two(top.median)} (95 % interval "
            f"{_two(top.low)} to {_two(top.high)})."
        )
    return (
        f"lsmtune selected the model “{metric.model}” by cross-validation. The accuracy of this "
        f"model (held-out R²) is {_two(r2.median)}; 90 % of the values in cross-validation are "
        f"from {_two(r2.low)} to {_two(r2.high)}. A random forest, a model of many decision "
        f"trees, has an accuracy of {_two(forest.median)}. {limit}{_missing_text(metric)}"
    )


def _missing_text(metric: MetricImportance) -> str:
    """Return how many runs have no value of the metric; "" if each run has one."""
    if not metric.missing_runs:
        return ""
    runs = metric.runs + metric.missing_runs
    have = "has" if metric.missing_runs == 1 else "have"
    return (
        f" {metric.missing_runs} of {runs} runs {have} no value of {metric.metric}, so these "
        f"results use the other {metric.runs} runs."
    )
