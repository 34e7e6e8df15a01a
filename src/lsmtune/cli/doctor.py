"""`lsmtune doctor`: whether this machine can tune, and what to mend."""

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, Program, print_json, say
from lsmtune.cli.common import Home as HomePath


def doctor(program: Program = None, home: HomePath = DEFAULT_HOME, as_json: Json = False) -> None:
    """Check what tuning needs: db_bench (MyRocks is extra), disk, a quiet machine."""
    from lsmtune.cli.checks import run_checks

    checks = run_checks(program or "db_bench", home)
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
