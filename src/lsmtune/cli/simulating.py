"""Predictions as a table."""

from collections.abc import Iterator, Sequence
from typing import Any

from lsmtune.api.simulate import SHOWN, AskedRuns
from lsmtune.cli.tables import Column, paragraph, table_lines
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.words import TIMES, metric_value

_LONG_LABEL = 12


def table(answers: Sequence[dict[str, Any]], asked: AskedRuns) -> Iterator[str]:
    """Give the predictions as a table: a row per metric, with its meaning."""
    load = asked.lines[0].workload
    scale = "" if asked.scale is None else f", scale {asked.scale}"
    yield from paragraph(
        f"predicted, not measured: workload {load.name}, {load.num:,} records{scale}"
    )
    labels = list(asked.labels)
    if len(labels) == SHOWN and len(labels[1]) > _LONG_LABEL:
        yield from paragraph(f"changed: {labels[1]}", hanging=2)
        yield ""
        labels[1] = "changed"
    first, *others = [answer["metrics"] for answer in answers]
    columns = [Column("metric", at_least=16), *(Column(label, right=True) for label in labels)]
    columns += [Column("ratio", right=True, drop=1)] if others else []
    columns.append(Column("meaning", at_least=24, drop=2))
    rows = [
        [
            name,
            *(metric_value(name, metrics[name]) for metrics in (first, *others)),
            *([_ratio(others[0][name], first[name])] if others else []),
            METRICS[name].meaning,
        ]
        for name in METRICS
        if all(name in metrics for metrics in (first, *others))
    ]
    yield from table_lines(columns, rows)


def _ratio(value: float, reference: float) -> str:
    return f"{value / reference:.2f} {TIMES}" if reference > 0 else ""
