"""Results for the published conclusions, on each engine."""

from collections.abc import Iterator
from typing import Any

from lsmtune.analysis.experiment_runs import metric
from lsmtune.metrics.measurement import Level
from lsmtune.recipes.compaction_style.study import LEVEL, STYLES, UNIVERSAL, Part, Results
from lsmtune.recipes.published import Claim, Finding, judged, published, unjudged
from lsmtune.recipes.tree_section import deepest
from lsmtune.stats import Interval


def paper() -> dict[str, Any]:
    """Return the published numbers."""
    return published(__package__)


def universal_of_level(part: Part, name: str) -> Interval | None:
    """Return the ratio of a metric under universal compaction to level compaction."""
    return part.experiment.ratio((UNIVERSAL,), (LEVEL,), metric(name))


def tree(part: Part, style: int) -> tuple[Level, ...]:
    """Return the levels after the first run of a style."""
    return next(iter(part.experiment.trees.get((style,), ())), ())


def claims(results: Results) -> Iterator[Claim]:
    """Yield the conclusions, then what the published tables also show, for each engine."""
    for part in results.parts:
        yield from unjudged(_claims(part), part.experiment.too_small())


def _claims(part: Part) -> Iterator[Claim]:
    yield judged(
        f"{part.title}: level compaction uses a little more space than universal compaction",
        universal_of_level(part, "live_sst_bytes"),
        falls=True, of="size of the live files, universal / level",
    )  # fmt: skip
    yield _depth(part)
    yield judged(
        f"{part.title}: universal compaction writes less data than level compaction",
        universal_of_level(part, "write_amp"), falls=True,
        of="write amplification, universal / level",
    )  # fmt: skip
    yield judged(
        f"{part.title}: universal compaction spends less time in flushes and compactions than "
        "level compaction",
        universal_of_level(part, "background_s"),
        falls=True, of="time of flushes and compactions, universal / level",
    )  # fmt: skip


def _depth(part: Part) -> Claim:
    statement = (
        f"{part.title}: under universal compaction, data is in much deeper levels than under "
        "level compaction"
    )
    level, universal = (
        [d for t in part.experiment.trees.get((style,), ()) if (d := deepest(t)) is not None]
        for style in (LEVEL, UNIVERSAL)
    )
    if not level or not universal:
        return Claim(statement, "not decided", "no run recorded the levels of the LSM tree")
    depths = (
        f"{style} compaction L{min(found)}" + (f" to L{max(found)}" if len(set(found)) > 1 else "")
        for found, style in zip((level, universal), STYLES, strict=True)
    )
    finding: Finding = "not decided"
    if min(universal) > max(level) + 1:
        finding = "confirmed"
    elif max(universal) <= min(level):
        finding = "contradicted"
    return Claim(statement, finding, f"deepest level that contains data: {', '.join(depths)}")
