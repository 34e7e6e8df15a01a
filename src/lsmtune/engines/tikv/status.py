"""TiKV's status server: what it runs with, what it counts, and changes while it runs."""

import hashlib
import ipaddress
import json
import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any

from lsmtune.engines.attempt import MOST_CHARACTERS
from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.tikv.options import Flat, flat
from lsmtune.metrics.prometheus import Series, parse_metrics
from lsmtune.trials import Status

_ANSWER_S = 10.0
_OK = 200


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
