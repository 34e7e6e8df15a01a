"""Results for the published conclusions, on each engine."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from lsmtune.analysis.experiment_runs import metric
from lsmtune.metrics.measurement import Level
from lsmtune.stats import Interval
from lsmtune_reproductions.recipes.compaction_style.study import (
    LEVEL,
    STYLES,
    UNIVERSAL,
    Part,
    Results,
)
from lsmtune_reproductions.recipes.published import (
    Claim,
    Finding,
    judged,
    published,
    stated_claims,
    unjudged,
)
from lsmtune_reproductions.recipes.tree_section import deepest

paper = partial(published, __package__)
"""Function that returns the published numbers."""


def universal_of_level(part: Part, name: str) -> Interval | None:
    """Return the ratio of a metric under universal compaction to level compaction."""
    return part.experiment.ratio((UNIVERSAL,), (LEVEL,), metric(name))


def tree(part: Part, style: int) -> tuple[Level, ...]:
    """Return the levels after the first run of a style."""
    return part.experiment.first_tree((style,))


def claims(results: Results) -> Iterator[Claim]:
    """Yield the conclusions, then what the published tables also show, for each engine."""
    for part in results.parts:
        yield from unjudged(_claims(part), part.experiment.too_small())


def _claims(part: Part) -> Iterator[Claim]:
    conclusion, *shown = (_of_ratio(part, row) for row in stated_claims(__package__))
    yield conclusion
    yield _depth(part)
    yield from shown


def _of_ratio(part: Part, row: dict[str, Any]) -> Claim:
    ratio = universal_of_level(part, row["metric"])
    return judged(f"{part.title}: {row['claim']}", ratio, falls=row["falls"], of=row["ratio"])


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
