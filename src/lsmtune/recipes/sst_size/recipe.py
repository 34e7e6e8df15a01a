"""The recipe sst-size: its studies, its page, its JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.swept_words import swept_document
from lsmtune.recipes.base import Asked, Progress, Reproduction
from lsmtune.recipes.sst_size.numbers import claims, paper
from lsmtune.recipes.sst_size.page import answer, render_sst_size
from lsmtune.recipes.sst_size.study import Results, run, spec
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home


class SstSize:
    """Which did it: larger files, or larger memtables? (Seed of 2021, with its factors apart.)"""

    name = "sst-size"
    flags = frozenset({"num", "repeats", "full"})

    def studies(self, asked: Asked) -> tuple[StudySpec, ...]:
        """The one experiment."""
        return (spec(asked),)

    def run(self, asked: Asked, home: Home, progress: Progress) -> Reproduction:
        """Run what is missing of it."""
        results = run(asked, home, progress)
        return Reproduction(render_sst_size(results), _document(results), tuple(_lines(results)))


def _document(results: Results) -> dict[str, Any]:
    return {
        "recipe": SstSize.name,
        "published": paper(),
        "claims": [asdict(claim) for claim in claims(results)],
        "experiment": swept_document(results.experiment.swept),
    }


def _lines(results: Results) -> Iterator[str]:
    yield answer(results)
    for claim in claims(results):
        yield f"{claim.finding}: {claim.statement} ({claim.evidence})"
