"""Predictions of the simulator as rows of a table."""

from collections.abc import Mapping, Sequence

from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.metric_words import metric_value
from lsmtune.report.text.words import TIMES


def prediction_rows(runs: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """Return a row per metric that all runs have: name, values, ratio of two runs, meaning."""
    return [
        [
            name,
            *(metric_value(name, metrics[name]) for metrics in runs),
            *(_ratio(other[name], runs[0][name]) for other in runs[1:2]),
            METRICS[name].meaning,
        ]
        for name in METRICS.among(*runs[:1])
        if all(name in metrics for metrics in runs)
    ]


def _ratio(value: float, reference: float) -> str:
    return f"{value / reference:.2f} {TIMES}" if reference > 0 else ""
