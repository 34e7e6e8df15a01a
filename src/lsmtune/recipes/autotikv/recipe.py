"""Recipe autotikv: its studies, its page, and its JSON document."""

from dataclasses import asdict
from typing import Any

from lsmtune.recipes.autotikv.numbers import claims, too_small
from lsmtune.recipes.autotikv.page import answer, best_so_far, render_autotikv
from lsmtune.recipes.autotikv.study import BLIND, OPTIMIZER, Part, paper, run, specs
from lsmtune.recipes.base import Asked, Progress, Reproduction
from lsmtune.recipes.opening import too_small_line
from lsmtune.report.text.swept_words import swept_document
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home


class AutoTikv:
    """Four searches over AutoTiKV's knobs, and the effect of each value around the best config."""

    name = "autotikv"
    flags = frozenset({"num", "repeats"})

    def studies(self, asked: Asked) -> tuple[StudySettings, ...]:
        """Return the searches and the blind writes; other experiments depend on the searches."""
        return specs(asked)

    def run(self, asked: Asked, home: Home, progress: Progress) -> Reproduction:
        """Run what is missing of the studies."""
        results = run(asked, home, progress)
        found, reason = list(claims(results)), too_small(results)
        parts: dict[str, Any] = {name: _part(part) for name, part in results.parts.items()}
        parts[BLIND] = {"experiment": swept_document(results.blind.swept)}
        document = {
            "recipe": self.name,
            "optimizer": OPTIMIZER,
            "published": paper(),
            "too_small": reason,
            "claims": [asdict(claim) for claim in found],
            "parts": parts,
        }
        lines = [
            answer(found),
            *(f"{c.finding}: {c.statement}, here {c.here} ({c.evidence})" for c in found),
        ]
        if reason is not None:
            lines = [too_small_line(reason)]
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
