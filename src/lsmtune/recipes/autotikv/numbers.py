"""Each recommendation beside the published one, judged by the experiment around it, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from lsmtune.knobs.types import Knob, Value
from lsmtune.metrics.definitions import METRICS
from lsmtune.recipes.autotikv.study import NAMES, RECOMMENDED, Name, Part, Results, paper, told
from lsmtune.recipes.experiment import Cell, metric
from lsmtune.recipes.experiment import Value as Read
from lsmtune.recipes.published import times
from lsmtune.report.words import Ratio, Side, label, number, quantity
from lsmtune.stats import Interval, mean_interval

Finding = Literal["agrees", "disagrees", "makes no difference here", "not decided"]
FINDINGS: tuple[Finding, ...] = (
    "agrees", "makes no difference here", "disagrees", "not decided"
)  # fmt: skip

LITTLE = 1.1
"""What makes no difference differs by less than this factor, whole interval."""
_PAIRS = 2
_WORTH_TELLING = 0.02
"""What differs by less, however surely, explains nothing."""
_OPERATION: dict[Name, str] = {
    "writeheavy": "write", "pntlookup-a": "get", "pntlookup-b": "get", "shortscan": "scan"
}  # fmt: skip
_SHARES = {
    "cache_hit_data": "data blocks",
    "cache_hit_index": "index blocks",
    "cache_hit_filter": "filter blocks",
}
_COUNTS = {"block_reads": "{} blocks are read", "bloom_useful": "filters spare {} block reads"}


@dataclass(frozen=True, slots=True)
class Claim:
    """A recommended value: what was published, what is recommended here, and what follows.

    `evidence` is what the knob does to what was asked for, `why` what else it moves.
    """

    name: Name
    knob: str
    statement: str
    here: str
    finding: Finding
    evidence: str
    why: str
    published_why: str


def claims(results: Results) -> Iterator[Claim]:
    """Every published recommendation, in the order of the post."""
    for name in NAMES:
        for theirs in paper()[name]["recommended"]:
            yield _claim(results.parts[name], theirs)


def knob_of(part: Part, name: str) -> Knob:
    """A knob of the search."""
    return next(knob for knob in part.knobs if knob.name == name)


def ratio_to(part: Part, cell: Cell, against: Cell, comparisons: int = 1) -> Interval | None:
    """What a cell has of another one's in what was asked for, block by block.

    It is one of so many comparisons, whose intervals hold together at 95 %.
    """
    value = metric(part.metric)
    return part.experiment.ratio(cell, against, value, comparisons=comparisons)


def side(part: Part, cell: Cell, against: Cell, comparisons: int) -> Side | None:
    """Whether a cell is better than another one, or worse; None where too few runs tell."""
    ratio = ratio_to(part, cell, against, comparisons)
    return None if ratio is None else Ratio.of(ratio).gain(part.metric).side


def _claim(part: Part, theirs: dict[str, Any]) -> Claim:
    knob, values = knob_of(part, theirs["knob"]), tuple(theirs["values"])
    indifferent = theirs.get("indifferent", False)
    others = len(part.cells[knob.name]) - len(values)
    count = len(part.cells[knob.name]) - 1 if indifferent else len(values) * others
    finding = _indifferent(part, knob, count) if indifferent else _judged(part, knob, values, count)
    shown, against = _extremes(part, knob, None if indifferent else values, finding)
    words = " or ".join(told(knob, value) for value in values)
    return Claim(
        name=part.name,
        knob=knob.name,
        statement=f"{paper()[part.name]['title']}: {knob.name} "
        + ("matters little" if indifferent else f"= {words}"),
        here=told(knob, part.recommended[knob.name]),
        finding=finding,
        evidence=_evidence(part, knob, shown, against, count),
        why=_why(part, knob, shown, against),
        published_why=theirs["why"],
    )


def _judged(part: Part, knob: Knob, values: tuple[Value, ...], count: int) -> Finding:
    """Whether another value is better than all of theirs, or else worse than all of them.

    The intervals of all `count` comparisons hold together, so that none decides by luck.
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
    """Whether no value differs by much from the recommended one, or one certainly does."""
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
    """The two values that show what the knob does.

    The value that was found least good, and the recommended one; where that is not the published
    one (`values`), the best of these instead of the least good. Where these are disagreed with,
    their best and the best of all others.
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


def _why(part: Part, knob: Knob, shown: Value, against: Value) -> str:
    """What was measured besides, at one value of a knob against another."""
    cells = part.cells[knob.name]
    found = list(moved(part, cells[shown], cells[against]))
    begin = f"with {told(knob, shown)} instead of {told(knob, against)}"
    if not found:
        return f"{begin} neither the blocks that are read nor what filters and cache spare differ"
    return f"{begin} {'; '.join(found)}"


def moved(part: Part, cell: Cell, against: Cell) -> Iterator[str]:
    """What is decidedly otherwise in a cell than in another, in words."""
    experiment, operation = part.experiment, _OPERATION[part.name]
    for swept in experiment.swept.metrics:
        name = swept.metric
        after, before = (experiment.mean(c, metric(name)) for c in (cell, against))
        if after is None or before is None or not _differs(part, cell, against, metric(name)):
            continue
        if abs(after - before) < _WORTH_TELLING * max(after, before):
            continue
        if name in _SHARES:
            yield f"{_share(after)} of the {_SHARES[name]} are in the cache, not {_share(before)}"
        elif name in _COUNTS:
            yield f"{_COUNTS[name].format(number(after))} a {operation}, not {number(before)}"
        elif name == "sustained_ops_s":
            unit = METRICS[name].unit
            yield (
                f"with all that is left to be compacted {quantity(after, unit)} are written, not "
                f"{quantity(before, unit)}"
            )
        elif name == "settle_s":
            yield f"settling takes {quantity(after, 's')}, not {quantity(before, 's')}"
    yield from _files(part, cell, against)


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _differs(part: Part, cell: Cell, against: Cell, value: Read) -> bool:
    """Whether the differences within the blocks are decidedly not 0."""
    found, other = (part.experiment.by_block(c, value) for c in (cell, against))
    pairs = [found[block] - other[block] for block in sorted(found.keys() & other.keys())]
    if len(pairs) < _PAIRS:
        return False
    interval = mean_interval(pairs)
    return interval.low > 0 or interval.high < 0


def _files(part: Part, cell: Cell, against: Cell) -> Iterator[str]:
    """How many files level 0 holds, where reads have found the trees."""
    if part.experiment.load.kind != "read":
        return
    after, before = (_level_0(part, c) for c in (cell, against))
    if after and before and (min(after) > max(before) or max(after) < min(before)):
        yield f"level 0 holds {_span(after)} files, not {_span(before)}"


def _level_0(part: Part, cell: Cell) -> list[int]:
    trees = part.experiment.trees.get(cell, ())
    return [sum(level.files for level in tree if level.level == "L0") for tree in trees]


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
