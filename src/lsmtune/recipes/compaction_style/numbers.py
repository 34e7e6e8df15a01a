"""What becomes of the published conclusions on each engine."""

from collections.abc import Iterator
from typing import Any

from lsmtune.metrics.measurement import Level
from lsmtune.recipes.compaction_style.study import LEVEL, STYLES, UNIVERSAL, Part, Results
from lsmtune.recipes.experiment import metric
from lsmtune.recipes.published import Claim, Finding, judged, published
from lsmtune.recipes.tree_section import deepest
from lsmtune.stats import Interval


def paper() -> dict[str, Any]:
    """What was published."""
    return published(__package__)


def universal_of_level(part: Part, name: str) -> Interval | None:
    """What universal compaction has of level compaction's metric, block by block."""
    return part.experiment.ratio((UNIVERSAL,), (LEVEL,), metric(name))


def tree(part: Part, style: int) -> tuple[Level, ...]:
    """The levels that the first run under a style has left."""
    return next(iter(part.experiment.trees.get((style,), ())), ())


def claims(results: Results) -> Iterator[Claim]:
    """The published conclusions, then what its tables show besides, on each engine."""
    for part in results.parts:
        yield judged(
            f"{part.title}: level compaction takes a little more space",
            universal_of_level(part, "live_sst_bytes"), falls=True, of="universal / level",
        )  # fmt: skip
        yield _depth(part)
        yield judged(
            f"{part.title}: universal compaction writes less",
            universal_of_level(part, "write_amp"), falls=True,
            of="exact write amplification, universal / level",
        )  # fmt: skip
        yield judged(
            f"{part.title}: it spends less time in flushes and compactions",
            universal_of_level(part, "background_s"), falls=True, of="universal / level",
        )  # fmt: skip


def _depth(part: Part) -> Claim:
    statement = f"{part.title}: under universal compaction data lie in much deeper levels"
    level, universal = (
        [d for t in part.experiment.trees.get((style,), ()) if (d := deepest(t)) is not None]
        for style in (LEVEL, UNIVERSAL)
    )
    if not level or not universal:
        return Claim(statement, "not decided", "no tree was measured")
    told = (
        f"L{min(depths)}" + (f" to L{max(depths)}" if len(set(depths)) > 1 else "") + f" under {s}"
        for depths, s in zip((level, universal), STYLES, strict=True)
    )
    finding: Finding = "not decided"
    if min(universal) > max(level) + 1:
        finding = "confirmed"
    elif max(universal) <= min(level):
        finding = "contradicted"
    return Claim(statement, finding, f"deepest level with data in all runs: {', '.join(told)}")
