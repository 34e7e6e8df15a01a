"""The work behind `lsmtune importance`, apart from its flags so that `--help` stays quick."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsmtune.analysis.importance import (
    DEFAULT_METRICS,
    Importance,
    MetricImportance,
    find_importance,
    runs_of,
)
from lsmtune.analysis.importance_words import (
    accuracy_text,
    disagreements,
    effect_text,
    verdict_text,
)
from lsmtune.analysis.screened import screened_lines
from lsmtune.batch import BatchLine, read_batch
from lsmtune.cli.common import write_file
from lsmtune.errors import UserError
from lsmtune.metrics.definitions import metric as known_metric
from lsmtune.report.importance_page import render_importance
from lsmtune.spec import catalogue_of
from lsmtune.store.home import Home


def compute(
    study: str | None, batch: Path | None, metrics: Sequence[str], repeats: int, home: Path
) -> tuple[str, Importance]:
    """What the runs are called, and their importance; UserError where they cannot be used."""
    if (study is None) == (batch is None):
        raise UserError("importance: name either a study or --batch FILE")
    lines = _lines(study, batch, home)
    # What several have in common is checked with the runs.
    first = lines[0] if lines else BatchLine("none")
    runs = runs_of(lines, catalogue_of(first.engine, first.workload))
    kind = runs.first[0].workload.kind
    names = [known_metric(name, "metric").name for name in metrics]
    present = [n for n in DEFAULT_METRICS[kind] if all(n in line.metrics for line in runs.first)]
    return study or str(batch), find_importance(runs, names or present, repeats)


def _lines(study: str | None, batch: Path | None, home: Path) -> list[BatchLine]:
    if batch is None:
        with Home(home, create=False) as opened:
            return screened_lines(opened, str(study))
    lines = read_batch(batch)
    bad = [line for line in lines if line.error is not None and not line.knobs]
    if bad:
        raise UserError(f"batch {batch}: {bad[0].error}")
    return lines


def write_page(path: Path, title: str, importance: Importance) -> None:
    """Write the page about the importance."""
    write_file(path, render_importance(title, importance), "page")


def lines(importance: Importance) -> Iterator[str]:
    """The importance as text."""
    failed = f", {importance.failed} runs failed" if importance.failed else ""
    yield f"{importance.configs} configs in {importance.runs} runs{failed}"
    if importance.load_factors:
        yield (
            f"{', '.join(importance.load_factors)} varied too: they belong to the load, so that "
            "what they move is not the store's to gain"
        )
    for metric in importance.metrics:
        yield ""
        yield from _metric_lines(metric)
    yield ""
    yield f"top knobs over all metrics: {','.join(importance.top(6))}"


def _metric_lines(metric: MetricImportance) -> Iterator[str]:
    yield f"{metric.metric}: {accuracy_text(metric)}"
    yield f"  {'knob':36} {'R² lost':>22} {'MDI':>6} {'eta²':>6} {'PED':>6} {'Lasso':>5}  verdict"
    for knob in metric.knobs:
        fall = knob.permutation
        spread = f"{fall.median:.3f} ({fall.low:.3f} to {fall.high:.3f})"
        yield (
            f"  {knob.knob:36} {spread:>22} {knob.mdi:6.3f} {knob.eta_squared:6.3f} "
            f"{knob.ped_anova:6.3f} {knob.lasso_rank:5}  {verdict_text(knob)}"
        )
        if knob.is_seen or knob.is_significant:
            yield f"      {effect_text(metric.metric, knob)}"
    for pair in metric.interactions[:1]:
        yield (
            f"  strongest interaction: {pair.first} with {pair.second} "
            f"({pair.strength:.0%} of what both do is not the sum of each)"
        )
    for sentence in disagreements(metric):
        yield f"  methods disagree on {sentence}"
