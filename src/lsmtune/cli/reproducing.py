"""The work behind `lsmtune reproduce`, apart from its flags so that `--help` stays quick."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsmtune.analysis.importance import importance_document
from lsmtune.cli.common import write_file
from lsmtune.cli.progress import progress
from lsmtune.cli.tuning import check_space, described
from lsmtune.engines.registry import make_engine
from lsmtune.errors import UserError
from lsmtune.recipes.jin2022 import study as jin2022
from lsmtune.recipes.jin2022.numbers import (
    convergence,
    data_share,
    honest_fitness,
    paper,
    paper_fitness,
    verified,
)
from lsmtune.recipes.jin2022.page import render_jin2022
from lsmtune.store.home import Home

RECIPES = ("jin2022",)


def run(
    recipe: str, num: int, configs: int, seeds: int, program: str, home: Path, output: Path | None
) -> tuple[Path, dict[str, Any]]:
    """Run the recipe, write its page; where the page is, and the results as JSON."""
    if recipe not in RECIPES:
        raise UserError(f"recipe: no {recipe!r}; known are {', '.join(RECIPES)}")
    plan = jin2022.Plan(num, configs, tuple(range(1, seeds + 1)), program)
    first = plan.search("honest", 1)
    engine = make_engine(first.engine, program)
    described(first, engine)  # what is wrong is told before a folder is made
    with Home(home, create=True) as opened:
        check_space(first, opened)
        results = jin2022.run(plan, opened, engine, progress)
        page = output or opened.path / "results" / "jin2022.html"
    write_file(page, render_jin2022(results), "page")
    return page, document(results)


def document(results: jin2022.Results) -> dict[str, Any]:
    """The results as JSON."""
    fitness = honest_fitness(results)
    return {
        "recipe": "jin2022",
        "paper": {**paper(), "fitness_of_table_2": paper_fitness()},
        "honest_fitness": fitness and asdict(fitness),
        "screenings": {
            mode: importance_document(screening.importance)
            for mode, screening in results.screenings.items()
        },
        "searches": [{"num": results.plan.num, **_search(s)} for s in results.searches],
    }


def _search(search: jin2022.Search) -> dict[str, Any]:
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


def lines(document: dict[str, Any]) -> Iterator[str]:
    """The results in a few lines."""
    for mode, screening in document["screenings"].items():
        for name, metric in screening["metrics"].items():
            r2 = metric["r2_holdout"]
            yield f"{mode}: {name}: held-out R² {r2['median']:.3f} by {metric['model']}"
    for search in document["searches"]:
        found = search["verified"]
        fitness = "no gain verified" if found is None else f"{found['exact']['median']:.0f}"
        yield f"{search['mode']} search, seed {search['seed']}: fitness {fitness}"
        if search["data_share"] is not None:
            yield f"  of which {search['data_share']:.0%} came from changing the data"
