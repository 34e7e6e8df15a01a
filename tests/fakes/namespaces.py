"""Three hosts on one machine: network namespaces with addresses of their own. Needs root.

A hub has the scheduler and the commander. Each host is connected to the hub by a link of its own,
which a test can cut.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_CLONE_NEWNET = 0x40000000
_NETWORK = "10.213"
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Network:
    """The hub and its hosts, by number from 1."""

    name: str
    hosts: int

    @property
    def hub(self) -> str:
        return f"{self.name}-hub"

    def host(self, number: int) -> str:
        return f"{self.name}-{number}"

    @property
    def hub_address(self) -> str:
        """Address of the hub, which all hosts reach."""
        return f"{_NETWORK}.0.1"

    def prefix(self, number: int) -> list[str]:
        """Words in front of a command that runs on a host."""
        return ["ip", "netns", "exec", self.host(number)]

    def cut(self, number: int) -> None:
        """Pull the cable of a host."""
        _ip("-n", self.hub, "link", "set", f"host{number}", "down")

    def reconnect(self, number: int) -> None:
        """Plug the cable in again."""
        _ip("-n", self.hub, "link", "set", f"host{number}", "up")

    def make(self) -> None:
        _ip("netns", "add", self.hub)
        _ip("-n", self.hub, "link", "set", "lo", "up")
        _ip("-n", self.hub, "address", "add", f"{self.hub_address}/32", "dev", "lo")
        for number in range(1, self.hosts + 1):
            self._connect(number)

    def _connect(self, number: int) -> None:
        host, cable = self.host(number), f"host{number}"
        near, far = f"{_NETWORK}.{number}.1", f"{_NETWORK}.{number}.2"
        _ip("netns", "add", host)
        _ip("-n", host, "link", "set", "lo", "up")
        _ip("-n", self.hub, "link", "add", cable, "type", "veth", "peer", "name", "hub",
            "netns", host)  # fmt: skip
        _ip("-n", self.hub, "address", "add", f"{near}/24", "dev", cable)
        _ip("-n", self.hub, "link", "set", cable, "up")
        _ip("-n", host, "address", "add", f"{far}/24", "dev", "hub")
        _ip("-n", host, "link", "set", "hub", "up")
        _ip("-n", host, "route", "add", "default", "via", near)

    def remove(self) -> None:
        """Remove what was made; links end with their namespaces."""
        for name in (self.hub, *map(self.host, range(1, self.hosts + 1))):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


@contextmanager
def network(hosts: int = 3) -> Iterator[Network]:
    """Make the namespaces, or skip the test with the reason."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the program ip")
    made = Network(f"lsmtune{os.getpid()}", hosts)
    try:
        try:
            made.make()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not allowed here: {error.stderr.strip()}")
        yield made
    finally:
        made.remove()


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Let this thread, and the threads that it starts, use the network of a namespace."""
    with Path("/proc/self/ns/net").open("rb") as own:
        with Path("/run/netns", namespace).open("rb") as other:
            _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)
