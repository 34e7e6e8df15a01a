"""A published study, run again."""

from dataclasses import fields
from pathlib import Path

from lsmtune.errors import UserError, unknown_word
from lsmtune.progress import Observer
from lsmtune.store.home import Home
from lsmtune.study.host_checks import check_space
from lsmtune.system.write import write_file
from lsmtune_reproductions.recipes.autotikv.recipe import AUTOTIKV
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.compaction_style.recipe import COMPACTION_STYLE
from lsmtune_reproductions.recipes.db_bench_study.recipe import DB_BENCH_STUDY
from lsmtune_reproductions.recipes.jin2022.recipe import JIN2022
from lsmtune_reproductions.recipes.sst_size.recipe import SST_SIZE

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (JIN2022, SST_SIZE, COMPACTION_STYLE, DB_BENCH_STUDY, AUTOTIKV)
}


def reproduce(
    name: str,
    asked: Asked,
    home: Path,
    observer: Observer | None = None,
    *,
    output: Path | None = None,
) -> tuple[Path, Reproduction]:
    """Run the recipe and write its page; return the path of the page and the result."""
    observer = observer or Observer()
    if name not in RECIPES:
        raise UserError(f"recipe: {unknown_word('recipe', name, RECIPES)}")
    recipe = RECIPES[name]
    for field in fields(asked):
        value = getattr(asked, field.name)
        given = field.name != "program" and value is not None and value is not False
        if given and field.name not in recipe.flags:
            known = ", ".join(f"--{flag}" for flag in sorted(recipe.flags))
            raise UserError(f"--{field.name}: not an option of recipe {name}; allowed: {known}")
    studies = recipe.studies(asked)
    opener = Opener(home, observer)
    opener.check(studies)  # before a folder is made: it finds mistakes
    with Home(home, create=True) as opened:
        for spec in studies:
            check_space(spec, opened)
        found = recipe.run(asked, opened, opener)
        page = output or opened.path / "results" / f"{name}.html"
    write_file(page, found.page, "page", home)
    return page, found
