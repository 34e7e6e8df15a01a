"""`lsmtune report`: a study as one page."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, StudyName, say, write_file
from lsmtune.cli.common import Home as HomePath


def report(
    study: StudyName,
    output: Annotated[Path, typer.Option("--output", "-o", help="the HTML file to write")],
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Write one self-contained HTML page about a study."""
    from lsmtune.analysis.read_study import read_study
    from lsmtune.report.page import render_page
    from lsmtune.store.home import Home

    with Home(home, create=False) as opened:
        write_file(output, render_page(read_study(opened, study)), "page")
    say(str(output))
