"""`lsmtune show`: what a study has found."""

from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, StudyName, print_json, say
from lsmtune.cli.common import Home as HomePath


def show(
    study: StudyName,
    trial: Annotated[
        int | None, typer.Option(help="another trial than the winner, by its number")
    ] = None,
    home: HomePath = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Show a study: best config, gain with interval, failed trials and why."""
    from lsmtune.analysis.read_study import read_study
    from lsmtune.cli.showing import show_document, summary_lines
    from lsmtune.store.home import Home

    with Home(home, create=False) as opened:
        view = read_study(opened, study, trial)
    if as_json:
        print_json(show_document(view))
        return
    for line in summary_lines(view):
        say(line)
    for ended in (*view.failed, *view.cut):
        say(
            f"trial {ended.number} {ended.status.value}: {ended.status.meaning}"
            + (f": {ended.reason}" if ended.reason else "")
        )
