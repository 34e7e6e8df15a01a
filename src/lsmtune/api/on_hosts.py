"""The hosts that a study uses, as its caller names them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Union

from lsmtune.engines.base import Engine
from lsmtune.errors import Argument, UserError
from lsmtune.hosts.address import parse_address
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.connect import connect
from lsmtune.hosts.extra import need_extra, silence_dask
from lsmtune.hosts.local import local_hosts
from lsmtune.hosts.scheduler import differing_settings
from lsmtune.hosts.this_host import check_can_be_shared
from lsmtune.progress import Observer
from lsmtune.store.home import Home
from lsmtune.study.host_checks import check_space, remark_busy
from lsmtune.study.opening import Prepared, open_session
from lsmtune.study.session import Session

if TYPE_CHECKING:
    from distributed import Client

_NUMBER = re.compile(r"-?[0-9]+")
Where = Union[str, int, "Client"]
"""Address of a scheduler, a number of local processes, or a client of Dask."""


@dataclass(frozen=True, slots=True)
class OnHosts:
    """Where the runs of a study run; one process is this process.

    Hosts are no settings: a study continues with others, or without any.
    """

    where: Where
    certificates: Path | None = None
    insecure: bool = False

    @property
    def number(self) -> int | None:
        """The number of local processes; None for a scheduler. UserError below 1."""
        where = self.where
        if isinstance(where, str) and _NUMBER.fullmatch(where):
            where = int(where)
        if not isinstance(where, int):
            return None
        if where < 1:
            raise UserError(Argument("hosts", where), ": must be at least 1")
        return where

    @property
    def is_used(self) -> bool:
        """Whether runs go to other processes."""
        return self.number != 1


def on_hosts(
    where: Where | None, certificates: str | Path | None = None, insecure: bool = False
) -> OnHosts | None:
    """Return the hosts that a caller names; None if runs stay in this process.

    UserError for a text that is neither a number nor an address.
    """
    if where is None:
        if certificates is not None or insecure:
            given = Argument("certificates") if certificates is not None else Argument("insecure")
            raise UserError(
                given, ": only with ", Argument("hosts"), "; add the hosts, or remove it"
            )
        return None
    folder = None if certificates is None else Path(certificates).expanduser()
    found = OnHosts(where, folder, insecure)
    if isinstance(where, str) and found.number is None:
        parse_address(where)
    return found


def _check(hosts: OnHosts, engine: Engine) -> None:
    """Raise UserError if the engine cannot run on these hosts, or if the extra is missing."""
    number = hosts.number
    check_can_be_shared(engine)
    if number is not None and engine.times_matter:
        raise UserError(
            Argument("hosts", number),
            f": runs of {engine.name} measure times, so only one may run at a time on this "
            "machine; name a scheduler whose hosts are other machines",
        )
    need_extra()


def check_offline(hosts: OnHosts) -> None:
    """Raise UserError for online tuning on hosts: it changes one running engine."""
    if hosts.is_used:
        raise UserError(
            Argument("hosts"), ": not allowed with [online], which changes one running engine"
        )


@contextmanager
def opened_hosts(
    hosts: OnHosts | None, engine: Engine, observer: Observer
) -> Iterator[Hosts | None]:
    """Command the hosts while the context is open; None if runs stay in this process.

    UserError if the engine cannot run on these hosts, no host is connected, or the address is not
    safe.
    """
    if hosts is None or not hosts.is_used:
        yield None
        return
    _check(hosts, engine)
    silence_dask()
    where, number = hosts.where, hosts.number
    if number is not None:
        with observer.working(f"starting {number} processes"), local_hosts(number) as found:
            yield found
    elif isinstance(where, str):
        with connect(where, hosts.certificates, insecure=hosts.insecure) as found:
            _tell(found, observer)
            yield found
    else:
        with Hosts(where) as found:  # type: ignore[arg-type]
            _tell(found, observer)
            yield found


@contextmanager
def session_on(
    used: Hosts | None, home: Home, prepared: Prepared, observer: Observer, *, accept_noise: bool
) -> Iterator[Session]:
    """Open a study for runs on these hosts, or on this machine if they are None.

    This machine must have enough space on its disk, and a remark says if other programs are busy.
    """
    if used is None:
        check_space(prepared.spec, home)
    with open_session(home, prepared, observer, accept_noise=accept_noise, hosts=used) as session:
        if used is None:
            remark_busy(session.spec, observer, accept_noise=accept_noise)
        yield session


def _tell(hosts: Hosts, observer: Observer) -> None:
    """Say what is odd about scheduler and hosts; UserError if no host can be used."""
    infos = hosts.hosts()
    for remark in (
        *hosts.warnings,
        *(f"scheduler: {each}" for each in differing_settings(hosts.client)),
        *(f"host {info.node or info.address}: {info.problem}" for info in infos if info.problem),
        *(info.remark for info in infos if info.remark is not None),
    ):
        observer.remark(remark)
    if all(info.problem is not None for info in infos):
        raise UserError(
            "no host can be used; run `lsmtune worker` on each host, and see `lsmtune hosts list`"
        )
