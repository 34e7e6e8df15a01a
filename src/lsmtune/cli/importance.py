"""`lsmtune importance`: which knobs matter to which metric."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, print_json, say


def importance(
    study: Annotated[
        str | None, typer.Argument(metavar="[STUDY]", help="a study, best a screening")
    ] = None,
    batch: Annotated[
        Path | None, typer.Option(help="measured runs from a file of JSON lines instead")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="a metric; repeatable [what suits the load]")
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="repeats of the cross-validation")
    ] = 3,
    page: Annotated[
        Path | None, typer.Option(help="write one self-contained HTML page there")
    ] = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Say which knobs matter to each metric, how much, how sure, and by which method."""
    from lsmtune.analysis.importance import importance_document
    from lsmtune.cli import importances

    title, found = importances.compute(study, batch, metric or [], repeats, home)
    if page is not None:
        importances.write_page(page, title, found)
    if as_json:
        print_json(importance_document(found))
        return
    for line in importances.lines(found):
        say(line)
    if page is not None:
        say(f"page: {page}")
