"""Published recommendations, compared with the experiments around the recommendations here."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from lsmtune.analysis.experiment_runs import Cell, metric
from lsmtune.analysis.experiment_runs import Value as Read
from lsmtune.knobs.types import Knob, Value
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.metric_words import label
from lsmtune.report.text.words import number, quantity
from lsmtune.stats import Interval, mean_interval
from lsmtune.verdict import Side, side_of
from lsmtune_reproductions.recipes.autotikv.study import (
    NAMES,
    RECOMMENDED,
    Name,
    Part,
    Results,
    paper,
    told,
)
from lsmtune_reproductions.recipes.published import times

Finding = Literal[
    "agrees", "disagrees", "makes no difference here", "not decided", "not judged"
]  # fmt: skip
FINDINGS: tuple[Finding, ...] = (
    "agrees", "makes no difference here", "disagrees", "not decided", "not judged"
)  # fmt: skip

EFFECTLESS = "has little effect"
"""End of the statement about a knob without a recommended value."""
LITTLE = 1.1
"""A knob makes no difference if all its intervals are within this factor."""
_PAIRS = 2
_MIN_CHANGE = 0.02
"""A smaller change, even a certain one, explains nothing."""
_OPERATION: dict[Name, str] = {
    "writeheavy": "write", "pntlookup-a": "get", "pntlookup-b": "get", "shortscan": "scan"
}  # fmt: skip
_SHARES = {
    "cache_hit_data": "data blocks",
    "cache_hit_index": "index blocks",
    "cache_hit_filter": "filter blocks",
}
_COUNTS = {"block_reads": "blocks read", "bloom_useful": "block reads avoided by filters"}


Change = tuple[str, str, str]
"""A metric in words, and its values with the first and the second compared value of a knob."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A published recommendation, the recommendation here, and the result of comparing them.

    `evidence` is the effect of the knob on the objective, `why` its effect on other metrics. Both
    compare the values `compared`. `changes` has the other metrics with both their values.
    """

    name: Name
    knob: str
    statement: str
    here: str
    finding: Finding
    evidence: str
    why: str
    published_why: str
    compared: tuple[str, str]
    changes: tuple[Change, ...]


def claims(results: Results) -> Iterator[Claim]:
    """Yield every published recommendation with its result, in the order of the post."""
    for name in NAMES:
        part = results.parts[name]
        reason = part.experiment.too_small()
        for theirs in paper()[name]["recommended"]:
            claim = _claim(part, theirs)
            yield claim if reason is None else replace(
                claim, finding="not judged", evidence=reason, why="", changes=()
            )  # fmt: skip


def too_small(results: Results) -> str | None:
    """Return why the runs of some search write too little data to be judged, or None."""
    reasons = (part.experiment.too_small() for part in results.parts.values())
    return next((reason for reason in reasons if reason is not None), None)


def knob_of(part: Part, name: str) -> Knob:
    """Return a knob of the search."""
    return next(knob for knob in part.knobs if knob.name == name)


def ratio_to(part: Part, cell: Cell, against: Cell, comparisons: int = 1) -> Interval | None:
    """Return the ratio of the objective metric in one cell to another, over the blocks.

    With several `comparisons`, all their intervals together have 95 % confidence.
    """
    value = metric(part.metric)
    return part.experiment.ratio(cell, against, value, comparisons=comparisons)


def side(part: Part, cell: Cell, against: Cell, comparisons: int) -> Side | None:
    """Return whether a cell is better or worse than another; None if there are too few runs."""
    ratio = ratio_to(part, cell, against, comparisons)
    return None if ratio is None else side_of(part.metric, ratio)


def _claim(part: Part, theirs: dict[str, Any]) -> Claim:
    knob, values = knob_of(part, theirs["knob"]), tuple(theirs["values"])
    indifferent = theirs.get("indifferent", False)
    others = len(part.cells[knob.name]) - len(values)
    count = len(part.cells[knob.name]) - 1 if indifferent else len(values) * others
    finding = _indifferent(part, knob, count) if indifferent else _judged(part, knob, values, count)
    shown, against = _extremes(part, knob, None if indifferent else values, finding)
    words = " or ".join(told(knob, value) for value in values)
    cells = part.cells[knob.name]
    compared = (told(knob, shown), told(knob, against))
    changes = tuple(moved(part, cells[shown], cells[against]))
    return Claim(
        name=part.name,
        knob=knob.name,
        statement=f"{paper()[part.name]['title']}: {knob.name} "
        + (EFFECTLESS if indifferent else f"= {words}"),
        here=told(knob, part.recommended[knob.name]),
        finding=finding,
        evidence=_evidence(part, knob, shown, against, count),
        why=_why(compared, changes),
        published_why=theirs["why"],
        compared=compared,
        changes=changes,
    )


def _judged(part: Part, knob: Knob, values: tuple[Value, ...], count: int) -> Finding:
    """Return whether another value is better than all published ones, or worse than all.

    The intervals of all `count` comparisons together have 95 % confidence, so that chance does not
    decide one of them.
    """
    cells = part.cells[knob.name]
    theirs = [cells[value] for value in values]
    others = [cell for value, cell in cells.items() if value not in values]
    sides = [{side(part, other, cell, count) for cell in theirs} for other in others]
    if any(None in found for found in sides):
        return "not decided"
    if {"better"} in sides:
        return "disagrees"
    if {"worse"} in sides:
        return "agrees"
    ratios = _of_recommended(part, knob, count)
    return "makes no difference here" if all(map(_is_little, ratios)) else "not decided"


def _indifferent(part: Part, knob: Knob, count: int) -> Finding:
    """Return whether no value differs much from the recommended one, or one certainly does."""
    ratios = _of_recommended(part, knob, count)
    if any(ratio and (ratio.low > LITTLE or ratio.high < 1 / LITTLE) for ratio in ratios):
        return "disagrees"
    return "agrees" if all(map(_is_little, ratios)) else "not decided"


def _of_recommended(part: Part, knob: Knob, count: int) -> list[Interval | None]:
    cells = [cell for cell in part.cells[knob.name].values() if cell != RECOMMENDED]
    return [ratio_to(part, cell, RECOMMENDED, count) for cell in cells]


def _is_little(ratio: Interval | None) -> bool:
    return ratio is not None and ratio.low > 1 / LITTLE and ratio.high < LITTLE


def _extremes(
    part: Part, knob: Knob, values: tuple[Value, ...] | None, finding: Finding
) -> tuple[Value, Value]:
    """Return the two values that show the effect of the knob.

    They are the worst value and the recommended one. If the recommended value is not among the
    published `values`, the best published value replaces the worst one. If the finding is
    "disagrees", they are the best published value and the best of all others.
    """
    ours = part.recommended[knob.name]
    costs = {value: _cost(part, cell) for value, cell in part.cells[knob.name].items()}
    if values is None or (ours in values and finding != "disagrees"):
        return max((value for value in costs if value != ours), key=costs.__getitem__), ours
    best = min((value for value in costs if value not in values), key=costs.__getitem__)
    return min(values, key=costs.__getitem__), best if finding == "disagrees" else ours


def _cost(part: Part, cell: Cell) -> float:
    mean = part.experiment.mean(cell, metric(part.metric))
    if mean is None:
        return float("inf")
    return -mean if METRICS[part.metric].better == "higher" else mean


def _evidence(part: Part, knob: Knob, shown: Value, against: Value, count: int) -> str:
    cells = part.cells[knob.name]
    ratio = ratio_to(part, cells[shown], cells[against], count)
    what = f"{label(part.metric)}, {told(knob, shown)} / {told(knob, against)}"
    return f"{what}: {times(ratio)}" if ratio else f"{what}: too few runs"


def _why(compared: tuple[str, str], changes: tuple[Change, ...]) -> str:
    """Return what else changes with one value of a knob instead of another."""
    begin = " instead of ".join(compared)
    if not changes:
        return f"{begin}: no clear change in blocks read, filter checks or cache hits"
    texts = (f"{what} {after} instead of {before}" for what, after, before in changes)
    return f"{begin}: {', '.join(texts)}"


def moved(part: Part, cell: Cell, against: Cell) -> Iterator[Change]:
    """Yield the metrics that clearly differ between two cells."""
    experiment, operation = part.experiment, _OPERATION[part.name]
    for swept in experiment.swept.metrics:
        name = swept.metric
        after, before = (experiment.mean(c, metric(name)) for c in (cell, against))
        if after is None or before is None or not _differs(part, cell, against, metric(name)):
            continue
        if abs(after - before) < _MIN_CHANGE * max(after, before):
            continue
        if name in _SHARES:
            yield f"{_SHARES[name]} in the cache", _share(after), _share(before)
        elif name in _COUNTS:
            yield f"{_COUNTS[name]} per {operation}", number(after), number(before)
        elif name == "sustained_ops_s":
            unit = METRICS[name].unit
            what = "writes per second, including the time of pending compactions"
            yield what, quantity(after, unit), quantity(before, unit)
        elif name == "settle_s":
            yield "time of the pending compactions", quantity(after, "s"), quantity(before, "s")
    yield from _files(part, cell, against)


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _differs(part: Part, cell: Cell, against: Cell, value: Read) -> bool:
    """Return whether the interval of the differences over the blocks excludes 0."""
    found, other = (part.experiment.by_block(c, value) for c in (cell, against))
    pairs = [found[block] - other[block] for block in sorted(found.keys() & other.keys())]
    if len(pairs) < _PAIRS:
        return False
    interval = mean_interval(pairs)
    return interval.low > 0 or interval.high < 0


def _files(part: Part, cell: Cell, against: Cell) -> Iterator[Change]:
    """Yield the number of files in level 0, if the workload reads a built tree."""
    if part.experiment.load.kind != "read":
        return
    after, before = (_level_0(part, c) for c in (cell, against))
    if after and before and (min(after) > max(before) or max(after) < min(before)):
        yield "files in level 0", _span(after), _span(before)


def _level_0(part: Part, cell: Cell) -> list[int]:
    trees = part.experiment.trees.get(cell, ())
    return [sum(level.files for level in tree if level.level == "L0") for tree in trees]


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
