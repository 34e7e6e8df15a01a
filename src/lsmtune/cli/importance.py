"""`lsmtune importance`: the effect of each knob on each metric."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, Page
from lsmtune.cli.output import print_json, say, say_all


def importance(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help="Name of a study; a study of `lsmtune screen` gives the best ranking.",
        ),
    ] = None,
    batch: Annotated[
        Path | None, typer.Option(help="File of JSON lines with measured runs, instead of a study.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="Metric to explain; repeat the flag for several metrics [metrics that suit the "
            "workload].",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Number of cross-validations. More of them give narrower intervals of the column "
            "R² lost [3; 1 with more than 200 configs].",
        ),
    ] = None,
    page: Page = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Rank the knobs by their effect on each metric, with several methods.

    The command needs a study whose configs cover the range of each knob, e.g. a study of
    `lsmtune screen`.
    """
    from lsmtune.api import importance as api
    from lsmtune.cli.importance_lines import importance_lines
    from lsmtune.cli.progress import TerminalObserver

    observer = TerminalObserver()
    found = api.importance(
        home, study=study, batch=batch, metrics=metric or [], repeats=repeats, observer=observer
    )
    if page is not None:
        with observer.working("writing the page"):
            found.page(page)
    if as_json:
        print_json(found.document())
        return
    say_all(importance_lines(found.importance))
    if page is not None:
        say(f"page: {page}")
