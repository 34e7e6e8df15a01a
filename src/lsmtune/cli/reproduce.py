"""`lsmtune reproduce`: a published study run again, its numbers beside ours."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, Program, print_json, say


def reproduce(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="jin2022")],
    num: Annotated[int, typer.Option(min=1000, help="records of the load")] = 1_000_000,
    configs: Annotated[
        int,
        typer.Option(min=0, help="configs that are screened in each mode; 0: the data that ships"),
    ] = 150,
    seeds: Annotated[
        int, typer.Option(min=1, max=100, help="honest genetic searches, each of its own seed")
    ] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="the HTML file to write [in --home]")
    ] = None,
    program: Program = "db_bench",
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Run a published study again; the same command goes on after any interruption."""
    from lsmtune.cli import reproducing

    page, document = reproducing.run(recipe, num, configs, seeds, program, home, output)
    if as_json:
        print_json(document)
    else:
        for line in reproducing.lines(document):
            say(line)
        say(f"page: {page}")
