"""`lsmtune hosts`: certificates, the scheduler, and the list of hosts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.cli.flags import Certificates, Insecure, Json
from lsmtune.cli.output import note, print_json, say, say_all
from lsmtune.cli.tables import Column, facts_lines, table_lines

if TYPE_CHECKING:
    from lsmtune.api.hosts import Address, HostInfo, HostList, Made

_ACTIONS = ("init", "renew", "start", "list")
_HOW = {
    "init": "write `lsmtune hosts init DIR`",
    "renew": "write `lsmtune hosts renew DIR`",
    "list": "write `lsmtune hosts list tls://IP:8786 --certificates DIR`",
}
_LISTEN = "write `lsmtune hosts start --listen tls://IP:8786 --certificates DIR`"


def hosts(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="init, renew, start or list.")],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[DIR|ADDRESS]",
            help="Folder of the certificates (init, renew), or address of the scheduler (list).",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Address at which the scheduler listens, tls://IP:8786 [none]."
        ),
    ] = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    as_json: Json = False,
) -> None:
    """Set up many hosts: make certificates, run the scheduler, list the hosts.

    `init DIR` makes a CA and the certificates, `renew DIR` makes new ones. Copy ca.pem,
    worker.pem and worker-key.pem to each host; ca-key.pem stays here. `start` runs the
    scheduler. `lsmtune worker` runs on each host.
    """
    from lsmtune.errors import UserError, unknown_word

    if action not in _ACTIONS:
        raise UserError(f"hosts: {unknown_word('action', action, _ACTIONS)}")
    if action == "start":
        _start(target, listen, certificates, insecure=insecure)
        return
    if target is None:
        missing = "address" if action == "list" else "folder"
        raise UserError(f"hosts {action}: the {missing} is missing; {_HOW[action]}")
    if listen is not None:
        raise UserError(f"--listen: only for `hosts start`; {_HOW[action]}")
    if action == "list":
        _list(target, certificates, insecure=insecure, as_json=as_json)
    else:
        _certify(action, Path(target), as_json=as_json)


def _certify(action: str, folder: Path, *, as_json: bool) -> None:
    from lsmtune.api.hosts import make_certificates, renew_certificates

    made = make_certificates(folder) if action == "init" else renew_certificates(folder)
    if as_json:
        print_json({"folder": str(made.folder), "expires": made.expires.isoformat()})
    else:
        say_all(_certified(made))


def _certified(made: "Made") -> list[str]:
    from lsmtune.api.hosts import ROLES, files_of

    places = {
        "scheduler": "the host of the scheduler",
        "worker": "each host that runs trials",
        "client": "the host where you run `lsmtune tune`",
    }
    return [
        f"certificates in {made.folder}, valid until {made.expires:%Y-%m-%d}; copy over SSH:",
        *facts_lines([(places[role], ", ".join(files_of(role))) for role in ROLES], indent=2),
        "ca-key.pem stays here: whoever has it can run programs on every host.",
    ]


def _start(
    target: str | None, listen: str | None, certificates: Path | None, *, insecure: bool
) -> None:
    from lsmtune.api.hosts import run_hosts_scheduler
    from lsmtune.errors import UserError

    if target is not None:
        raise UserError(f"hosts start: {target!r}: give the address with --listen; {_LISTEN}")
    if listen is None:
        raise UserError(f"hosts start: --listen is missing; {_LISTEN}")

    def ready(address: "Address", dashboard: str) -> None:
        keys = "" if certificates is None else " --certificates DIR"
        say(f"scheduler: {address.text}")
        say(f"on each host: lsmtune worker {address.text}{keys}")
        say(f"Dask's dashboard, on this host only: {dashboard} (needs the package bokeh)")

    run_hosts_scheduler(listen, certificates, ready, note, insecure=insecure)


def _list(address: str, certificates: Path | None, *, insecure: bool, as_json: bool) -> None:
    from lsmtune.api.hosts import list_hosts

    found = list_hosts(address, certificates, insecure=insecure)
    odd = [info.remark for info in found.hosts if info.remark is not None]
    for remark in (*found.warnings, *(f"scheduler: {each}" for each in found.differing), *odd):
        note(remark)
    if as_json:
        print_json(_document(found))
    else:
        say_all(_table(found))


def _document(found: "HostList") -> dict[str, Any]:
    return {
        "scheduler": found.address,
        "hosts": [info.document() for info in found.hosts],
        "warnings": list(found.warnings),
        "differing_settings": found.differing,
    }


def _table(found: "HostList") -> list[str]:
    if not found.hosts:
        return [f"no host is connected; run `lsmtune worker {found.address}` on each host"]
    columns = [
        Column("host"), Column("name"), Column("state", at_least=20), Column("cores"),
        Column("memory"), Column("CPU", drop=2), Column("kernel", drop=1), Column("kept results"),
    ]  # fmt: skip
    return table_lines(columns, [_row(info) for info in found.hosts])


def _row(info: "HostInfo") -> tuple[str, ...]:
    from lsmtune.units import format_bytes

    if info.facts is None:
        return (info.host, info.node or info.address, str(info.problem), "", "", "", "", "")
    return (
        info.host, info.node, info.problem or info.work, str(info.facts.usable_cpus),
        format_bytes(info.facts.memory_bytes), info.facts.cpu_model or "", info.facts.kernel,
        str(sum(map(len, info.kept.values()))),
    )  # fmt: skip
