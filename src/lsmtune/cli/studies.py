"""`lsmtune studies`, `lsmtune rename` and `lsmtune delete`: the studies of a home."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, StudyName
from lsmtune.cli.output import ask, print_json, say, say_all
from lsmtune.cli.tables import Column, table_lines


def studies(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """List the studies of a home folder, oldest first."""
    from lsmtune.api import manage

    rows = manage.studies(home)
    if as_json:
        print_json(rows)
    else:
        say_all(_table(rows))


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows as a table."""
    columns = [
        Column("study", at_least=8), Column("kind"), Column("workload", at_least=8),
        Column("engine", drop=2), Column("objective", at_least=8), Column("result", at_least=8),
        Column("runs", drop=1), Column("state"), Column("started", drop=3),
    ]  # fmt: skip
    cells = [
        (
            row["study"], row["kind"], row["workload"], row["engine"],
            ", ".join(row["objective"]), _result_text(row), str(row["runs"]), row["state"],
            row["started"][:10],
        )
        for row in rows
    ]  # fmt: skip
    return list(table_lines(columns, cells)) if rows else ["no studies"]


def _result_text(row: dict[str, Any]) -> str:
    """Return what a study found, and the objective of its winner."""
    from lsmtune.report.text.words import TIMES

    value, result = row["value"], str(row["result"])
    return result if value is None else f"{result} {value:.2f} {TIMES}"


def rename(
    study: StudyName,
    new: Annotated[str, typer.Argument(metavar="NEW", help="New name of the study.")],
    home: Home = DEFAULT_HOME,
) -> None:
    """Rename a study. Pages and exported files keep the old name."""
    from lsmtune.api import manage

    manage.rename(home, study, new)
    say(f"study {study!r} is now {new!r}")


def delete(
    study: StudyName,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
    home: Home = DEFAULT_HOME,
) -> None:
    """Delete the runs of a study. The files in results/STUDY stay."""
    from lsmtune.api import manage
    from lsmtune.report.text.words import counted

    done = manage.delete(home, study, None if yes else ask)
    say(f"deleted: study {study!r} with {counted(done.runs, 'run')}")
    if done.results is not None:
        say(f"kept:    {done.results}")
