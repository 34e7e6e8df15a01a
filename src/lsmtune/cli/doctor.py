"""`lsmtune doctor`: checks of this machine, and fixes for what is missing."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Certificates, Home, Insecure, Json, Program
from lsmtune.cli.output import print_json, say_all
from lsmtune.cli.tables import Column, paragraph, table_lines

if TYPE_CHECKING:
    from lsmtune.api.doctor import Check
    from lsmtune.api.doctor_hosts import HostsChecked


def doctor(
    program: Program = None,
    home: Home = DEFAULT_HOME,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Fit the simulator to this machine with about six short runs."
        ),
    ] = False,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="List and compare the hosts of this scheduler, tls://IP:8786, instead [none].",
        ),
    ] = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    as_json: Json = False,
) -> None:
    """Check what tuning needs: RocksDB, disk space, open files, a quiet machine.

    An installed version of RocksDB or db_bench is enough. MyRocks, the embedded
    stores and go-ycsb are optional. With --hosts, the command lists
    hosts and says what differs; nothing runs there. The exit code is 1 if a check fails.
    """
    from lsmtune.api import doctor as api
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.errors import UserError

    observer, found = TerminalObserver(), None
    if hosts is None:
        checks = api.doctor(program, home, observer)
        if calibrate:
            checks.append(api.calibrate(program, home, observer))
    elif calibrate:
        raise UserError("--calibrate: not allowed with --hosts; it calibrates this machine")
    else:
        from lsmtune.api.doctor_hosts import doctor_hosts

        found = doctor_hosts(
            hosts, certificates, insecure=insecure, program=program, observer=observer
        )
        checks = found.checks
    ok = all(check.ok for check in checks)
    if as_json:
        document = {"ok": ok, "checks": [check.document() for check in checks]}
        if found is not None:
            document["hosts"] = [host.document() for host in found.hosts]
        print_json(document)
    else:
        say_all(check_lines(checks) if found is None else host_lines(found))
    if not ok:
        raise typer.Exit(1)


def check_lines(checks: "Sequence[Check]", subject: str = "here") -> Iterator[str]:
    """Give the checks as a table; a second row has the fix, or a note if the check passed."""
    from lsmtune.report.text.check_text import check_rows, verdict_text

    columns = [Column("check", at_least=13), Column("state", at_least=5), Column("result")]
    yield from table_lines(columns, check_rows(checks))
    yield ""
    yield from paragraph(verdict_text(checks, subject))


def host_lines(found: "HostsChecked") -> Iterator[str]:
    """Give a row per host, and the checks."""
    from lsmtune.api.doctor_hosts import LISTED

    if found.facts:
        columns = [Column("host"), *(Column(name, at_least=5) for name in LISTED)]
        rows = [(host, *(one.get(n, "") for n in LISTED)) for host, one in found.facts.items()]
        yield from (*table_lines(columns, rows), "")
    yield from check_lines(found.checks, "on these hosts")
