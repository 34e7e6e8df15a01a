"""Results of a controlled experiment in words, as rows of a table and as JSON.

A comparison of versions of RocksDB is such an experiment.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Cell, Swept, SweptMetric
from lsmtune.analysis.upgrade import Comparison, Upgrade, UpgradeMetric
from lsmtune.knobs.memory import FEWEST_FLUSHES
from lsmtune.learning.factorial import Contrast, FactorEffect
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.metric_words import Ratio, metric_value
from lsmtune.stats import Interval
from lsmtune.study_keys import VERSION
from lsmtune.units import format_bytes, format_duration
from lsmtune.verdict import Side
from lsmtune.workloads import Workload

SURE_P = 0.05
TOO_FEW_FLUSHES = "too few flushes"
"""Text in place of a value that was not measurable."""
_SURE_TO = 0.001
_LIBRARY = ("RocksDB", "SHA-256")

_PROOFS: dict[Side, str] = {
    "better": "proven better", "worse": "proven worse", "undecided": "not proven",
}  # fmt: skip


def answers(swept: Swept, metric: SweptMetric) -> Iterator[str]:
    """Yield one sentence per factor, the strongest first; then the interactions."""
    if metric.few_flushes:
        runs = sum(cell.runs for cell in metric.cells)
        yield (
            f"{TOO_FEW_FLUSHES} to tell which factor changes {metric.metric}: {metric.few_flushes} "
            f"of {runs} runs flushed their memtables fewer than {FEWEST_FLUSHES} times. Use more "
            "records or smaller memtables"
        )
        return
    if metric.fit is None:
        yield f"too few runs have a value of {metric.metric} to show the effect of a factor"
        return
    effects = zip(swept.factors.items(), metric.fit.factors, strict=True)
    relative = metric.fit.relative
    for (factor, levels), effect in sorted(effects, key=lambda pair: -pair[1].eta_squared):
        yield _sentence(metric.metric, factor, levels, effect, relative=relative)
    names = list(swept.factors)
    for pair in metric.fit.pairs:
        if pair.p < SURE_P:
            yield (
                f"the effect of {names[pair.first]} on {metric.metric} depends on the level of "
                f"{names[pair.second]}; this interaction explains {_share(pair.eta_squared)}, "
                f"{probability(pair.p)}"
            )
    if swept.hosts and metric.fit.hosts is None:
        yield (
            f"how much the hosts explain of {metric.metric} is unknown, because these runs cannot "
            "separate hosts from repeats"
        )
    elif metric.fit.hosts is not None:
        yield (
            f"the hosts explain {_share(metric.fit.hosts.eta_squared)} of {metric.metric}, "
            f"{probability(metric.fit.hosts.p)}; effects of factors do not contain this share"
        )


def short_answer(swept: Swept, metric: SweptMetric) -> str:
    """Return the strongest effect that is shown, in a few words."""
    if metric.few_flushes:
        return f"{TOO_FEW_FLUSHES} to tell which factor changes {metric.metric}"
    if metric.fit is None:
        return f"too few runs have a value of {metric.metric}"
    effects = zip(swept.factors.items(), metric.fit.factors, strict=True)
    shown = [pair for pair in effects if pair[1].p < SURE_P and pair[1].contrasts]
    if not shown:
        return f"no factor is shown to change {metric.metric}"
    (factor, levels), effect = max(shown, key=lambda pair: pair[1].eta_squared)
    change, _ = _change(metric.metric, levels, effect, relative=metric.fit.relative)
    return f"{factor} changes {metric.metric}: {change}"


def _strongest(effect: FactorEffect, *, relative: bool) -> Contrast:
    return max(
        effect.contrasts,
        key=lambda contrast: _strength(contrast.change.median, relative=relative),
    )


def _sentence(
    metric: str, factor: str, levels: tuple[str, ...], effect: FactorEffect, *, relative: bool
) -> str:
    """Return the effect of the strongest level, its share of the variance, and its p-value."""
    if not effect.contrasts:
        return f"{factor}: no effect on {metric} can be computed from these runs"
    change, interval = _change(metric, levels, effect, relative=relative)
    verb = "changes" if effect.p < SURE_P else "is not shown to change"
    return (
        f"{factor} {verb} {metric}: {change} (95 % interval {interval}); {factor} explains "
        f"{_share(effect.eta_squared)}, {probability(effect.p)}"
    )


def _change(
    metric: str, levels: tuple[str, ...], effect: FactorEffect, *, relative: bool
) -> tuple[str, str]:
    """Return the change at the strongest level, and its interval."""
    strongest = _strongest(effect, relative=relative)
    level, reference = levels[strongest.level], levels[effect.reference]
    found = strongest.change
    if relative:
        ratio = f"{found.median:.3g} \N{MULTIPLICATION SIGN}"
        return (
            f"{level} has {ratio} the value of {reference}",
            f"{found.low:.3g} to {found.high:.3g}",
        )
    side = "less" if found.median < 0 else "more"
    change = f"{level} has {_amount(metric, abs(found.median))} {side} than {reference}"
    return change, f"{_signed(metric, found.low)} to {_signed(metric, found.high)}"


def _signed(metric: str, value: float) -> str:
    sign = "\N{MINUS SIGN}" if value < 0 else "+"
    return f"{sign}{_amount(metric, abs(value))}"


def _amount(metric: str, value: float) -> str:
    """Return a value of the metric with its unit."""
    unit = METRICS[metric].unit
    if unit == "bytes":
        return format_bytes(value)
    if unit == "s":
        return format_duration(value)
    return f"{value:.3g}" if unit == "ratio" else f"{value:.3g} {unit}"


def _share(eta_squared: float) -> str:
    return f"{100 * eta_squared:.0f} % of the variance"


def _strength(value: float, *, relative: bool) -> float:
    return max(value, 1 / value) if relative else abs(value)


def mean_word(metric: SweptMetric) -> str:
    """Return which mean the cells of the metric have."""
    return "geometric mean" if metric.geometric else "mean"


def probability(p: float) -> str:
    """Return a p-value as text."""
    return f"p < {_SURE_TO}" if p < _SURE_TO else f"p = {p:.2g}"


def rows(swept: Swept) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a table: one row per cell, the baseline first."""
    heads = [*swept.factors, *(_LIBRARY if swept.libraries else ()), "runs", "disturbed"]
    for metric in swept.metrics:
        name = metric.metric
        heads += [name, f"{name} low", f"{name} high", f"{name} / base"]
    cells = {cell.levels for metric in swept.metrics for cell in metric.cells}
    order = [levels for levels in product(*swept.factors.values()) if levels in cells]
    base = ["base", *[""] * (len(swept.factors) - 1), *_library(swept, ())]
    found = [[*base, *_numbers([m.base for m in swept.metrics])]]
    for levels in order:
        of_metric = [{cell.levels: cell for cell in metric.cells} for metric in swept.metrics]
        names = [*levels, *_library(swept, levels)]
        found.append([*names, *_numbers([cells.get(levels) for cells in of_metric])])
    return heads, found


def workload_size(workload: Workload) -> str:
    """Return name and number of records of the workload."""
    records = f", {workload.num:,} records" if workload.definition.has("num") else ""
    return f"{workload.name}{records}"


def head_lines(swept: Swept, view: StudyView) -> Iterator[str]:
    """Yield what ran: runs, workload, machine and engine."""
    failed = f", {swept.failed} failed" if swept.failed else ""
    yield f"{swept.name}: {swept.runs} runs, {swept.blocks} repeats{failed}"
    yield f"workload: {workload_size(view.workload)}, scale {view.scale}"
    yield f"machine: {view.host.text}"
    if swept.hosts:
        yield f"hosts: {', '.join(swept.hosts)}"
    if swept.libraries:
        yield from library_lines(swept)
    else:
        yield f"engine: {view.engine} {view.engine_version}"


def cell_rows(metric: SweptMetric) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row per cell, the baseline first: levels, mean, its interval, ratio to the baseline.

    The ratio has its interval.
    """
    for cell in (metric.base, *metric.cells):
        name = " / ".join(cell.levels) or "baseline"
        if cell.few_flushes:
            yield name, TOO_FEW_FLUSHES, "", ""
            continue
        interval = ratio = ""
        if cell.interval is not None:
            low, high = (
                metric_value(metric.metric, x) for x in (cell.interval.low, cell.interval.high)
            )
            interval = f"{low} to {high}"
        if cell.ratio is not None:
            ratio = str(Ratio.of(cell.ratio))
        yield name, metric_value(metric.metric, cell.mean), interval, ratio


def library_lines(swept: Swept) -> Iterator[str]:
    """Yield version, source and SHA-256 of each library of RocksDB that ran."""
    for version, origin in swept.libraries.items():
        yield f"RocksDB {version}: {origin.source}, SHA-256 {origin.sha256}"


def _library(swept: Swept, levels: tuple[str, ...]) -> list[str]:
    """Return version and SHA-256 of the library that ran a cell; empty if a program ran."""
    if not swept.libraries:
        return []
    version = swept.version(levels)
    return [version, swept.libraries[version].sha256]


def _numbers(cells: Sequence[Cell | None]) -> list[str]:
    """Return runs, disturbed runs, and per metric mean, its interval and ratio, if known."""
    known = [cell for cell in cells if cell is not None]
    texts = [str(max(cell.runs for cell in known)), str(max(cell.disturbed for cell in known))]
    for cell in cells:
        if cell is None or cell.few_flushes:
            texts += ["", "", "", ""]
        else:
            texts += [f"{cell.mean:.6g}", *_bounds(cell.interval)]
            texts.append("" if cell.ratio is None else f"{cell.ratio.median:.3g}")
    return texts


def _bounds(interval: Interval | None) -> tuple[str, str]:
    return ("", "") if interval is None else (f"{interval.low:.6g}", f"{interval.high:.6g}")


def swept_document(swept: Swept) -> dict[str, Any]:
    """Return the experiment as one JSON document."""
    names = list(swept.factors)
    return {
        "study": swept.name,
        "factors": {name: {"knobs": swept.knobs[name], "levels": levels}
                    for name, levels in swept.factors.items()},
        "fixed": swept.fixed,
        "libraries": {version: origin.model_dump() for version, origin in swept.libraries.items()},
        "blocks": swept.blocks,
        "runs": swept.runs,
        "failed": swept.failed,
        **({"hosts": list(swept.hosts)} if swept.hosts else {}),
        "warnings": list(swept.warnings),
        "metrics": {
            metric.metric: {
                "base": asdict(metric.base),
                "cells": [asdict(cell) for cell in metric.cells],
                "geometric": metric.geometric,
                "relative": metric.fit and metric.fit.relative,
                "factors": {name: asdict(effect)
                            for name, effect in zip(names, metric.fit.factors, strict=True)}
                if metric.fit else None,
                "pairs": [{**asdict(pair), "first": names[pair.first],
                           "second": names[pair.second]} for pair in metric.fit.pairs]
                if metric.fit else None,
                **({"hosts": metric.fit and metric.fit.hosts and asdict(metric.fit.hosts)}
                   if swept.hosts else {}),
                "answers": list(answers(swept, metric)),
            }
            for metric in swept.metrics
        },
    }  # fmt: skip


def upgrade_answers(upgrade: Upgrade, metric: UpgradeMetric) -> Iterator[str]:
    """Yield two sentences: what the upgrade does, and what the winner does on each version."""
    upgrades = (
        f"RocksDB {c.version} has {_told(c, f'the value of RocksDB {upgrade.own}')}"
        for c in metric.upgrades
    )
    yield f"{metric.metric}: with the options of the baseline, {', '.join(upgrades)}"
    winners = (
        f"{_told(c, 'the value of the baseline')} on RocksDB {c.version}" for c in metric.winners
    )
    yield f"{metric.metric}: the winner has {', '.join(winners)}"


def comparison_text(comparison: Comparison) -> str:
    """Return a ratio with its interval and whether it is proven."""
    if comparison.ratio is None:
        return "not measured"
    ratio = comparison.ratio
    return (
        f"{ratio.median:.3g} \N{MULTIPLICATION SIGN} ({ratio.low:.3g}\N{EN DASH}{ratio.high:.3g}), "
        f"{_PROOFS[comparison.side]}"
    )


def _told(comparison: Comparison, against: str) -> str:
    ratio = comparison.ratio
    if ratio is None:
        return f"no ratio to {against} (not proven: too few runs, or a value is 0)"
    low, high = f"{ratio.low:.3g}", f"{ratio.high:.3g}"
    return (
        f"{ratio.median:.3g} \N{MULTIPLICATION SIGN} {against} (95 % interval {low} to {high}, "
        f"{_PROOFS[comparison.side]})"
    )


def upgrade_document(upgrade: Upgrade) -> dict[str, Any]:
    """Return the answer as JSON."""
    return {
        VERSION: upgrade.own,
        "comparisons": upgrade.comparisons,
        "metrics": {
            metric.metric: {
                "upgrade": {c.version: c.document() for c in metric.upgrades},
                "winner": {c.version: c.document() for c in metric.winners},
                "answers": list(upgrade_answers(upgrade, metric)),
            }
            for metric in upgrade.metrics
        },
    }
