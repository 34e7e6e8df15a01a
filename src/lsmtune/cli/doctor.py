"""`lsmtune doctor`: whether this machine can tune, and what to mend."""

from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, Program, note, print_json, say
from lsmtune.cli.common import Home as HomePath


def doctor(
    program: Program = None,
    home: HomePath = DEFAULT_HOME,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="tell the simulator how fast this machine is")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check what tuning needs: db_bench (MyRocks is extra), disk, a quiet machine."""
    from lsmtune.cli.checks import calibration_check, run_checks

    checks = run_checks(program or "db_bench", home)
    if calibrate:
        checks.append(calibration_check(program or "db_bench", home, note))
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [check.document() for check in checks]})
    else:
        for check in checks:
            say(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.detail}")
            if check.fix:
                say(f"      {'mend' if not check.ok else 'note'}: {check.fix}")
    if not ok:
        raise typer.Exit(1)
