"""The recipe autotikv: its studies, its page, its JSON."""

from dataclasses import asdict
from typing import Any

from lsmtune.analysis.swept_words import swept_document
from lsmtune.recipes.autotikv.numbers import claims
from lsmtune.recipes.autotikv.page import answer, best_so_far, render_autotikv
from lsmtune.recipes.autotikv.study import BLIND, OPTIMIZER, Part, paper, run, specs
from lsmtune.recipes.base import Asked, Progress, Reproduction
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home


class AutoTikv:
    """Four searches over AutoTiKV's knobs, and what every value of each does beside the best."""

    name = "autotikv"
    flags = frozenset({"num", "repeats"})

    def studies(self, asked: Asked) -> tuple[StudySpec, ...]:
        """The searches, and the blind writes; the experiments depend on what the searches find."""
        return specs(asked)

    def run(self, asked: Asked, home: Home, progress: Progress) -> Reproduction:
        """Run what is missing of them."""
        results = run(asked, home, progress)
        found = list(claims(results))
        parts: dict[str, Any] = {name: _part(part) for name, part in results.parts.items()}
        parts[BLIND] = {"experiment": swept_document(results.blind.swept)}
        document = {
            "recipe": self.name,
            "optimizer": OPTIMIZER,
            "published": paper(),
            "claims": [asdict(claim) for claim in found],
            "parts": parts,
        }
        lines = [
            answer(found),
            *(f"{c.finding}: {c.statement}; here {c.here} ({c.evidence}); {c.why}" for c in found),
        ]
        return Reproduction(render_autotikv(results), document, tuple(lines))


def _part(part: Part) -> dict[str, Any]:
    return {
        "version": part.experiment.version,
        "metric": part.metric,
        "base": part.base,
        "rounds": [
            {"round": tried.number, "config": dict(tried.config), "value": tried.value}
            for tried in part.rounds
        ],
        "best_so_far": best_so_far(part),
        "recommended": dict(part.recommended),
        "experiment": swept_document(part.experiment.swept),
    }
