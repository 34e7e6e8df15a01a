"""`lsmtune report`: one study, or an overview of several, as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, OtherTrial, say
from lsmtune.cli.common import Home as HomePath
from lsmtune.system.write import write_file


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
        page = output or opened.path / "results" / _usual_page(studies, trial)
        text = render_page(views[0]) if len(views) == 1 else render_overview(views)
        write_file(page, text, "page", opened.path)
    say(str(page))


def _usual_page(studies: list[str], trial: int | None) -> Path:
    """Return where the page is without --output; a picked trial and an overview have their own."""
    if len(studies) > 1:
        return Path("overview.html")
    return Path(studies[0], "report.html" if trial is None else f"report-trial-{trial}.html")
