"""The experiment's numbers beside the published ones, and what becomes of its claims."""

from collections.abc import Iterator
from math import fsum, log
from typing import Any

from lsmtune.analysis.swept import SweptMetric, SweptRun
from lsmtune.learning.factorial import FactorEffect
from lsmtune.recipes.experiment import Value, metric
from lsmtune.recipes.published import Claim, Finding, judged, published, times
from lsmtune.recipes.sst_size.study import FILES, MEMTABLES, Results
from lsmtune.stats import Interval

WRITTEN = "written_bytes"
"""Flushed and compacted together: what the published figure 2 calls written."""
_LAST = 2


def paper() -> dict[str, Any]:
    """What was published."""
    return published(__package__)


def _value(name: str) -> Value:
    return _written if name == WRITTEN else metric(name)


def _written(run: SweptRun) -> float | None:
    parts = [run.metrics.get(f"{part}_write_bytes") for part in ("flush", "compact")]
    return None if None in parts else fsum(part for part in parts if part is not None)


def diagonal(results: Results, name: str) -> list[float | None]:
    """The means of the published cells: memtables as large as files."""
    value = _value(name)
    return [results.experiment.mean((level, level), value) for level in range(_LAST + 1)]


def against_least(results: Results, name: str, level: int) -> Interval | None:
    """What the published cell of that size has of the smallest one's, block by block."""
    return results.experiment.ratio((level, level), (0, 0), _value(name))


def told(results: Results, name: str) -> SweptMetric:
    """The experiment's outcome in a metric."""
    return next(found for found in results.experiment.swept.metrics if found.metric == name)


def effect(results: Results, name: str, factor: str) -> FactorEffect | None:
    """What a factor does to a metric, the other one held; None where it cannot be told."""
    fit = told(results, name).fit
    at = list(results.experiment.swept.factors).index(factor)
    return fit.factors[at] if fit is not None else None


def largest(results: Results, name: str, factor: str) -> Interval | None:
    """What the factor's largest size has of its smallest one's, the other factor held."""
    fit, found = told(results, name).fit, effect(results, name, factor)
    if fit is None or found is None or not fit.relative or found.reference != 0:
        return None
    return {contrast.level: contrast.change for contrast in found.contrasts}.get(_LAST)


def claims(results: Results) -> Iterator[Claim]:
    """The statements of the published report, each against what was measured."""
    sizes = f"{paper()['sizes'][_LAST]} against {paper()['sizes'][0]}"
    both, alone = f"both at {sizes}", f"at {sizes}, the other held"
    yield judged(
        "with both sizes grown, write amplification falls",
        against_least(results, "w_amp_table", _LAST), falls=True, of=f"W-Amp, {both}",
    )  # fmt: skip
    for name, what in ((WRITTEN, "written"), ("compact_read_bytes", "read")):
        yield judged(
            f"the bytes {what} fall as well",
            against_least(results, name, _LAST), falls=True, of=f"bytes {what}, {both}",
        )  # fmt: skip
    for name, what in (("background_s", "time"), ("background_jobs", "number")):
        yield judged(
            f"so does the {what} of compactions",
            against_least(results, name, _LAST),
            falls=True, of=f"{what} of flushes and compactions, {both}",
        )  # fmt: skip
    yield judged(
        "a larger memtable answers more of the gets",
        largest(results, "memtable_hit", MEMTABLES), falls=False, of=f"memtable hits {alone}",
    )  # fmt: skip
    yield judged(
        "larger files by themselves raise write amplification",
        largest(results, "write_amp", FILES), falls=False, of=f"files {alone}",
    )  # fmt: skip
    yield judged(
        "larger memtables by themselves lower it",
        largest(results, "write_amp", MEMTABLES), falls=True, of=f"memtables {alone}",
    )  # fmt: skip
    yield _outweighs(results)


def _outweighs(results: Results) -> Claim:
    """Which factor moves write amplification further, the intervals of both considered."""
    statement = "the memtables matter more than the files"
    changes = [largest(results, "write_amp", factor) for factor in (MEMTABLES, FILES)]
    memtables, files = changes
    if memtables is None or files is None:
        return Claim(statement, "not decided", "too few runs")
    told = ", ".join(
        f"{factor} {times(change)}" for factor, change in ((MEMTABLES, memtables), (FILES, files))
    )
    finding: Finding = "not decided"
    if _least(memtables) > _most(files):
        finding = "confirmed"
    elif _least(files) > _most(memtables):
        finding = "contradicted"
    return Claim(statement, finding, f"write amplification, largest size of smallest: {told}")


def _least(change: Interval) -> float:
    """The least that a ratio may differ from 1, on a logarithmic scale."""
    if change.low <= 1 <= change.high:
        return 0.0
    return min(abs(log(change.low)), abs(log(change.high)))


def _most(change: Interval) -> float:
    return max(abs(log(change.low)), abs(log(change.high)))
