"""`lsmtune studies`, `lsmtune rename` and `lsmtune delete`: the studies of a home."""

from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, StudyName, ask, print_json, say, say_all
from lsmtune.cli.common import Home as HomePath


def studies(home: HomePath = DEFAULT_HOME, as_json: Json = False) -> None:
    """List the studies of a home folder, oldest first."""
    from lsmtune.api import manage
    from lsmtune.cli.managing import table_of

    rows = manage.studies(home)
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
    from lsmtune.api import manage

    manage.rename(home, study, new)
    say(f"study {study!r} is now {new!r}")


def delete(
    study: StudyName,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Delete the runs of a study. The files in results/STUDY stay."""
    from lsmtune.api import manage
    from lsmtune.report.text.words import counted

    done = manage.delete(home, study, None if yes else ask)
    say(f"deleted: study {study!r} with {counted(done.runs, 'run')}")
    if done.results is not None:
        say(f"kept:    {done.results}")
