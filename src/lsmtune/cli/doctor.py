"""`lsmtune doctor`: checks of this machine, and fixes for what is missing."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, Program
from lsmtune.cli.output import print_json, say_all
from lsmtune.cli.tables import Column, paragraph, table_lines

if TYPE_CHECKING:
    from lsmtune.api.doctor import Check


def doctor(
    program: Program = None,
    home: Home = DEFAULT_HOME,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Fit the simulator to this machine with about six short runs."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check what tuning needs: RocksDB, disk space, open files, a quiet machine.

    An installed version of RocksDB or db_bench is enough. MyRocks, the embedded
    stores and go-ycsb are optional. The exit code is 1 if a check fails.
    """
    from lsmtune.api import doctor as api
    from lsmtune.cli.progress import TerminalObserver

    observer = TerminalObserver()
    checks = api.doctor(program, home, observer)
    if calibrate:
        checks.append(api.calibrate(program, home, observer))
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [check.document() for check in checks]})
    else:
        say_all(check_lines(checks))
    if not ok:
        raise typer.Exit(1)


def check_lines(checks: "Sequence[Check]") -> Iterator[str]:
    """Give the checks as a table; a second row has the fix, or a note if the check passed."""
    rows = []
    for check in checks:
        rows.append((check.name, check.state, check.detail))
        if check.fix is not None:
            rows.append(("", "note" if check.ok else "fix", check.fix))
    columns = [Column("check", at_least=13), Column("state", at_least=5), Column("result")]
    yield from table_lines(columns, rows)
    yield ""
    yield from paragraph(verdict_text(checks))


def verdict_text(checks: "Sequence[Check]") -> str:
    """Return in one or two sentences whether RocksDB can be tuned here, and what is missing."""
    failed = [check.name for check in checks if not check.ok]
    absent = [check.name for check in checks if check.state == "absent"]
    warned = [check.name for check in checks if check.state == "warn"]
    text = (
        f'Not ready: {", ".join(failed)}. Do what the table says at "fix".'
        if failed
        else "RocksDB can be tuned here."
    )
    if warned:
        text += f" Look at the notes: {', '.join(warned)}."
    return text + (f" Not installed (optional): {', '.join(absent)}." if absent else "")
