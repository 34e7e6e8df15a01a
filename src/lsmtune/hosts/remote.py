"""The functions that Dask calls on a worker. They take and return plain values only.

`run_attempt` and `join_attempt` are Dask tasks. The other functions are called with `client.run`:
Dask runs them at once, also while a trial runs. None of them raises, because Dask would print the
arguments of a function that fails, and these have the settings of the study.
"""

import asyncio
import os
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path

from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.hosts.task import HostTask, Summary
from lsmtune.hosts.this_host import ThisHost, this_host
from lsmtune.units import KIB

HOME_VARIABLE = "LSMTUNE_WORKER_HOME"
DEFAULT_HOME = "lsmtune-worker"
_MOST_WORKERS = 64
"""At most this number of Dask workers in one folder get a home each."""
_UNREAD = "unread"
"""The attempt of a summary of a task that the host cannot read."""
_SMALL_BYTES = 256 * KIB


class _Process:
    """What this process is: the host that `serve_as` names, else one that begins when needed."""

    host: ThisHost | None = None
    resources = ExitStack()


def serve_as(host: ThisHost | None) -> None:
    """Answer as this host, or as none any more."""
    _Process.host = host


def _host() -> ThisHost:
    """Return this process's host; a Dask worker that lsmtune did not start becomes one.

    It uses the home that the user names, else the first one that no other worker uses.
    """
    if _Process.host is None:
        named = os.environ.get(HOME_VARIABLE)
        numbers = ("", *(f"-{number}" for number in range(2, _MOST_WORKERS + 1)))
        homes = [named] if named else [f"{DEFAULT_HOME}{number}" for number in numbers]
        for home in homes[:-1]:
            with suppress(UserError):
                _Process.host = _Process.resources.enter_context(this_host(Path(home), engine_of))
                return _Process.host
        _Process.host = _Process.resources.enter_context(this_host(Path(homes[-1]), engine_of))
    return _Process.host


Kept = tuple[str, dict[str, bytes]]
"""The JSON of a result, and its compressed evidence by name."""


async def run_attempt(packed: bytes) -> tuple[str, Kept | None]:
    """Run the task and return its summary as JSON; the result is in the outbox then.

    A small result comes along, so that it needs no second call.
    """
    attempt = _UNREAD
    try:
        task = HostTask.unpack(packed)
        attempt = task.attempt
        done = _host().start(task)
    except LsmtuneError as error:
        return Summary(attempt=attempt, problem=str(error)).model_dump_json(), None
    return await _end_of(done)


async def join_attempt(attempt: str) -> tuple[str, Kept | None]:
    """Wait for an attempt that runs here already, and return the same as `run_attempt`."""
    return await _end_of(_host().join(attempt))


async def _end_of(done: Future[Summary]) -> tuple[str, Kept | None]:
    # The trial goes on when Dask gives up this call, for example because its connection broke.
    summary = await asyncio.shield(asyncio.wrap_future(done))
    kept = fetch(summary.attempt)
    is_small = kept is not None and sum(map(len, kept[1].values())) <= _SMALL_BYTES
    return summary.model_dump_json(), kept if is_small else None


def describe() -> str:
    """Return the facts and the state of this host as JSON."""
    return _host().describe().model_dump_json()


def fetch(attempt: str) -> Kept | None:
    """Return the JSON of a result and its compressed evidence; None if it is not kept here."""
    outbox = _host().outbox
    return outbox.get(attempt) if outbox.has(attempt) else None


def confirm(attempts: list[str]) -> None:
    """Remove results that the commander has stored."""
    for attempt in attempts:
        _host().outbox.confirm(attempt)


def end(attempt: str) -> None:
    """End an attempt if it runs here."""
    _host().end(attempt)


def alive(studies: list[str]) -> None:
    """Note that somebody commands these studies."""
    _host().heard(tuple(studies))
