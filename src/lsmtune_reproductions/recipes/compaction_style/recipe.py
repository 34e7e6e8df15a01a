"""Recipe compaction-style: its studies, its page, and its JSON document."""

from typing import Any

from lsmtune.report.text.swept_words import swept_document
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.compaction_style.numbers import claims, paper, tree
from lsmtune_reproductions.recipes.compaction_style.page import answer, render_compaction_style
from lsmtune_reproductions.recipes.compaction_style.study import (
    LEVEL,
    STYLES,
    UNIVERSAL,
    Part,
    run,
    specs,
)
from lsmtune_reproductions.recipes.opening import too_small_line


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the experiment of each engine."""
    return tuple(specs(asked).values())


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found = list(claims(results))
    document = {
        "recipe": "compaction-style",
        "published": paper(),
        "claims": [claim.document() for claim in found],
        "parts": {part.engine: _part(part) for part in results.parts},
    }
    lines = (*map(_line, results.parts), *map(str, found))
    return Reproduction(render_compaction_style(results), document, lines)


def _line(part: Part) -> str:
    reason = part.experiment.too_small()
    return answer(part) if reason is None else f"{part.title}: {too_small_line(reason)}"


def _part(part: Part) -> dict[str, Any]:
    trees = {
        name: [level.model_dump() for level in tree(part, style)]
        for name, style in zip(STYLES, (LEVEL, UNIVERSAL), strict=True)
    }
    return {
        "version": part.experiment.version,
        "too_small": part.experiment.too_small(),
        "levels": trees,
        "experiment": swept_document(part.experiment.swept),
    }


COMPACTION_STYLE = Recipe("compaction-style", frozenset({"num", "repeats"}), _studies, _run)
"""Level and universal compaction, with db_bench and with TPC-C on MyRocks."""
