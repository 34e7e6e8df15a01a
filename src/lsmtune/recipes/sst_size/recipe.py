"""Recipe sst-size: its studies, its page, and its JSON document."""

from lsmtune.recipes.base import Asked, Progress, Reproduction
from lsmtune.recipes.opening import too_small_line
from lsmtune.recipes.sst_size.numbers import claims, paper
from lsmtune.recipes.sst_size.page import answer, render_sst_size
from lsmtune.recipes.sst_size.study import run, spec
from lsmtune.report.text.swept_words import swept_document
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home


class SstSize:
    """Effect of larger files and of larger memtables, each alone."""

    name = "sst-size"
    flags = frozenset({"num", "repeats", "full"})

    def studies(self, asked: Asked) -> tuple[StudySettings, ...]:
        """Return the one experiment."""
        return (spec(asked),)

    def run(self, asked: Asked, home: Home, progress: Progress) -> Reproduction:
        """Run what is missing of the experiment."""
        results = run(asked, home, progress)
        found, reason = list(claims(results)), results.experiment.too_small()
        document = {
            "recipe": self.name,
            "published": paper(),
            "claims": [claim.document() for claim in found],
            "too_small": reason,
            "experiment": swept_document(results.experiment.swept),
        }
        lines = (answer(results), *map(str, found)) if reason is None else (too_small_line(reason),)
        return Reproduction(render_sst_size(results), document, lines)
