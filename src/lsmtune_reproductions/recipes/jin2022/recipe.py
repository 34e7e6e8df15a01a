"""Recipe jin2022: its studies, its page, and its JSON document."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.importance import importance_document
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.jin2022.numbers import (
    convergence,
    data_share,
    honest_fitness,
    paper,
    paper_fitness,
    verified,
)
from lsmtune_reproductions.recipes.jin2022.page import render_jin2022
from lsmtune_reproductions.recipes.jin2022.study import (
    MODE_NAMES,
    MODES,
    Plan,
    Results,
    Search,
    run,
)
from lsmtune_reproductions.recipes.opening import too_small_line


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the screenings, and a genetic search of each mode."""
    plan = _plan(asked)
    screenings = tuple(plan.screening(mode) for mode in MODES) if plan.configs else ()
    return (*(plan.search(mode, 1) for mode in MODES), *screenings)


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(_plan(asked), home, opener)
    document = jin2022_document(results)
    return Reproduction(render_jin2022(results), document, tuple(_lines(document)))


def _plan(asked: Asked) -> Plan:
    plan = Plan(program=asked.program)
    return Plan(
        num=plan.num if asked.num is None else asked.num,
        configs=plan.configs if asked.configs is None else asked.configs,
        seeds=plan.seeds if asked.seeds is None else tuple(range(1, asked.seeds + 1)),
        program=asked.program,
    )


def jin2022_document(results: Results) -> dict[str, Any]:
    """Return the results as JSON."""
    fitness = honest_fitness(results)
    return {
        "recipe": "jin2022",
        "paper": {**paper(), "fitness_of_table_2": paper_fitness()},
        "too_small": results.too_small,
        "honest_fitness": fitness and asdict(fitness),
        "screenings": {
            mode: importance_document(screening.importance)
            for mode, screening in results.screenings.items()
        },
        "searches": [{"num": results.plan.num, **_search(s)} for s in results.searches],
    }


def _search(search: Search) -> dict[str, Any]:
    found, kept = verified(search.pairs), verified(search.on_base_data)
    return {
        "mode": search.mode,
        "seed": search.seed,
        "best_so_far": convergence(search),
        "config": search.changed if search.winner else None,
        "verified": found and asdict(found),
        "on_base_data": kept and asdict(kept),
        "data_share": data_share(search),
    }


def _lines(document: dict[str, Any]) -> Iterator[str]:
    for mode, screening in document["screenings"].items():
        for name, metric in screening["metrics"].items():
            r2 = metric["r2_holdout"]
            accuracy = f"held-out R² {r2['median']:.3f} ({metric['model']})"
            yield f"prediction of {name}, {MODE_NAMES[mode]}: {accuracy}"
    if document["too_small"] is not None:
        yield too_small_line(document["too_small"])
        return
    for search in document["searches"]:
        found = search["verified"]
        fitness = "no gain verified"
        if found is not None:
            exact = found["exact"]
            low, high = exact["low"], exact["high"]
            fitness = f"fitness {exact['median']:.0f} ({low:.0f}\N{EN DASH}{high:.0f})"
        yield f"search, {MODE_NAMES[search['mode']]}, seed {search['seed']}: {fitness}"
        if search["data_share"] is not None:
            share = f"{search['data_share']:.0%}"
            yield f"  {share} of the search's fitness comes from the changed data"


JIN2022 = Recipe("jin2022", frozenset({"num", "configs", "seeds"}), _studies, _run)
"""Importance of options, and the gain that a genetic algorithm finds."""
