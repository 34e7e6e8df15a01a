"""The recipe sst-size: its studies, its page, its JSON."""

from lsmtune.analysis.swept_words import swept_document
from lsmtune.recipes.base import Asked, Progress, Reproduction
from lsmtune.recipes.sst_size.numbers import claims, paper
from lsmtune.recipes.sst_size.page import answer, render_sst_size
from lsmtune.recipes.sst_size.study import run, spec
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
        found = list(claims(results))
        document = {
            "recipe": self.name,
            "published": paper(),
            "claims": [claim.document() for claim in found],
            "experiment": swept_document(results.experiment.swept),
        }
        lines = (answer(results), *map(str, found))
        return Reproduction(render_sst_size(results), document, lines)
