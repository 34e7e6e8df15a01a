"""`lsmtune doctor`: checks of this machine, and fixes for what is missing."""

from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, Program, print_json, say_all
from lsmtune.cli.common import Home as HomePath


def doctor(
    program: Program = None,
    home: HomePath = DEFAULT_HOME,
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
    from lsmtune.cli.checks import check_lines
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
