"""Addresses of schedulers, and the rules that keep strangers away from them.

Dask runs the code that a client sends. So whoever can connect can run programs on every host.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsmtune.errors import Argument, LsmtuneError, Message, UserError

if TYPE_CHECKING:
    from distributed import Security

_FORM = re.compile(
    r"(?P<scheme>tcp|tls)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>\d+)"
)
_ALMOST = re.compile(
    r"(?:(?P<scheme>[A-Za-z]*)://)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[^:]*))?"
)
"""A text that may lack a part of an address, or have a wrong one."""
_MOST_PORT = 65_535
_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10",
    )
)  # fmt: skip
"""Networks that routers of the internet do not reach (RFC 1918, 3927, 4193, 4291)."""
CERTIFICATES = Argument("certificates")
INSECURE = Argument("insecure", True)
_ANSWER_S = 10.0
_REFUSED_US = ("UNKNOWN_CA", "CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN",
               "CERTIFICATE_EXPIRED", "DECRYPT_ERROR", "HANDSHAKE_FAILURE")  # fmt: skip


class UnreachableError(LsmtuneError):
    """No scheduler answers at an address; one may answer later."""


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a scheduler: `tls` with certificates, or plain `tcp`."""

    scheme: str
    host: str
    port: int

    @property
    def text(self) -> str:
        """The address as Dask writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Return the address of a text such as `tls://10.0.0.1:8786`; UserError for another form."""
    found = _FORM.fullmatch(text)
    if found is None or not int(found["port"]) <= _MOST_PORT:
        raise UserError(
            f"address {text!r}: {_mistake(text)}; use e.g. tls://10.0.0.1:8786, or "
            "tcp://127.0.0.1:8786 on one machine"
        )
    return Address(found["scheme"], found["host"].strip("[]"), int(found["port"]))


def _mistake(text: str) -> str:
    """Return what is wrong with a text that is not an address."""
    found = _ALMOST.fullmatch(text)
    if found is None:
        return "not an address of a scheduler"
    if found["scheme"] is None:
        return "tls:// or tcp:// is missing at the beginning"
    if found["scheme"] not in ("tls", "tcp"):
        return f"unknown scheme {found['scheme']}://"
    if not found["port"]:
        return "the port is missing at the end"
    return f"the port {found['port']!r} is not a number from 0 to {_MOST_PORT}"


def check_safe(address: Address, *, has_certificates: bool, insecure: bool = False) -> str | None:
    """Return the warning that each output must show, or None if strangers are kept away.

    UserError for an address that is not safe enough. Plain tcp is allowed on the loopback
    interface; with `insecure` it is also allowed in private networks.
    """
    if address.scheme == "tls":
        if not has_certificates:
            raise UserError(
                f"{address.text}: a tls address needs certificates; name their folder with ",
                CERTIFICATES,
                "; `lsmtune hosts init DIR` makes them",
            )
        if insecure:
            raise UserError(f"{address.text}: ", INSECURE, ": not needed with tls; remove it")
        return None
    if has_certificates:
        raise UserError(
            f"{address.text}: plain tcp does not use the certificates; write tls:// instead of tcp://"
        )
    found = _resolve(address)
    if all(ip.is_loopback for ip in found):
        return None
    if not insecure:
        raise UserError(
            f"{address.text}: whoever can connect to this address could run programs on every "
            "host; use tls:// with ",
            CERTIFICATES,
            " (`lsmtune hosts init DIR` makes them)",
        )
    if not all(ip.is_loopback or _is_private(ip) for ip in found):
        raise UserError(
            f"{address.text}: ",
            INSECURE,
            ": allowed only with an address of a private network "
            "such as 10.0.0.0/8; use tls:// with ",
            CERTIFICATES,
        )
    return Message(
        f"insecure: whoever can connect to {address.text} can run programs on every host; use "
        "tls:// with ",
        CERTIFICATES,
    )


def check_answers(address: Address, context: ssl.SSLContext | None) -> None:
    """Connect once, so that a refusal is one clear sentence and not a time-out of Dask.

    UnreachableError if nothing answers, or not without TLS; UserError if the other side refuses the
    certificate, has one of another CA, or does not use TLS.
    """
    try:
        with socket.create_connection((address.host, address.port), _ANSWER_S) as plain:
            if context is None:
                _expect_bytes(plain, address)
                return
            with context.wrap_socket(plain) as secure:
                _expect_bytes(secure, address)
    except ssl.SSLCertVerificationError as error:
        raise UserError(
            f"{address.text}: the scheduler has a certificate that this CA did not sign or that "
            f"is not valid now ({error.verify_message}); use certificates of one "
            "`lsmtune hosts init` on all hosts"
        ) from error
    except ssl.SSLError as error:
        raise _tls_problem(address, error) from error
    except (TimeoutError, ConnectionResetError, BrokenPipeError) as error:
        raise _silent(address) from error
    except (socket.gaierror, UnicodeError) as error:
        raise UnreachableError(_unknown_host(address, error)) from error
    except OSError as error:
        raise UnreachableError(
            f"{address.text}: cannot connect: {error.strerror or error}; start the scheduler with "
            "`lsmtune hosts start`, and check address, port and firewall"
        ) from error


async def check_is_scheduler(
    address: Address, security: "Security | None", role: Literal["client", "worker"]
) -> None:
    """Ask the other side, which speaks Dask, what it is; UserError if it is not a scheduler.

    A worker answers a client with errors that nobody understands. TimeoutError or OSError if
    nothing answers.
    """
    from distributed.core import rpc

    keys = None if security is None else security.get_connection_args(role)
    async with asyncio.timeout(_ANSWER_S), rpc(address.text, connection_args=keys) as other:
        kind = str((await other.identity())["type"])
    if "Scheduler" not in kind:
        raise UserError(
            f"{address.text}: a {kind.lower()} of Dask listens at this port, not a scheduler; use "
            "the address that `lsmtune hosts start` prints"
        )


def _expect_bytes(connection: socket.socket, address: Address) -> None:
    """Read the first bytes: Dask's side that accepts a connection writes first."""
    if not connection.recv(1):
        raise _silent(address)


def _silent(address: Address) -> UnreachableError:
    if address.scheme == "tcp":
        return UnreachableError(
            f"{address.text}: the other side does not answer without TLS; use tls:// with ",
            CERTIFICATES,
            ", or check that a scheduler listens there",
        )
    return UnreachableError(
        f"{address.text}: the other side closed the connection or did not answer; check that a "
        "scheduler listens there"
    )


def _tls_problem(address: Address, error: ssl.SSLError) -> UserError:
    if any(word in str(error.reason or error) for word in _REFUSED_US):
        return UserError(
            f"{address.text}: the scheduler refuses this certificate; use certificates of the "
            "`lsmtune hosts init` that made the scheduler's, and renew old ones with "
            "`lsmtune hosts renew`"
        )
    return UserError(
        f"{address.text}: the other side does not use TLS ({error.reason or error}); check that "
        "the scheduler was started with ",
        CERTIFICATES,
    )


def _resolve(address: Address) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UserError(_unknown_host(address, error)) from error
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


def _unknown_host(address: Address, error: OSError | UnicodeError) -> str:
    reason = error.strerror if isinstance(error, OSError) else "not a name of a host"
    return (
        f"{address.text}: unknown host {address.host!r}: {reason}; check the name, or write an IP "
        "address"
    )


def _is_private(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return any(ip.version == network.version and ip in network for network in _PRIVATE)
