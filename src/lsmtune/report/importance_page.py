"""Importance page: the knobs that matter, one chart for all metrics, then each metric."""

from collections.abc import Iterator, Sequence
from html import escape

from lsmtune.analysis.importance import (
    MIN_R2,
    NOTABLE,
    Importance,
    KnobImportance,
    MetricImportance,
)
from lsmtune.learning.effects import Interaction
from lsmtune.report.canvas import Chart, Key, Shape, line_keys, line_look, marker, picture, whiskers
from lsmtune.report.markup import (
    Html,
    code,
    codes,
    element,
    folded,
    items,
    join,
    nowrap,
    section,
    table,
)
from lsmtune.report.page import assembled, simulated_note
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.importance_words import (
    accuracy_text,
    disagreements,
    effect_text,
    headline_text,
    hosts_text,
    metric_headline,
    reason_text,
    short_effect_text,
    verdict_text,
)
from lsmtune.report.text.metric_words import drawn_unit, label
from lsmtune.report.text.words import counted, number, sentence_start, unbroken

_TEXTS = PageTexts(__package__, "importance")
_DRAWN_EFFECTS = 4
_SUMMARISED = 8

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


def render_importance(title: str, importance: Importance) -> str:
    """Return the importance as one HTML page without external requests."""
    parts = [_header(title, importance), *_summary(importance), *importance_sections(importance)]
    return assembled(f"{title}: {headline_text(importance)}", [*parts, _method(importance)])


def importance_sections(importance: Importance) -> Iterator[Html]:
    """Yield one section per metric."""
    for metric in importance.metrics:
        yield _section(metric)


def _header(title: str, importance: Importance) -> Html:
    failed = f", {counted(importance.failed, 'run')} failed" if importance.failed else ""
    measured = f"{counted(importance.configs, 'config')} in {counted(importance.runs, 'run')}"
    return element(
        "header",
        element("p", f"Importance of knobs: {title}, {measured}{failed}", class_="topic"),
        element("h1", sentence_start(headline_text(importance))),
        simulated_note() if importance.is_simulated else "",
        element("p", unbroken(reason_text(importance))),
        *_overview(importance),
        _load_note(importance),
        _hosts_note(importance),
    )


def _overview(importance: Importance) -> Iterator[Html]:
    drawn = [metric for metric in importance.metrics if metric.is_predictable]
    if not drawn:
        see = _TEXTS.text("accuracy", least=MIN_R2)
        yield picture("accuracy", accuracy_plot(importance.metrics), (), see, "held-out R²")
        yield element("p", see, class_="note")
    else:
        see = "The further right a mark is, the more the prediction of the metric needs the knob"
        yield picture(
            "importance", overview_plot(drawn), overview_keys(drawn), see,
            f"{see}: held-out R² lost without the knob",
        )  # fmt: skip


def _load_note(importance: Importance) -> Html:
    if not importance.load_factors:
        return Html()
    parts = [
        "The runs also varied parameters of the "
        "workload: ", *codes(importance.load_factors), ". Tuning cannot change parameters of the "
        "workload, because they are not knobs of the store.",
    ]  # fmt: skip
    return element("p", join(parts), class_="note")


def _hosts_note(importance: Importance) -> Html:
    if not importance.hosts:
        return Html()
    return element("p", unbroken(sentence_start(hosts_text(importance))), class_="note")


def _summary(importance: Importance) -> Iterator[Html]:
    """Yield a table of what each of the first knobs does to each metric."""
    metrics = [metric for metric in importance.metrics if metric.is_predictable]
    if not metrics:
        return
    found = {(m.metric, k.knob): k for m in metrics for k in m.knobs}
    names = (*importance.top(_SUMMARISED), *importance.other_factors)
    rows = (
        [code(name), *(_short_effect(m.metric, found.get((m.metric, name))) for m in metrics)]
        for name in names
    )  # fmt: skip
    heads = ("knob", *(label(m.metric) for m in metrics))
    yield section(
        "Effects", "How much each knob changes each metric",
        table("Predicted change from the worst value of a knob to its best", heads, rows),
    )  # fmt: skip


def _short_effect(metric: str, knob: KnobImportance | None) -> str:
    """Return the effect of a knob; None if the runs that have the metric do not vary it."""
    return "not varied" if knob is None else short_effect_text(metric, knob)


def _section(metric: MetricImportance) -> Html:
    title = f"{sentence_start(label(metric.metric))}: {metric_headline(metric)}"
    accuracy = element("p", unbroken(accuracy_text(metric)))
    shown = _order(metric, title) if metric.is_predictable else ()
    return section(metric.metric, title, accuracy, *shown, *_details(metric))


def _order(metric: MetricImportance, title: str) -> Iterator[Html]:
    yield picture(
        f"importance-{metric.metric}", importance_plot(metric), IMPORTANCE_KEYS, title,
        "held-out R² lost without the knob",
    )  # fmt: skip
    yield element("p", _TEXTS.text("order"), class_="note")


def _details(metric: MetricImportance) -> Iterator[Html]:
    effects = [*_effects(metric), *(_interaction(metric, pair) for pair in metric.interactions[:1])]
    if effects and metric.is_predictable:
        yield folded(f"Charts: how the first knobs change {label(metric.metric)}", *effects)
    if found := disagreements(metric):
        yield folded(f"{counted(len(found), 'knob')} that methods rank differently", items(found))
    yield _methods_table(metric)


def _effects(metric: MetricImportance) -> Iterator[Html]:
    for knob in metric.knobs[:_DRAWN_EFFECTS]:
        if knob.is_seen or knob.is_significant:
            text = effect_text(metric.metric, knob)
            yield element("h3", join([code(knob.knob), f": {text}"]))
            yield picture(
                f"effect-{metric.metric}-{knob.knob}", effect_plot(metric.metric, knob),
                EFFECT_KEYS, f"{knob.knob}: {text}", f"mean of {label(metric.metric)}",
            )  # fmt: skip


def _interaction(metric: MetricImportance, pair: Interaction) -> Html:
    title, name = f"{pair.first} and {pair.second} interact most", label(metric.metric)
    share = f"{100 * pair.strength:.0f} %"
    see = _TEXTS.text("interaction", first=pair.first, second=pair.second, name=name, share=share)
    return element(
        "div",
        element("h3", title),
        element("p", see),
        picture(
            f"interaction-{metric.metric}", interaction_plot(metric.metric, pair),
            interaction_keys(pair), f"{title}. {see}",
            f"predicted {label(metric.metric)} by {pair.first}",
        ),
    )  # fmt: skip


def _methods_table(metric: MetricImportance) -> Html:
    heads = (
        "knob", "verdict", "R² lost (95 %)", "MDI", "PED-ANOVA", "eta²", "p among all", "p alone",
        "Lasso rank", "effect",
    )  # fmt: skip
    return table(
        f"All knobs by all methods, {label(metric.metric)}",
        heads,
        (_methods_row(metric.metric, knob) for knob in metric.knobs),
        fold=True,
    )


def _methods_row(metric: str, knob: KnobImportance) -> list[str]:
    fall = knob.permutation
    return [
        code(knob.knob), verdict_text(knob),
        nowrap(f"{fall.median:.3f} ({fall.low:.3f}\N{EN DASH}{fall.high:.3f})"),
        number(knob.mdi), number(knob.ped_anova), number(knob.eta_squared),
        f"{knob.multi_p:.2g}", f"{knob.anova_p:.2g}", str(knob.lasso_rank),
        effect_text(metric, knob),
    ]  # fmt: skip


def _method(importance: Importance) -> Html:
    source = "simulated" if importance.is_simulated else "measured"
    texts = _TEXTS.paragraphs("method", source=source)
    return section("Method", "How to read these numbers", items(texts))


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
