"""The importance of the knobs as text."""

from collections.abc import Iterator

from lsmtune.api.importance import Importance, KnobImportance, MetricImportance
from lsmtune.cli.tables import Column, paragraph, table_lines
from lsmtune.report.text.importance_words import (
    accuracy_text,
    disagreements,
    effect_text,
    hosts_text,
    verdict_text,
)

_LEGEND = (
    "R² lost: how much accuracy (R²) the predictions of the metric lose without the knob. MDI: "
    "share of the knob in the predictions of a random forest. eta²: share of the metric's variance "
    "that the knob explains. PED: share of the knob in the difference between the best tenth of "
    "the runs and all runs. Lasso: rank of the knob in a linear model, 1 for the strongest. For "
    "the other columns, a larger number means a more important knob."
)


def importance_lines(importance: Importance) -> Iterator[str]:
    """Give the importance as text: a table per metric."""
    failed = f", {importance.failed} runs failed" if importance.failed else ""
    yield f"{importance.configs} configs in {importance.runs} runs{failed}"
    if importance.load_factors:
        yield from paragraph(
            "note: the runs also differ in these parameters of the workload: "
            f"{', '.join(importance.load_factors)}. "
            "Tuning cannot change parameters of the workload."
        )
    if importance.hosts:
        yield from paragraph(f"note: {hosts_text(importance)}")
    for metric in importance.metrics:
        yield ""
        yield from _metric_lines(metric)
    yield ""
    yield from paragraph(f"top knobs over all metrics: {', '.join(importance.top(6))}", hanging=2)
    yield from paragraph(_LEGEND, hanging=2)


def _metric_lines(metric: MetricImportance) -> Iterator[str]:
    yield from paragraph(f"{metric.metric}: {accuracy_text(metric)}", hanging=2)
    rows = [_row(metric.metric, knob) for knob in metric.knobs]
    columns = [
        Column("knob", at_least=20), Column("R² lost", at_least=20),
        Column("MDI", right=True, drop=4), Column("eta²", right=True, drop=2),
        Column("PED", right=True, drop=5), Column("Lasso", right=True, drop=3),
        Column("verdict", at_least=24),
    ]  # fmt: skip
    yield from table_lines(columns, rows, indent=2)
    for pair in metric.interactions[:1]:
        yield from paragraph(
            f"strongest interaction: the effect of {pair.first} depends on the value of "
            f"{pair.second}; this dependence is {pair.strength:.0%} of the effect of the two knobs",
            indent=2, hanging=2,
        )  # fmt: skip
    for sentence in disagreements(metric):
        yield from paragraph(
            f"the methods rank this knob differently: {sentence}", indent=2, hanging=2
        )


def _row(metric: str, knob: KnobImportance) -> list[str]:
    loss = knob.permutation
    verdict = verdict_text(knob)
    if knob.is_seen or knob.is_significant:
        verdict = f"{verdict}; {effect_text(metric, knob)}"
    return [
        knob.knob, f"{loss.median:.3f} ({loss.low:.3f} to {loss.high:.3f})", f"{knob.mdi:.3f}",
        f"{knob.eta_squared:.3f}", f"{knob.ped_anova:.3f}", str(knob.lasso_rank), verdict,
    ]  # fmt: skip
