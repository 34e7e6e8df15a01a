"""The work of `lsmtune reproduce`; a module of its own so that `--help` is quick."""

from dataclasses import fields
from pathlib import Path

from lsmtune.cli.describing import described
from lsmtune.cli.progress import progress
from lsmtune.cli.tuning import check_space
from lsmtune.engines.registry import engine_of
from lsmtune.errors import UserError, unknown_word
from lsmtune.recipes.base import Asked, Reproduction
from lsmtune.recipes.registry import RECIPES
from lsmtune.store.home import Home
from lsmtune.system.write import write_file


def run(name: str, asked: Asked, home: Path, output: Path | None) -> tuple[Path, Reproduction]:
    """Run the recipe and write its page; return the path of the page and the result."""
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
    for spec in studies:  # before a folder is made: it finds mistakes
        described(spec, engine_of(spec), None)
    with Home(home, create=True) as opened:
        for spec in studies:
            check_space(spec, opened)
        found = recipe.run(asked, opened, progress)
        page = output or opened.path / "results" / f"{name}.html"
    write_file(page, found.page, "page", home)
    return page, found
