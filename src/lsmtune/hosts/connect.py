"""Connections of a commander to a scheduler."""

import asyncio
import os
import platform
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lsmtune.errors import LsmtuneError
from lsmtune.hosts.address import (
    Address,
    check_answers,
    check_is_scheduler,
    check_safe,
    parse_address,
)
from lsmtune.hosts.certificates import security
from lsmtune.hosts.commander import ALIVE_S, Hosts
from lsmtune.hosts.extra import TIMEOUTS, need_extra

if TYPE_CHECKING:
    from distributed import Security

_CONNECT_S = 15


@contextmanager
def connect(
    address: str,
    certificates: Path | None = None,
    *,
    insecure: bool = False,
    alive_s: float = ALIVE_S,
) -> Iterator[Hosts]:
    """Command the hosts of the scheduler at an address such as tls://10.0.0.1:8786.

    UserError if the address is not safe or the scheduler refuses the certificate; LsmtuneError if
    no scheduler answers.
    """
    need_extra()
    import dask
    from distributed import Client

    place = parse_address(address)
    warning = check_safe(place, has_certificates=certificates is not None, insecure=insecure)
    keys = None if certificates is None else security(certificates, "client")
    context = None if keys is None else keys.get_connection_args("client")["ssl_context"]
    check_answers(place, context)
    # Not only for the first connection: Dask makes new ones while it works.
    with dask.config.set(TIMEOUTS):
        try:
            _check_is_scheduler(place, keys)
            client = Client(
                place.text, security=keys, timeout=_CONNECT_S, set_as_default=False,
                name=f"lsmtune {own_name()}",
            )  # fmt: skip
        except (OSError, TimeoutError) as error:
            raise LsmtuneError(f"{place.text}: the scheduler does not answer: {error}") from error
        with client, Hosts(client, warnings=[warning] if warning else [], alive_s=alive_s) as hosts:
            yield hosts


def _check_is_scheduler(place: Address, keys: "Security | None") -> None:
    """Ask in a thread, because the caller's may have an event loop, as in a notebook."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, check_is_scheduler(place, keys, "client")).result()


def own_name() -> str:
    """Return the name of this process, for people who look at a host."""
    return f"{platform.node()}:{os.getpid()}"
