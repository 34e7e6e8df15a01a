"""`lsmtune reproduce`: a published study, run again."""

from typing import Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, PageInHome, Program
from lsmtune.cli.output import print_json, say, say_all
from lsmtune.cli.tables import paragraph


def reproduce(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="Recipe: jin2022, sst-size, compaction-style, db-bench-study or autotikv.",
        ),
    ],
    num: Annotated[
        int | None,
        typer.Option(min=1000, help="Number of records in the workload [set by the recipe]."),
    ] = None,
    configs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Only for jin2022: number of configs to measure with the fixed workload and again "
            "with the varied workload; 0 uses the measurements shipped with lsmtune [150].",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="Only for jin2022: number of genetic searches, one seed each [1]."
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=2, max=100, help="Number of runs per config; not for jin2022 [3 to 5, by recipe]."
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Only for sst-size: run as long as published, an hour per run."
        ),
    ] = False,
    output: PageInHome = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Run a published study again and compare the new with the published numbers.

    After an interruption, the same command continues the work.
    """
    from lsmtune.api.reproduce import reproduce as run
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.recipes.base import Asked

    asked = Asked(program or "db_bench", num, configs, seeds, repeats, full)
    page, found = run(recipe, asked, home, TerminalObserver(), output=output)
    if as_json:
        print_json(found.document)
        return
    say_all(text for line in found.lines for text in paragraph(line, hanging=2))
    say(f"page: {page}")
