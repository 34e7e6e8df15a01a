"""`lsmtune report`: one study, or an overview of several, as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, OtherTrial
from lsmtune.cli.output import say


def report(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY...", help="Name of a study, or several names for an overview page."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="HTML file to write [results/STUDY/report.html in --home]."
        ),
    ] = None,
    trial: OtherTrial = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Write an HTML page about a study, or an overview of several studies.

    The page is one file and needs no network.
    """
    from lsmtune.api.report import report as run
    from lsmtune.cli.progress import TerminalObserver

    say(str(run(studies, home, TerminalObserver(), output=output, trial=trial)))
