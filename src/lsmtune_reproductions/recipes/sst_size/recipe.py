"""Recipe sst-size: its studies, its page, and its JSON document."""

from lsmtune.report.text.swept_words import swept_document
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.opening import too_small_line
from lsmtune_reproductions.recipes.sst_size.numbers import claims, paper
from lsmtune_reproductions.recipes.sst_size.page import answer, render_sst_size
from lsmtune_reproductions.recipes.sst_size.study import run, spec


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the one experiment."""
    return (spec(asked),)


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found, reason = list(claims(results)), results.experiment.too_small()
    document = {
        "recipe": "sst-size",
        "published": paper(),
        "claims": [claim.document() for claim in found],
        "too_small": reason,
        "experiment": swept_document(results.experiment.swept),
    }
    lines = (answer(results), *map(str, found)) if reason is None else (too_small_line(reason),)
    return Reproduction(render_sst_size(results), document, lines)


SST_SIZE = Recipe("sst-size", frozenset({"num", "repeats", "full"}), _studies, _run)
"""Effect of larger files and of larger memtables, each alone."""
