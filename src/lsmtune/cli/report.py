"""`lsmtune report`: a study as one page, or several side by side."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, say, write_file
from lsmtune.cli.common import Home as HomePath


def report(
    studies: Annotated[
        list[str], typer.Argument(metavar="STUDY...", help="a study, or several for one overview")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="the HTML file to write")],
    trial: Annotated[
        int | None, typer.Option(help="another trial than the winner, by its number")
    ] = None,
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Write one self-contained HTML page about a study, or an overview of several."""
    from lsmtune.analysis.read_study import read_study
    from lsmtune.errors import UserError
    from lsmtune.report.overview_page import render_overview
    from lsmtune.report.page import render_page
    from lsmtune.store.home import Home

    if len(set(studies)) < len(studies):
        raise UserError("report: a study is named twice; name each once")
    if trial is not None and len(studies) > 1:
        raise UserError("--trial goes with one study only")
    with Home(home, create=False) as opened:
        views = [read_study(opened, study, trial) for study in studies]
        write_file(
            output, render_page(views[0]) if len(views) == 1 else render_overview(views), "page"
        )
    say(str(output))
