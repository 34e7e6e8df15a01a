"""The answer of a controlled experiment in words, and as rows and JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

from lsmtune.analysis.swept import Cell, Swept, SweptMetric
from lsmtune.learning.factorial import FactorEffect

SURE_P = 0.05
_SURE_TO = 0.001


def answers(swept: Swept, metric: SweptMetric) -> Iterator[str]:
    """A sentence a factor, the one that moved the metric most first; then what acts together."""
    if metric.fit is None:
        yield f"too few runs measured {metric.metric} to tell a factor from noise"
        return
    effects = zip(swept.factors.items(), metric.fit.factors, strict=True)
    relative = metric.fit.relative
    for (factor, levels), effect in sorted(effects, key=lambda pair: -pair[1].eta_squared):
        yield _sentence(metric.metric, factor, levels, effect, relative=relative)
    names = list(swept.factors)
    for pair in metric.fit.pairs:
        if pair.p < SURE_P:
            yield (
                f"{names[pair.first]} and {names[pair.second]} act together on {metric.metric}: "
                f"what one does depends on the other ({pair.eta_squared:.0%} of the variance, "
                f"{probability(pair.p)})"
            )


def _sentence(
    metric: str, factor: str, levels: tuple[str, ...], effect: FactorEffect, *, relative: bool
) -> str:
    """What the strongest level does against the first, how much of the variance, how sure."""
    if not effect.contrasts:
        return f"what {factor} does to {metric} cannot be told from the runs that were measured"
    strongest = max(
        effect.contrasts,
        key=lambda contrast: _strength(contrast.change.median, relative=relative),
    )
    moved, first = strongest.change, levels[effect.reference]
    if relative:
        change = f"{moved.median:.3g} x ({moved.low:.3g} to {moved.high:.3g}) that at {first}"
    else:
        change = f"{moved.median:+.3g} ({moved.low:+.3g} to {moved.high:+.3g}) against {first}"
    verb = "moved" if effect.p < SURE_P else "is not shown to move"
    return (
        f"{factor} {verb} {metric}: at {levels[strongest.level]} it is {change}; "
        f"{effect.eta_squared:.0%} of the variance, {probability(effect.p)}"
    )


def _strength(value: float, *, relative: bool) -> float:
    return max(value, 1 / value) if relative else abs(value)


def probability(p: float) -> str:
    """A p-value in words."""
    return f"p < {_SURE_TO}" if p < _SURE_TO else f"p = {p:.2g}"


def rows(swept: Swept) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table with a cell a row and the base first; means and half widths."""
    heads = [*swept.factors, "runs"]
    for metric in swept.metrics:
        heads += [metric.metric, f"{metric.metric} ±", f"{metric.metric} / base"]
    cells = {cell.levels for metric in swept.metrics for cell in metric.cells}
    order = [levels for levels in product(*swept.factors.values()) if levels in cells]
    found = [["base", *[""] * (len(swept.factors) - 1), *_numbers([m.base for m in swept.metrics])]]
    for levels in order:
        of_metric = [{cell.levels: cell for cell in metric.cells} for metric in swept.metrics]
        found.append([*levels, *_numbers([cells.get(levels) for cells in of_metric])])
    return heads, found


def _numbers(cells: Sequence[Cell | None]) -> list[str]:
    """Runs, and for each metric the mean, half its interval and the ratio; empty where not told."""
    texts = [str(max(cell.runs for cell in cells if cell is not None))]
    for cell in cells:
        if cell is None:
            texts += ["", "", ""]
        else:
            ratio = "" if cell.ratio is None else f"{cell.ratio.median:.3g}"
            texts += [f"{cell.mean:.6g}", _half_width(cell), ratio]
    return texts


def _half_width(cell: Cell) -> str:
    if cell.interval is None:
        return ""
    return f"{(cell.interval.high - cell.interval.low) / 2:.3g}"


def swept_document(swept: Swept) -> dict[str, Any]:
    """The experiment as one JSON document."""
    names = list(swept.factors)
    return {
        "study": swept.name,
        "factors": {name: {"knobs": swept.knobs[name], "levels": levels}
                    for name, levels in swept.factors.items()},
        "fixed": swept.fixed,
        "blocks": swept.blocks,
        "runs": swept.runs,
        "failed": swept.failed,
        "warnings": list(swept.warnings),
        "metrics": {
            metric.metric: {
                "base": asdict(metric.base),
                "cells": [asdict(cell) for cell in metric.cells],
                "relative": metric.fit and metric.fit.relative,
                "factors": {name: asdict(effect)
                            for name, effect in zip(names, metric.fit.factors, strict=True)}
                if metric.fit else None,
                "pairs": [{**asdict(pair), "first": names[pair.first],
                           "second": names[pair.second]} for pair in metric.fit.pairs]
                if metric.fit else None,
                "answers": list(answers(swept, metric)),
            }
            for metric in swept.metrics
        },
    }  # fmt: skip
