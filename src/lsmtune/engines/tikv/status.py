"""TiKV's status server: options, counters, changes while it runs, and when TiKV has settled."""

import hashlib
import ipaddress
import json
import socket
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any

from lsmtune.engines.base import MOST_CHARACTERS, TrialFailedError
from lsmtune.knobs.tikv_toml import Flat, flat
from lsmtune.metrics.prometheus import Series, parse_metrics
from lsmtune.trials import Status

_ANSWER_S = 10.0
_OK = 200
LOOKS = 4
"""So often lsmtune looks within one refresh."""
_REFRESHED = (
    "tikv_engine_flow_bytes", "tikv_engine_compaction_flow_bytes", "tikv_engine_cache_efficiency",
    "tikv_engine_locate",
)  # fmt: skip
_WORK = ("flush", "compaction")


class StatusServer:
    """The server at an address. TrialFailedError where it gives no answer, or none of use."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._metrics = ""

    def identity(self) -> str:
        """A word for the server, the same however its host is spelled."""
        host, _, port = self.address.rpartition(":")
        place = f"{_host_of(host.strip('[]'), int(port))}:{port}"
        return hashlib.sha256(place.encode()).hexdigest()[:12]

    def config(self) -> Flat:
        """What TiKV runs with, by dotted names."""
        text = self._get("/config")
        try:
            return flat(dict(json.loads(text)))
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"TiKV returned a configuration that is not a JSON object: {text[:80]!r}"
            raise TrialFailedError(Status.UNREADABLE, reason) from error

    def change(self, values: Mapping[str, Any]) -> str | None:
        """Change options while it runs, and not its file; its words where it does not say yes.

        A refusal does not tell what has been changed all the same: read it back.
        """
        # Versions that do not know `persist` write the change into their file too.
        code, text = self._ask("POST", "/config?persist=false", json.dumps(dict(values)))
        return None if code == _OK else f"{code}: {text.strip()[:MOST_CHARACTERS]}"

    def metrics(self) -> Series:
        """What it has counted."""
        self._metrics = self._get("/metrics")
        return parse_metrics(self._metrics)

    @property
    def last_metrics(self) -> str:
        """The text of the last metrics, as TiKV told them."""
        return self._metrics

    def is_gone(self) -> bool:
        """Whether nobody listens at the address; one that is only slow is not gone."""
        try:
            self._ask("GET", "/status")
        except TrialFailedError as failure:
            return isinstance(failure.__cause__, ConnectionError)
        return False

    def _get(self, path: str) -> str:
        code, text = self._ask("GET", path)
        if code != _OK:
            words = text.strip()[:MOST_CHARACTERS]
            raise TrialFailedError(Status.UNREADABLE, f"TiKV answered {path} with {code}: {words}")
        return text

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        host, _, port = self.address.rpartition(":")
        connection = HTTPConnection(host.strip("[]"), int(port), timeout=_ANSWER_S)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        except (OSError, HTTPException) as error:
            reason = f"TiKV's status server at {self.address} does not answer: {error}"
            raise TrialFailedError(Status.TIMED_OUT, reason) from error
        finally:
            connection.close()


def _host_of(host: str, port: int) -> str:
    """The address of a host, the same for every spelling; the spelling where it is not found."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return host  # who asks it is told
    addresses = sorted(str(to[0]) for *_, to in found)
    return "loopback" if ipaddress.ip_address(addresses[0]).is_loopback else addresses[0]


def settle(server: StatusServer, refresh_s: float, limit_s: float) -> tuple[Series, float]:
    """Wait for the first refresh after which no flush or compaction runs.

    Returns what is counted then, and for how many seconds work was seen. A refresh that changes no
    counter is known to have come after `refresh_s`. TrialFailedError when the limit passes first.
    """
    began = worked = time.monotonic()
    counted = server.metrics()
    while True:
        before = counted
        for _ in range(LOOKS):
            time.sleep(refresh_s / LOOKS)
            done, counted = _done(counted), server.metrics()
            if _done(counted) != done:
                worked = time.monotonic()
            if _refreshed(counted) != _refreshed(before):
                counted = server.metrics()  # the look may have come in the middle of the refresh
                break
        if not is_busy(counted):
            return counted, worked - began
        worked = time.monotonic()
        if worked - began > limit_s:
            reason = f"TiKV did not finish its flushes and compactions within {limit_s:g} s"
            raise TrialFailedError(Status.TIMED_OUT, reason)


def is_busy(counted: Series) -> bool:
    """Whether a flush or compaction ran at the last refresh."""
    running = ("tikv_engine_num_running_compactions", "tikv_engine_num_running_flushes")
    return any(counted.total(name, db="kv") for name in running)


def _refreshed(counted: Series) -> list[object]:
    """The counters that only a refresh changes."""
    return [counted.values.get(name) for name in _REFRESHED]


def _done(counted: Series) -> tuple[float | None, ...]:
    """How many flushes and compactions have ended; TiKV counts these at once."""
    return tuple(counted.total("tikv_engine_event_total", db="kv", type=kind) for kind in _WORK)
