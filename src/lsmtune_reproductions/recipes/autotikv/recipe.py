"""Recipe autotikv: its studies, its page, and its JSON document."""

from dataclasses import asdict
from typing import Any

from lsmtune.report.text.swept_words import swept_document
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.autotikv.numbers import claims, too_small
from lsmtune_reproductions.recipes.autotikv.page import answer, best_so_far, render_autotikv
from lsmtune_reproductions.recipes.autotikv.study import BLIND, OPTIMIZER, Part, paper, run, specs
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.opening import too_small_line


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found, reason = list(claims(results)), too_small(results)
    parts: dict[str, Any] = {name: _part(part) for name, part in results.parts.items()}
    parts[BLIND] = {"experiment": swept_document(results.blind.swept)}
    document = {
        "recipe": "autotikv",
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


AUTOTIKV = Recipe("autotikv", frozenset({"num", "repeats"}), specs, _run)
"""Four searches over AutoTiKV's knobs, and the effect of each value around the best config."""
