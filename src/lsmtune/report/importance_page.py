"""The page of an importance: for each metric its knobs in order, and what moving them does."""

from collections.abc import Iterator

from lsmtune.analysis.importance import Importance, KnobImportance, MetricImportance
from lsmtune.analysis.importance_words import (
    accuracy_text,
    disagreements,
    effect_text,
    short_effect_text,
    verdict_text,
)
from lsmtune.learning.effects import Interaction
from lsmtune.report.frame import picture, section
from lsmtune.report.importance_plots import (
    EFFECT_KEYS,
    IMPORTANCE_KEYS,
    effect_plot,
    importance_plot,
    interaction_keys,
    interaction_plot,
)
from lsmtune.report.markup import Html, code, codes, element, items, join, table
from lsmtune.report.page import assembled
from lsmtune.report.words import label, number

_DRAWN_EFFECTS = 4
_SUMMARISED = 8


def render_importance(title: str, importance: Importance) -> str:
    """The importance as one HTML page that needs nothing but a browser, and no network."""
    parts = [_header(title, importance), *importance_sections(importance)]
    return assembled(f"{title}: which knobs matter", parts)


def importance_sections(importance: Importance) -> Iterator[Html]:
    """A section a metric."""
    for metric in importance.metrics:
        yield _section(metric)


def _header(title: str, importance: Importance) -> Html:
    top = importance.top(6)
    failed = f" {importance.failed} runs failed." if importance.failed else ""
    facts = (
        f"{importance.configs} configs in {importance.runs} runs.{failed} Over all metrics below "
        "these matter most, each metric counting alike: "
    )
    load = ""
    if importance.load_factors:
        load = element(
            "p",
            join([
                "Beside the knobs ", *codes(importance.load_factors), " varied. They belong to "
                "the load: what they move is not the store's to gain.",
            ]),
            class_="note",
        )  # fmt: skip
    return element(
        "header",
        element("p", f"Which knobs matter: {title}", class_="topic"),
        element("h1", join([*codes(top[:3]), " matter most"])),
        element("p", join([facts, *codes(top), "."])),
        load,
        _summary(importance),
    )


def _summary(importance: Importance) -> Html:
    """What each of the first knobs does to each metric, in words."""
    found = {(m.metric, k.knob): k for m in importance.metrics for k in m.knobs}
    names = (*importance.top(_SUMMARISED), *importance.load_factors)
    rows = (
        [code(name), *(short_effect_text(m.metric, found[m.metric, name])
                       for m in importance.metrics)]
        for name in names
    )  # fmt: skip
    heads = ("knob", *(label(m.metric) for m in importance.metrics))
    caption = "What each knob does: the metric where it is best against where it is worst, modelled"
    return table(caption, heads, rows)


def _section(metric: MetricImportance) -> Html:
    first = metric.knobs[0]
    title = f"{label(metric.metric)}: {first.knob} matters most"
    content = [
        element("p", f"{accuracy_text(metric)}. See below how much worse the model predicts "
                     "without each knob; what is left of the dashed line is of no use for tuning."),
        picture(f"importance-{metric.metric}", importance_plot(metric), IMPORTANCE_KEYS, title,
                "held-out R² lost without the knob"),
        *_effects(metric),
        *(_interaction(metric, pair) for pair in metric.interactions[:1]),
    ]  # fmt: skip
    if found := disagreements(metric):
        content += [element("h3", "Where methods disagree"), items(found)]
    content.append(_methods_table(metric))
    return section(metric.metric, title, *content)


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
    told = (
        f"Strongest interaction: {pair.strength:.0%} of what {pair.first} and {pair.second} move "
        "is not the sum of what each moves; lines that are not parallel show it."
    )
    return element(
        "div",
        element("h3", told),
        picture(
            f"interaction-{metric.metric}", interaction_plot(metric.metric, pair),
            interaction_keys(pair), told, f"modelled {label(metric.metric)} by {pair.first}",
        ),
    )  # fmt: skip


def _methods_table(metric: MetricImportance) -> Html:
    heads = (
        "knob", "verdict", "R² lost (95 %)", "MDI", "PED-ANOVA", "eta²", "p among all", "p alone",
        "Lasso", "what it does",
    )  # fmt: skip
    return table(
        f"Every knob by every method: {label(metric.metric)}",
        heads,
        (_methods_row(metric.metric, knob) for knob in metric.knobs),
    )


def _methods_row(metric: str, knob: KnobImportance) -> list[str]:
    fall = knob.permutation
    return [
        code(knob.knob), verdict_text(knob),
        f"{fall.median:.3f} ({fall.low:.3f} to {fall.high:.3f})",
        number(knob.mdi), number(knob.ped_anova), number(knob.eta_squared),
        f"{knob.multi_p:.2g}", f"{knob.anova_p:.2g}", str(knob.lasso_rank),
        effect_text(metric, knob),
    ]  # fmt: skip
