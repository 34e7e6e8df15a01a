"""Importance page: the knobs that matter, one chart for all metrics, then each metric."""

from collections.abc import Iterator

from lsmtune.analysis.importance import MIN_R2, Importance, KnobImportance, MetricImportance
from lsmtune.learning.effects import Interaction
from lsmtune.report.canvas import picture
from lsmtune.report.importance_plots import (
    EFFECT_KEYS,
    IMPORTANCE_KEYS,
    accuracy_plot,
    effect_plot,
    importance_plot,
    interaction_keys,
    interaction_plot,
    overview_keys,
    overview_plot,
)
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
from lsmtune.report.text.metric_words import label
from lsmtune.report.text.words import counted, number, sentence_start, unbroken

_TEXTS = PageTexts(__package__, "importance")
_DRAWN_EFFECTS = 4
_SUMMARISED = 8


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
