"""`lsmtune report`: one study, or an overview of several, as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, OtherTrial, say, write_file
from lsmtune.cli.common import Home as HomePath


def report(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY...", help="Name of a study, or several names for an overview page."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    trial: OtherTrial = None,
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Write an HTML page about a study, or an overview of several studies.

    The page is one file and needs no network.
    """
    from lsmtune.analysis.read_study import read_study
    from lsmtune.cli.progress import working
    from lsmtune.errors import UserError
    from lsmtune.report.overview_page import render_overview
    from lsmtune.report.page import render_page
    from lsmtune.store.home import Home

    if len(set(studies)) < len(studies):
        raise UserError("report: a study is named twice; name each study once")
    if trial is not None and len(studies) > 1:
        raise UserError("--trial: not allowed with several studies; name one study")
    with Home(home, create=False) as opened, working("writing the page"):
        views = [read_study(opened, study, trial) for study in studies]
        write_file(
            output, render_page(views[0]) if len(views) == 1 else render_overview(views), "page"
        )
    say(str(output))
