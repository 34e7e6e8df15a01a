"""Compares the facts of hosts: what is the same on all of them, and which hosts differ."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from lsmtune import __version__
from lsmtune.engines.libraries.installed import library_hashes
from lsmtune.hosts.task import HostInfo
from lsmtune.system.host import describe_host
from lsmtune.units import format_bytes

_HASH_DIGITS = 8
_MEMORY_TOLERANCE = 1.1
"""Equal machines may have slightly different memory: firmware takes some of it."""
_UNKNOWN = "unknown"
_NOT_INSTALLED = "not installed"
_EQUAL = "use equal machines: others may prefer other options"


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts with the same value of a fact."""

    value: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of all hosts; the largest group comes first.

    `here` is the value of this machine, None if it is not compared. With `must_match`, runs of
    hosts that differ cannot be compared. `fix` is what to do about a difference.
    """

    name: str
    groups: tuple[Group, ...]
    here: str | None
    fix: str
    must_match: bool
    here_counts: bool

    @property
    def differs(self) -> bool:
        """Whether hosts differ, or this machine where it must not."""
        return len(self.groups) > 1 or (self.here_counts and self._here_differs)

    @property
    def text(self) -> str:
        """The values, the hosts that differ, and this machine if it differs."""
        first, *others = self.groups
        total = sum(len(group.hosts) for group in self.groups)
        if not others:
            text = f"same on all hosts: {first.value}" if total > 1 else first.value
        elif 2 * len(first.hosts) > total:
            text = f"{len(first.hosts)} of {total} hosts: {first.value}; {_named(others)}"
        else:
            text = _named(self.groups)
        return f"{text}; this machine: {self.here}" if self._here_differs else text

    @property
    def _here_differs(self) -> bool:
        return self.here is not None and any(self.here != group.value for group in self.groups)


def this_machine() -> HostInfo:
    """Return the facts of this machine, without a disk: its trials run on the hosts."""
    return HostInfo(
        node=platform.node(),
        lsmtune=__version__,
        dask=version("distributed"),
        python=platform.python_version(),
        facts=describe_host(),
        libraries=library_hashes(),
    )


def compare_hosts(hosts: Mapping[str, HostInfo], here: HostInfo, rocksdb: str | None) -> list[Fact]:
    """Return the facts of the hosts, by their names, each compared with the others and with here.

    `rocksdb` is the version that a study of this machine runs; None if it runs no library. A host
    that cannot be used has a version of lsmtune at most.
    """
    found = [
        _versions(hosts, here, "lsmtune", lambda info: info.lsmtune, must_match=True),
        _versions(hosts, here, "Dask", lambda info: info.dask),
        _versions(hosts, here, "Python", lambda info: info.python),
    ]
    if rocksdb is not None:
        found.append(_library(hosts, here, rocksdb))
    found += [_fact(hosts, here, name, value, _EQUAL) for name, value in _HARDWARE.items()]
    found.append(_memory(hosts, here))
    found.append(_fact(hosts, here, "kernel", _kernel, "install the same kernel on all hosts"))
    return [fact for fact in found if fact is not None]


def short_hash(sha256: str) -> str:
    """Return the first digits of a SHA-256, which tell two libraries apart."""
    return sha256[:_HASH_DIGITS]


_Value = Callable[[HostInfo], str | None]
"""Returns the value of a fact; None or "" if the host did not tell it."""


def _fact(
    hosts: Mapping[str, HostInfo],
    here: HostInfo,
    name: str,
    value: _Value,
    fix: str,
    *,
    must_match: bool = False,
    here_counts: bool = False,
) -> Fact | None:
    """Group the hosts by their values; None if no host has one."""
    groups: dict[str, list[str]] = {}
    for host, info in hosts.items():
        if found := value(info):
            groups.setdefault(found, []).append(host)
    if not groups:
        return None
    ordered = sorted(groups.items(), key=lambda each: -len(each[1]))
    return Fact(
        name, tuple(Group(text, tuple(names)) for text, names in ordered), value(here) or None, fix,
        must_match, here_counts,
    )  # fmt: skip


def _versions(
    hosts: Mapping[str, HostInfo],
    here: HostInfo,
    name: str,
    value: _Value,
    *,
    must_match: bool = False,
) -> Fact | None:
    fix = f"install the same version of {name} on all hosts and on this machine"
    return _fact(hosts, here, name, value, fix, must_match=must_match, here_counts=True)


def _library(hosts: Mapping[str, HostInfo], here: HostInfo, rocksdb: str) -> Fact | None:
    def value(info: HostInfo) -> str | None:
        if info.facts is None:
            return None
        sha256 = info.libraries.get(rocksdb)
        return f"{rocksdb}, " + (
            _NOT_INSTALLED if sha256 is None else f"SHA-256 {short_hash(sha256)}"
        )

    fix = f"run `lsmtune engines install rocksdb@{rocksdb}` on this machine and on all hosts"
    return _fact(hosts, here, "RocksDB", value, fix, must_match=True, here_counts=True)


def _memory(hosts: Mapping[str, HostInfo], here: HostInfo) -> Fact | None:
    sizes = sorted(i.facts.memory_bytes for i in (*hosts.values(), here) if i.facts is not None)
    first: list[int] = []
    for size in sizes:
        if not first or size > _MEMORY_TOLERANCE * first[-1]:
            first.append(size)

    def value(info: HostInfo) -> str | None:
        if info.facts is None:
            return None
        size = info.facts.memory_bytes
        return format_bytes(max(each for each in first if each <= size))

    return _fact(hosts, here, "memory", value, _EQUAL)


def _cpu(info: HostInfo) -> str | None:
    return None if info.facts is None else info.facts.cpu_model or _UNKNOWN


def _cores(info: HostInfo) -> str | None:
    return None if info.facts is None else str(info.facts.usable_cpus)


def _kernel(info: HostInfo) -> str | None:
    return None if info.facts is None else info.facts.kernel


def _disk(info: HostInfo) -> str | None:
    disk = info.storage
    if disk is None:
        return None
    kind = {None: _UNKNOWN, True: "rotating disk", False: "SSD"}[disk.rotational]
    return kind if disk.model is None else f"{kind}, {disk.model}"


def _file_system(info: HostInfo) -> str | None:
    return None if info.storage is None else info.storage.fs_type or _UNKNOWN


_HARDWARE: Mapping[str, _Value] = {
    "CPU": _cpu, "cores": _cores, "disk": _disk, "file system": _file_system,
}  # fmt: skip


def _named(groups: Sequence[Group]) -> str:
    return "; ".join(f"{', '.join(group.hosts)}: {group.value}" for group in groups)
