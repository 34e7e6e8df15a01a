"""The hosts as the one who commands sees them: give out attempts, get results, notice losses."""

import asyncio
import json
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from lsmtune import __version__
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.hosts import remote
from lsmtune.hosts.remote import Kept
from lsmtune.hosts.task import HostInfo, HostResult, HostTask, Summary

if TYPE_CHECKING:
    from distributed import Client, Future

ALIVE_S = 20.0
"""How often the hosts hear that somebody commands, in seconds."""
_ANSWER_S = 10.0
_STATE_S = 3.0
"""How long `hosts` waits for a host: a frozen one must not keep the others waiting."""
_FIRST_S = 20.0
"""How long `hosts` waits once for a new worker: one of Dask imports lsmtune to answer."""
_LOOK_S = 1.0
"""How often `wait` looks which workers are left, in seconds."""


@dataclass(frozen=True, slots=True)
class Finished:
    """An attempt ended with a result; `confirm` it when it is stored."""

    attempt: str
    result: HostResult


@dataclass(frozen=True, slots=True)
class Lost:
    """An attempt that gave no result here. With `left`, its host is gone and may come back with it.

    Without `left`, the host could not run it, and `reason` says why.
    """

    attempt: str
    host: str
    reason: str
    left: bool


Event = Finished | Lost


@dataclass(frozen=True, slots=True)
class _GivenOut:
    """An attempt that was given out: its study, and the worker that it is pinned to."""

    study: str
    info: HostInfo
    worker: str
    future: "Future[Any]"


class Hosts:
    """The hosts of a scheduler, through a client of Dask.

    Dask carries, and lsmtune decides: an attempt is pinned to its worker without retries, so that
    no other host ever runs it. `warnings` are sentences that each output must show. Leaving the
    block ends the attempts that still run.
    """

    def __init__(
        self, client: "Client", *, warnings: Sequence[str] = (), alive_s: float = ALIVE_S
    ) -> None:
        self.warnings = tuple(warnings)
        self.client = client
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop  # type: ignore[union-attr]
        self._alive_s = alive_s
        self._running: dict[str, _GivenOut] = {}
        self._ended: queue.SimpleQueue[tuple[str, Future[Any]]] = queue.SimpleQueue()
        self._looked_s = 0.0
        self._hosts: dict[str, HostInfo] = {}
        self._asked: set[str] = set()
        self._names: dict[str, str] = {}
        self._studies: set[str] = set()
        self._delivered: dict[str, str] = {}
        self._unconfirmed: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._reports = asyncio.run_coroutine_threadsafe(self._report(), self._loop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._reports.cancel()
        self.end(*self._running)

    def hosts(self) -> list[HostInfo]:
        """Return the hosts and their states, by host; LsmtuneError if the scheduler is gone.

        A host that cannot be used has a `problem`.
        """
        self._names = self._workers()
        asked = list(self._names)
        if new := set(asked) - self._asked:
            # A slow answer would look like a clock that is wrong, so they are asked again below.
            self._ask_all(list(new), remote.describe, patience_s=_FIRST_S)
            self._asked |= new
        began_s = time.time()
        answers = self._ask_all(asked, remote.describe, patience_s=_STATE_S)
        middle_s = (began_s + time.time()) / 2
        infos = [
            info_of(address, answer, middle_s)
            for address, answer in zip(asked, answers, strict=True)
        ]
        self._hosts = {info.address: info for info in infos}
        self._confirm_again()
        return sorted(infos, key=lambda info: (info.host, info.address))

    def start(self, address: str, task: HostTask) -> None:
        """Give an attempt to the worker at an address of `hosts`.

        UserError if the host has a problem; LsmtuneError if it is not known.
        """
        self._submit(address, task.attempt, task.study, remote.run_attempt, task.pack())

    def rejoin(self, address: str, attempt: str, study: str) -> None:
        """Wait for an attempt that runs on a host already, as `hosts` says.

        An earlier commander has started it, or its host was gone for a while. If this object has
        returned its result meanwhile, nothing happens.
        """
        if attempt in self._delivered:
            return
        self._submit(address, attempt, study, remote.join_attempt, attempt)

    def wait(self, timeout_s: float) -> list[Event]:
        """Return what has happened next; wait for it, at most this long.

        LsmtuneError if the scheduler is gone: what runs goes on, and its results are kept.
        """
        limit_s = time.monotonic() + timeout_s
        events: list[Event] = []
        while not events:
            left_s = limit_s - time.monotonic()
            if (attempt := self._next(min(left_s, _LOOK_S))) is not None:
                events.append(self._outcome(attempt))
            if time.monotonic() - self._looked_s >= _LOOK_S:
                events.extend(self._gone())
            if left_s <= 0:
                break
        return events

    def collect(self, study: str) -> list[HostResult]:
        """Return the results that hosts keep for a study, and that this object has not returned.

        They are those of an earlier commander, or of a host that was gone for a while.
        """
        self._studies.add(study)
        results = []
        for info in self.hosts():
            for attempt in info.kept.get(study, ()):
                if attempt not in self._delivered and attempt not in self._running:
                    result = self._fetch(info.address, attempt)
                    if result is not None:
                        self._delivered[attempt] = result.host
                        results.append(result)
        return results

    def confirm(self, attempts: Iterable[str]) -> None:
        """Let the hosts remove results that are stored now, without a wait for them.

        A host that does not answer gets the message when `hosts` meets it again.
        """
        self._unconfirmed |= {name: self._delivered[name] for name in attempts}
        self._confirm_again()

    def end(self, *attempts: str) -> None:
        """End attempts that run; they give no event any more."""
        ending = {attempt: self._running.pop(attempt) for attempt in attempts}

        async def ask() -> None:
            await asyncio.gather(
                *(
                    self._ask(given.info.address, remote.end, attempt)
                    for attempt, given in ending.items()
                )
            )

        self.client.sync(ask)
        for given in ending.values():
            given.future.cancel()

    def _submit(
        self, address: str, attempt: str, study: str, function: Callable[..., Any], value: Any
    ) -> None:
        info = self._hosts.get(address)
        if info is None:
            raise LsmtuneError(f"host {address}: not one of the hosts; see `lsmtune hosts list`")
        if info.problem is not None:
            raise UserError(f"host {name_of(info)}: {info.problem}")
        self._studies.add(study)
        future = self.client.submit(
            function,
            value,
            key=f"lsmtune-{attempt}-{time.time_ns()}",
            workers=[address],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        self._running[attempt] = _GivenOut(study, info, self._names[address], future)
        future.add_done_callback(lambda ended: self._ended.put((attempt, ended)))

    def _next(self, timeout_s: float) -> str | None:
        """Return the next attempt that has ended, after a wait for it; None if none has."""
        limit_s = time.monotonic() + timeout_s
        while True:
            try:
                attempt, future = self._ended.get(timeout=max(0.0, limit_s - time.monotonic()))
            except queue.Empty:
                return None
            # A cancelled future ends too, but then its attempt has another one, or none.
            given = self._running.get(attempt)
            if given is not None and given.future.key == future.key:
                return attempt

    def _outcome(self, attempt: str) -> Event:
        """Return what became of an attempt whose future has ended."""
        from distributed import CancelledError, KilledWorker

        given = self._running.pop(attempt)
        try:
            text, kept = given.future.result(timeout=_ANSWER_S)
        except (KilledWorker, TimeoutError):
            return self._left(attempt, given)
        except CancelledError as error:
            self._workers()  # the usual cause is that the scheduler is gone
            raise LsmtuneError(f"attempt {attempt}: Dask cancelled it: {error}") from error
        except Exception as error:  # whatever a worker without lsmtune raises
            return Lost(attempt, given.info.host, unusable(error), left=False)
        summary = Summary.model_validate_json(text)
        if summary.problem is not None:
            return Lost(attempt, given.info.host, summary.problem, left=False)
        result = self._fetch(given.info.address, attempt) if kept is None else result_of(kept)
        if result is None:
            return self._left(attempt, given)
        self._delivered[attempt] = result.host
        return Finished(attempt, result)

    def _gone(self) -> list[Event]:
        """Return the losses of attempts whose worker is not there any more, and cancel them.

        Dask does not end a task that is pinned to a worker that left politely.
        """
        self._looked_s = time.monotonic()
        names = set(self._workers().values())
        gone = [name for name, given in self._running.items() if given.worker not in names]
        # A future may have ended in the meantime: its result is worth more than the loss.
        events: list[Event] = []
        for attempt in gone:
            given = self._running[attempt]
            if given.future.done():
                events.append(self._outcome(attempt))
            else:
                del self._running[attempt]
                given.future.cancel()
                events.append(self._left(attempt, given))
        return events

    def _left(self, attempt: str, given: _GivenOut) -> Lost:
        reason = "its worker ended, or the host does not answer"
        return Lost(attempt, given.info.host, reason, left=True)

    def _fetch(self, address: str, attempt: str) -> HostResult | None:
        """Return a result; None if its host does not answer or does not have it."""
        (answer,) = self._ask_all([address], remote.fetch, attempt)
        if answer is None or isinstance(answer, Exception):
            return None
        return result_of(answer)

    def _confirm_again(self) -> None:
        """Send the confirmations whose hosts are there; nobody waits for the answers."""
        for info in self._hosts.values():
            mine = [name for name, host in self._unconfirmed.items() if host == info.host]
            if mine and info.problem is None:
                asyncio.run_coroutine_threadsafe(self._confirm_at(info.address, mine), self._loop)

    async def _confirm_at(self, address: str, attempts: list[str]) -> None:
        if not isinstance(await self._ask(address, remote.confirm, attempts), Exception):
            for attempt in attempts:
                self._unconfirmed.pop(attempt, None)

    def _workers(self) -> dict[str, str]:
        """Return the names of all workers by address; LsmtuneError if the scheduler is gone."""

        try:
            found: dict[str, str] = self.client.sync(self._identity)
        except (OSError, TimeoutError) as error:
            raise LsmtuneError(
                "the connection to the scheduler of the hosts broke; see that it runs "
                "(`lsmtune hosts start`), then run the same command again: results are kept on "
                "the hosts"
            ) from error
        return found

    async def _identity(self) -> dict[str, str]:
        if self.client.scheduler is None:
            raise OSError("no connection")
        found = await asyncio.wait_for(self.client.scheduler.identity(n_workers=-1), _ANSWER_S)
        return {address: str(each["name"]) for address, each in found["workers"].items()}

    def _ask_all(
        self,
        addresses: Sequence[str],
        function: Callable[..., Any],
        *args: Any,
        patience_s: float = _ANSWER_S,
    ) -> list[Any]:
        """Call a function on workers; return each answer, or the exception instead."""

        async def ask() -> list[Any]:
            calls = (self._ask(each, function, *args, patience_s=patience_s) for each in addresses)
            return await asyncio.gather(*calls)

        answers: list[Any] = self.client.sync(ask)
        return answers

    async def _ask(
        self,
        address: str,
        function: Callable[..., Any],
        *args: Any,
        patience_s: float = _ANSWER_S,
    ) -> Any:
        """Call a function on a worker, in the event loop of the client."""
        try:
            call = self.client.run(function, *args, workers=[address], on_error="return")
            return (await asyncio.wait_for(call, patience_s))[address]
        except Exception as error:  # a host that fails must not hide the others
            return error

    async def _report(self) -> None:
        """Let the hosts know, again and again, that their studies are commanded."""
        while True:
            await asyncio.sleep(self._alive_s)
            if studies := list(self._studies):
                # Not the addresses of `hosts`: a worker may have connected again since.
                with suppress(OSError, TimeoutError):
                    workers = await self._identity()
                    await asyncio.gather(
                        *(self._ask(address, remote.alive, studies) for address in workers)
                    )


def result_of(kept: Kept) -> HostResult:
    """Return the result that a host has sent."""
    text, evidence = kept
    return HostResult.model_validate_json(text).model_copy(update={"evidence": evidence})


def info_of(address: str, answer: Any, now_s: float) -> HostInfo:
    """Return the state that a host has given as JSON, or why there is none."""
    if isinstance(answer, Exception):
        return HostInfo(address=address, problem=unusable(answer))
    found = json.loads(answer)
    if found.get("lsmtune") != __version__:
        return HostInfo(
            address=address,
            host=str(found.get("host", "")),
            node=str(found.get("node", "")),
            lsmtune=str(found.get("lsmtune", "")),
            problem=(
                f"lsmtune {found.get('lsmtune')} runs there, but {__version__} here; install the "
                "same version on all hosts"
            ),
        )
    try:
        info = HostInfo.model_validate(found)
    except ValidationError:
        problem = "another build of lsmtune runs there; install the same version on all hosts"
        return HostInfo(address=address, problem=problem)
    return info.model_copy(update={"address": address, "clock_offset_s": info.now_s - now_s})


def unusable(error: Exception) -> str:
    """Return why a worker cannot be used, from what a call on it has raised."""
    if isinstance(error, ImportError | AttributeError):
        return "lsmtune is not installed there, or in another version; install the same version"
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, TimeoutError | OSError):
        return "the worker does not answer; see whether the host is frozen or cut off"
    return f"the worker failed: {type(error).__name__}: {error}"


def name_of(info: HostInfo) -> str:
    """Return the host as messages name it."""
    return f"{info.host} ({info.node}, {info.address})"
