"""Dask's scheduler with the settings that timed trials need."""

import asyncio
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsmtune.errors import UserError
from lsmtune.hosts.address import Address
from lsmtune.hosts.extra import TIMEOUTS, need_extra
from lsmtune.hosts.signals import stop_event

if TYPE_CHECKING:
    from distributed import Client, Scheduler, Security

WORKER_TTL_S = 20.0
_FAILURES = "distributed.scheduler.allowed-failures"
_STEALING = "distributed.scheduler.work-stealing"
_TTL = "distributed.scheduler.worker-ttl"
_DASHBOARD = "127.0.0.1:8787"
"""Only this machine sees Dask's dashboard, which asks for no password."""

Ready = Callable[[Address, str], None]
"""Gets the address and the URL of the dashboard when the scheduler accepts connections."""


def settings(worker_ttl_s: float = WORKER_TTL_S) -> dict[str, Any]:
    """Return the settings of Dask for a scheduler.

    A worker that dies is not forgiven, because the trial must be given out by lsmtune. No trial
    moves to another host by itself. A host that is frozen or cut off is noticed within seconds.
    """
    return {_FAILURES: 0, _STEALING: False, _TTL: f"{worker_ttl_s}s", **TIMEOUTS}


def run_scheduler(
    address: Address,
    security: "Security | None",
    ready: Ready,
    *,
    worker_ttl_s: float = WORKER_TTL_S,
) -> None:
    """Run a scheduler at the address until a signal ends the process; port 0 is any free one.

    UserError if it cannot listen there.
    """
    need_extra()
    import dask

    with dask.config.set(settings(worker_ttl_s)):
        asyncio.run(_serve(address, security, ready))


async def _serve(address: Address, security: "Security | None", ready: Ready) -> None:
    from distributed import Scheduler

    stop = stop_event()
    host = f"[{address.host}]" if ":" in address.host else address.host
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the dashboard takes another port if its own is used
            scheduler = await Scheduler(
                host=host,
                port=address.port,
                protocol=f"{address.scheme}://",
                security=security,
                dashboard_address=_DASHBOARD,
            )
    except (OSError, RuntimeError) as error:
        why = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise UserError(
            f"{address.text}: cannot listen there: {getattr(why, 'strerror', None) or why}; use an "
            "address of this machine and a free port"
        ) from error
    try:
        port = scheduler.port
        ready(Address(address.scheme, address.host, port), _dashboard(scheduler))
        await stop.wait()
    finally:
        await scheduler.close()


def _dashboard(scheduler: "Scheduler") -> str:
    server: Any = scheduler.http_server
    return f"http://{server.address}:{server.port}/status"


def differing_settings(client: "Client") -> list[str]:
    """Return how the settings of a scheduler that lsmtune did not start differ, as sentences."""

    # A function in a function is sent as code, so the scheduler need not have lsmtune.
    def read(dask_scheduler: Any) -> dict[str, Any]:
        import dask

        return {
            "failures": dask_scheduler.allowed_failures,
            "ttl": dask_scheduler.worker_ttl,
            "stealing": dask.config.get("distributed.scheduler.work-stealing"),
        }

    found: dict[str, Any] = client.run_on_scheduler(read)
    different = []
    if found["failures"] != 0:
        different.append(
            f"{_FAILURES} is {found['failures']}, lsmtune uses 0: a trial whose host dies may run "
            "again without lsmtune, and its time is lost"
        )
    if found["stealing"]:
        different.append(f"{_STEALING} is on, lsmtune turns it off: Dask may move trials")
    if not found["ttl"] or found["ttl"] > WORKER_TTL_S:
        ttl = f"{found['ttl']:g} s" if found["ttl"] else "unlimited"
        different.append(
            f"{_TTL} is {ttl}, lsmtune uses {WORKER_TTL_S:g} s: a frozen host is noticed late"
        )
    return different
