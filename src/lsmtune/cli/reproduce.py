"""`lsmtune reproduce`: a published study run again, its numbers beside ours."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, Program, print_json, say


def reproduce(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE", help="jin2022, sst-size, compaction-style, db-bench-study, autotikv"
        ),
    ],
    num: Annotated[int | None, typer.Option(min=1000, help="records of the load")] = None,
    configs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="jin2022: configs screened in each mode [150]; 0: the data that ships",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="jin2022: honest genetic searches, a seed each [1]"),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=2, max=100, help="experiments: runs of each cell [3 to 5]")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="sst-size: as long as published, an hour a run")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="the HTML file to write [in --home]")
    ] = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Run a published study again; the same command goes on after any interruption."""
    from lsmtune.cli import reproducing
    from lsmtune.recipes.base import Asked

    asked = Asked(program or "db_bench", num, configs, seeds, repeats, full)
    page, found = reproducing.run(recipe, asked, home, output)
    if as_json:
        print_json(found.document)
        return
    for line in found.lines:
        say(line)
    say(f"page: {page}")
