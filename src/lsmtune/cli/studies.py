"""`lsmtune studies`, `lsmtune rename` and `lsmtune delete`: the studies of a home."""

from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, StudyName, print_json, say, say_all
from lsmtune.cli.common import Home as HomePath


def studies(home: HomePath = DEFAULT_HOME, as_json: Json = False) -> None:
    """List the studies of a home folder, oldest first."""
    from lsmtune.cli.managing import study_rows, table_of
    from lsmtune.store.home import Home

    with Home(home, create=False) as opened:
        rows = study_rows(opened)
    if as_json:
        print_json(rows)
    else:
        say_all(table_of(rows))


def rename(
    study: StudyName,
    new: Annotated[str, typer.Argument(metavar="NEW", help="New name of the study.")],
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Rename a study. Pages and exported files keep the old name."""
    from lsmtune.cli.managing import rename_study

    rename_study(home, study, new)
    say(f"study {study!r} is now {new!r}")


def delete(
    study: StudyName,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Delete the runs of a study. The files in results/STUDY stay."""
    from lsmtune.cli.managing import delete_study

    for line in delete_study(home, study, agreed=yes):
        say(line)
