"""Many hosts: their certificates, the scheduler, a worker, and the list of hosts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lsmtune.errors import Argument, UserError
from lsmtune.hosts import certificates
from lsmtune.hosts.address import Address, check_safe, parse_address
from lsmtune.hosts.certificates import ROLES, Made, files_of, security
from lsmtune.hosts.connect import connect
from lsmtune.hosts.extra import need_extra, silence_dask
from lsmtune.hosts.scheduler import Ready, differing_settings, run_scheduler
from lsmtune.hosts.task import HostInfo
from lsmtune.hosts.worker import run_worker
from lsmtune.units import parse_duration_s

__all__ = ["ROLES", "Address", "HostInfo", "Made", "files_of"]

SHORTEST_ORPHAN_S = 60.0
"""Three reports of a commander in a row may be missing."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HostList:
    """The hosts of a scheduler, warnings about its address, and settings that differ."""

    address: str
    hosts: list[HostInfo]
    warnings: tuple[str, ...]
    differing: list[str]


def make_certificates(folder: Path) -> Made:
    """Make a CA and the certificates of all roles in a new or empty folder."""
    return certificates.make(folder)


def renew_certificates(folder: Path) -> Made:
    """Replace the certificates in a folder; hosts with the old ones can still connect."""
    return certificates.renew(folder)


def run_hosts_scheduler(
    listen: str, keys: Path | None, ready: Ready, warn: Say, *, insecure: bool = False
) -> None:
    """Run a scheduler at an address until a signal ends the process.

    `warn` gets a sentence if the address is not safe, and `ready` the address and the URL of the
    dashboard. UserError if strangers could connect, or if the address cannot be used.
    """
    need_extra()
    address = parse_address(listen)
    warning = check_safe(address, has_certificates=keys is not None, insecure=insecure)
    if warning is not None:
        warn(warning)
    silence_dask()
    run_scheduler(address, None if keys is None else security(keys, "scheduler"), ready)


def run_host_worker(
    scheduler: str, keys: Path | None, home: Path, orphan: str, say: Say, *, insecure: bool = False
) -> None:
    """Run the trials that a scheduler gives to this host, until a signal ends the process.

    UserError if strangers could connect, or if the scheduler refuses the certificate.
    """
    need_extra()
    address = parse_address(scheduler)
    warning = check_safe(address, has_certificates=keys is not None, insecure=insecure)
    orphan_s = parse_duration_s(orphan, "orphan")
    if orphan_s < SHORTEST_ORPHAN_S:
        raise UserError(
            Argument("orphan", orphan), f": too short; use at least {SHORTEST_ORPHAN_S:g}s"
        )
    if warning is not None:
        say(warning)
    silence_dask()
    found = None if keys is None else security(keys, "worker")
    run_worker(address, home, found, say, orphan_s=orphan_s)


def list_hosts(scheduler: str, keys: Path | None, *, insecure: bool = False) -> HostList:
    """Return the hosts of a scheduler; LsmtuneError if it does not answer."""
    need_extra()
    silence_dask()
    with connect(scheduler, keys, insecure=insecure) as hosts:
        different = differing_settings(hosts.client)
        return HostList(scheduler, hosts.hosts(), hosts.warnings, different)
