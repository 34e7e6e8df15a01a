"""Dask's worker, as a host of timed trials needs it."""

import asyncio
import platform
import secrets
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsmtune.engines.registry import engine_of
from lsmtune.hosts import remote
from lsmtune.hosts.address import Address, UnreachableError, check_answers, check_is_scheduler
from lsmtune.hosts.extra import TIMEOUTS, need_extra
from lsmtune.hosts.signals import stop_event
from lsmtune.hosts.this_host import DEFAULT_ORPHAN_S, MakeEngine, ThisHost, this_host

if TYPE_CHECKING:
    from distributed import Security, Worker

_RETRY_S = 2.0
_START_S = "30s"
_SETTINGS: dict[str, Any] = {
    # Nothing of Dask may use the CPU while a trial is timed.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "1s",
    **TIMEOUTS,
}

Say = Callable[[str], None]
"""Gets one sentence about the worker's connection."""


def run_worker(
    address: Address,
    home: Path,
    security: "Security | None",
    say: Say,
    *,
    orphan_s: float = DEFAULT_ORPHAN_S,
    make_engine: MakeEngine = engine_of,
) -> None:
    """Serve the scheduler at the address until a signal ends the process.

    When Dask ends its worker, a new one connects. UserError if the scheduler refuses the
    certificate, or if another worker uses the home.
    """
    need_extra()
    import dask

    with dask.config.set(_SETTINGS), this_host(home, make_engine, orphan_s) as host:
        remote.serve_as(host)
        try:
            asyncio.run(_serve(address, home, security, say, host))
        finally:
            remote.serve_as(None)


async def _serve(
    address: Address, home: Path, security: "Security | None", say: Say, host: ThisHost
) -> None:
    stop = stop_event()
    last = ""
    while not stop.is_set():
        try:
            await asyncio.to_thread(check_answers, address, _context(security))
            await check_is_scheduler(address, security, "worker")
            async with _worker(address, home, security, host) as worker:
                say(f"host {host.id} is connected to {address.text}")
                await _either(worker, stop)
            message = f"host {host.id} lost its connection to {address.text}; connecting again"
        except UnreachableError as error:
            message = f"{error}; trying again"
        except (OSError, RuntimeError, TimeoutError) as error:
            message = f"{address.text}: {error.__cause__ or error}; trying again"
        if not stop.is_set():
            if message != last:
                say(message)
            last = message
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _RETRY_S)


async def _either(worker: "Worker", stop: asyncio.Event) -> None:
    """Wait until Dask ends the worker or a signal ends the process."""
    waits = [asyncio.create_task(worker.finished()), asyncio.create_task(stop.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _worker(address: Address, home: Path, security: "Security | None", host: ThisHost) -> "Worker":
    from distributed import Worker

    return Worker(
        address.text,
        nthreads=1,
        memory_limit=0,
        security=security,
        # The name of a worker that is gone may still be taken.
        name=f"{platform.node()}-{host.id}-{secrets.token_hex(3)}",
        host=_own_ip(address),
        dashboard_address="127.0.0.1:0",
        local_directory=str(home / "dask"),
        death_timeout=_START_S,
    )


def _own_ip(address: Address) -> str:
    """Return this host's address on the way to the scheduler; a worker listens nowhere else."""
    family, kind, _, _, target = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_DGRAM
    )[0]
    with socket.socket(family, kind) as probe:
        probe.connect(target)
        ip = str(probe.getsockname()[0])
    return f"[{ip}]" if ":" in ip else ip


def _context(security: "Security | None") -> ssl.SSLContext | None:
    if security is None:
        return None
    context: ssl.SSLContext = security.get_connection_args("worker")["ssl_context"]
    return context
