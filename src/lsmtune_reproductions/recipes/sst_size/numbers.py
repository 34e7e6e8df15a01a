"""Measured numbers next to the published ones, and the results for the published claims."""

from collections.abc import Iterator
from functools import partial
from math import fsum, log

from lsmtune.analysis.experiment_runs import Value, metric
from lsmtune.analysis.swept import SweptMetric, SweptRun
from lsmtune.learning.factorial import FactorEffect
from lsmtune.stats import Interval
from lsmtune_reproductions.recipes.published import (
    Claim,
    Finding,
    judged,
    published,
    stated_claims,
    times,
    unjudged,
)
from lsmtune_reproductions.recipes.sst_size.study import FILES, MEMTABLES, Results

WRITTEN = "written_bytes"
"""Flushed plus compacted bytes: figure 2 of the report calls this sum written."""
_LAST = 2


paper = partial(published, __package__)
"""Function that returns the published numbers."""


def _value(name: str) -> Value:
    return _written if name == WRITTEN else metric(name)


def _written(run: SweptRun) -> float | None:
    parts = [run.metrics.get(f"{part}_write_bytes") for part in ("flush", "compact")]
    return None if None in parts else fsum(part for part in parts if part is not None)


def diagonal(results: Results, name: str) -> list[float | None]:
    """Return the means of the published cells, in which memtables are as large as files."""
    value = _value(name)
    return [results.experiment.mean((level, level), value) for level in range(_LAST + 1)]


def against_least(results: Results, name: str, level: int) -> Interval | None:
    """Return the ratio of a published cell to the published cell with the smallest size."""
    return results.experiment.ratio((level, level), (0, 0), _value(name))


def swept_metric(results: Results, name: str) -> SweptMetric:
    """Return the experiment's results for a metric."""
    return next(found for found in results.experiment.swept.metrics if found.metric == name)


def effect(results: Results, name: str, factor: str) -> FactorEffect | None:
    """Return the effect of one factor at fixed values of the other; None if there is no fit."""
    fit = swept_metric(results, name).fit
    at = list(results.experiment.swept.factors).index(factor)
    return fit.factors[at] if fit is not None else None


def largest(results: Results, name: str, factor: str) -> Interval | None:
    """Return the ratio of the factor's largest size to its smallest, the other factor fixed."""
    fit, found = swept_metric(results, name).fit, effect(results, name, factor)
    if fit is None or found is None or not fit.relative or found.reference != 0:
        return None
    return {contrast.level: contrast.change for contrast in found.contrasts}.get(_LAST)


def claims(results: Results) -> Iterator[Claim]:
    """Yield the claims of the report with their results."""
    yield from unjudged(_claims(results), results.experiment.too_small())


def _claims(results: Results) -> Iterator[Claim]:
    sizes = f"{paper()['sizes'][_LAST]} / {paper()['sizes'][0]}"
    for row in stated_claims(__package__):
        if "factor" in row:
            ratio = largest(results, row["metric"], row["factor"])
        else:
            ratio = against_least(results, row["metric"], _LAST)
        of = row["ratio"].format(sizes=sizes)
        yield judged(row["claim"], ratio, falls=row["falls"], of=of)
    yield _outweighs(results, sizes)


def _outweighs(results: Results, sizes: str) -> Claim:
    """Return whether memtables change write amplification more than files do."""
    statement = "The memtable size changes write amplification more than the file size"
    changes = [largest(results, "write_amp", factor) for factor in (MEMTABLES, FILES)]
    memtables, files = changes
    if memtables is None or files is None:
        return Claim(statement, "not decided", "too few runs")
    ratios = ", ".join(
        f"{factor} {times(change)}" for factor, change in ((MEMTABLES, memtables), (FILES, files))
    )
    finding: Finding = "not decided"
    if _least(memtables) > _most(files):
        finding = "confirmed"
    elif _least(files) > _most(memtables):
        finding = "contradicted"
    return Claim(statement, finding, f"write amplification, {sizes}: {ratios}")


def _least(change: Interval) -> float:
    """Return the smallest possible distance of a ratio from 1, on a logarithmic scale."""
    if change.low <= 1 <= change.high:
        return 0.0
    return min(abs(log(change.low)), abs(log(change.high)))


def _most(change: Interval) -> float:
    return max(abs(log(change.low)), abs(log(change.high)))
