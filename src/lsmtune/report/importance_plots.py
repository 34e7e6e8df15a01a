"""Charts of an importance: knobs in order, the effect of one, the interaction of two."""

from collections.abc import Sequence
from html import escape

from lsmtune.analysis.importance import MIN_R2, NOTABLE, KnobImportance, MetricImportance
from lsmtune.learning.effects import Interaction
from lsmtune.report.canvas import Chart, Key, Shape, line_keys, line_look, marker, whiskers
from lsmtune.report.text.metric_words import drawn_unit, label

_ROW_PX = 24
_HEIGHT_PX = 220
_MOST_KNOBS = 12
_OVERVIEW_KNOBS = 8
_SEEN = Shape("circle", "●", "best")
_UNSEEN = Shape("circle-open", "○", "soft")
_MEASURED = Shape("circle", "●", "best")
_MODELLED = Shape("line-ew", "━", "base")
IMPORTANCE_KEYS = (Key(_SEEN, "needed for the prediction"), Key(_UNSEEN, "not shown to be needed"))
EFFECT_KEYS = (
    Key(_MEASURED, "mean of the runs (95 %)"),
    Key(_MODELLED, "prediction if only this knob changes"),
)


def overview_keys(metrics: Sequence[MetricImportance]) -> list[Key]:
    """Return one mark per metric."""
    return line_keys(label(metric.metric) for metric in metrics)


def accuracy_plot(metrics: Sequence[MetricImportance]) -> Chart:
    """Draw the held-out R² of each metric, and the least that allows to name knobs."""
    r2s = [metric.accuracy.r2 for metric in metrics]
    chart = Chart.rows([label(metric.metric) for metric in metrics], _ROW_PX)
    chart.intervals(r2s, range(len(r2s)), _SEEN, "R² %{x:.2f}")
    low = min([-0.1, *(r2.low for r2 in r2s)])
    chart.update_xaxes(range=[low * 1.1, 1.0])
    chart.rule(x=MIN_R2, dash="dash")
    return chart


def overview_plot(metrics: Sequence[MetricImportance]) -> Chart:
    """Draw the first knobs as rows, with one mark per metric."""
    falls = {(m.metric, k.knob): max(0.0, k.permutation.median) for m in metrics for k in m.knobs}
    all_knobs = {knob for _, knob in falls}
    # The runs that have a metric may not vary each knob.
    falls = {(m.metric, k): falls.get((m.metric, k), 0.0) for m in metrics for k in all_knobs}
    seen = {knob.knob for metric in metrics for knob in metric.knobs if knob.is_seen}
    shown = seen or all_knobs
    names = sorted(shown, key=lambda name: -max(falls[m.metric, name] for m in metrics))
    names = names[:_OVERVIEW_KNOBS]
    chart = Chart.rows([escape(name) for name in names], _ROW_PX)
    for index, metric in enumerate(metrics):
        values = [falls[metric.metric, name] for name in names]
        texts = [
            f"{escape(name)}, {label(metric.metric)}: {value:.3f}"
            for name, value in zip(names, values, strict=True)
        ]
        rows = list(range(len(names)))
        chart.dots(values, rows, marker(line_look(index)[0], 10), "%{text}", text=texts)
    most = max((falls[m.metric, name] for m in metrics for name in names), default=0.0) or 1.0
    chart.update_xaxes(range=[-0.04 * most, 1.06 * most])
    return chart


def importance_plot(metric: MetricImportance) -> Chart:
    """Draw one dot with its interval per knob, the most important first."""
    knobs = metric.knobs[:_MOST_KNOBS]
    chart = Chart.rows([escape(knob.knob) for knob in knobs], _ROW_PX)
    for shape, seen in ((_SEEN, True), (_UNSEEN, False)):
        found = [(y, knob) for y, knob in enumerate(knobs) if knob.is_seen is seen]
        chart.intervals(
            [knob.permutation for _, knob in found], [y for y, _ in found],
            shape, "%{text}",
            text=[f"{knob.knob}: {knob.permutation.median:.3f}" for _, knob in found],
        )  # fmt: skip
    chart.update_xaxes(rangemode="tozero")
    chart.rule(x=NOTABLE, dash="dash")
    return chart


def effect_plot(metric: str, knob: KnobImportance) -> Chart:
    """Draw the mean of each group of values with its interval, and the prediction."""
    divisor, unit = drawn_unit(metric)
    chart, groups = Chart(_HEIGHT_PX, bottom=56), knob.effect
    names = [escape(group.group) for group in groups]
    modelled = [group.modelled / divisor for group in groups]
    chart.dots(names, modelled, marker(_MODELLED, 22, 3), "predicted %{y:.4g}")
    means = [group.mean for group in groups]
    spans = [(m.median / divisor, m.low / divisor, m.high / divisor) for m in means]
    chart.dots(
        names, [middle for middle, _, _ in spans], marker(_MEASURED, 9),
        "%{y:.4g}, %{text}", error_y=whiskers(_MEASURED, spans),
        text=[f"{group.runs} runs" for group in groups],
    )  # fmt: skip
    chart.update_yaxes(title=unit)
    chart.update_xaxes(type="category", title=knob.knob)
    return chart


def interaction_keys(pair: Interaction) -> list[Key]:
    """Return one mark per group of values of the second knob."""
    return line_keys(f"{pair.second}: {group}" for group in pair.columns)


def interaction_plot(metric: str, pair: Interaction) -> Chart:
    """Draw one line per group of the second knob over the groups of the first."""
    divisor, unit = drawn_unit(metric)
    chart, rows = Chart(_HEIGHT_PX, bottom=56), [escape(row) for row in pair.rows]
    for place, group in enumerate(pair.columns):
        values = [cells[place] / divisor for cells in pair.cells]
        chart.line(rows, values, line_look(place), f"{escape(group)}: %{{y:.4g}}")
    chart.update_yaxes(title=unit)
    chart.update_xaxes(type="category", title=pair.first)
    return chart
