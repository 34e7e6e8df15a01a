"""The hosts of a scheduler: what each one has, and what differs."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from lsmtune import __version__
from lsmtune.api.doctor import usual_rocksdb
from lsmtune.engines.checks import Check
from lsmtune.engines.libraries.installed import library_hashes
from lsmtune.hosts.connect import connect
from lsmtune.hosts.extra import need_extra, silence_dask
from lsmtune.hosts.scheduler import differing_settings
from lsmtune.hosts.task import CLOCK_S, SET_CLOCKS, HostInfo, short_hash
from lsmtune.progress import Observer
from lsmtune.study.host_jobs import name_of
from lsmtune.system.host import describe_host
from lsmtune.units import format_bytes

LISTED = ("lsmtune", "RocksDB", "CPU", "cores", "memory")
"""Facts that a list of hosts shows."""
_SAME = "install the same version on all hosts and on this machine"
_EQUAL = "use equal machines: others may prefer other options"
_FIXES = {
    "lsmtune": _SAME,
    "RocksDB": "run `lsmtune engines install rocksdb@{rocksdb}` on all hosts and on this machine",
    "Dask": _SAME,
    "Python": _SAME,
    **dict.fromkeys(("CPU", "cores", "memory", "disk", "file system"), _EQUAL),
    "kernel": "install the same kernel on all hosts",
}
"""What to do about a difference, for each fact."""
_MUST_MATCH = ("lsmtune", "RocksDB")
"""Runs of hosts that differ in these facts cannot be compared."""
_ALSO_HERE = (*_MUST_MATCH, "Dask", "Python")
"""Facts that this machine should have in common with the hosts. It runs no trials."""
_HERE = "this machine"
_MEMORY_TOLERANCE = 1.1
"""Equal machines may have slightly different memory: firmware takes some of it."""
_MOST_NAMED = 3
"""Of a larger group of hosts, only the number is shown."""
_UNKNOWN = "unknown"
_LOOK = "see `lsmtune hosts list`, and the output of `lsmtune worker` on this host"


@dataclass(frozen=True, slots=True)
class HostsChecked:
    """The checks of hosts, the hosts, and the facts of each host and of this machine by name."""

    checks: list[Check]
    hosts: list[HostInfo] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)


def doctor_hosts(
    scheduler: str,
    certificates: Path | None = None,
    *,
    insecure: bool = False,
    program: str | None = None,
    observer: Observer | None = None,
) -> HostsChecked:
    """Compare the hosts of a scheduler with each other and with this machine. Nothing runs there.

    `program` is the db_bench that the user named, if any. UserError if the address is not safe or
    the scheduler refuses the certificate; LsmtuneError if no scheduler answers.
    """
    need_extra()
    silence_dask()
    watch = observer or Observer()
    with connect(scheduler, certificates, insecure=insecure) as hosts:
        for warning in hosts.warnings:
            watch.remark(warning)
        with watch.working("checking the hosts"):
            infos, settings = hosts.hosts(), differing_settings(hosts.client)
    if not infos:
        fix = f"run `lsmtune worker {scheduler}` on each host"
        return HostsChecked([Check("hosts", False, "no host is connected", fix)])
    rocksdb, here = usual_rocksdb(program).rocksdb, this_machine()
    named = {_name(info): info for info in infos}
    checks = [*_state_checks(infos, settings), *differences(named, here, rocksdb)]
    facts = {name: facts_of(info, rocksdb) for name, info in {**named, _HERE: here}.items()}
    return HostsChecked(checks, infos, facts)


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


def facts_of(info: HostInfo, rocksdb: str | None) -> dict[str, str]:
    """Return what is known of a host, as texts by name.

    `rocksdb` is the version that a study of this machine runs; None if it runs no library.
    """
    found = {"lsmtune": info.lsmtune, "Dask": info.dask, "Python": info.python}
    if info.facts is not None:
        if rocksdb is not None:
            library = info.libraries.get(rocksdb)
            state = "not installed" if library is None else f"SHA-256 {short_hash(library)}"
            found["RocksDB"] = f"{rocksdb}, {state}"
        found["CPU"] = info.facts.cpu_model or _UNKNOWN
        found["cores"] = str(info.facts.usable_cpus)
        found["memory"] = format_bytes(info.facts.memory_bytes)
        found["kernel"] = info.facts.kernel
    if (disk := info.storage) is not None:
        kind = {None: _UNKNOWN, True: "rotating disk", False: "SSD"}[disk.rotational]
        found["disk"] = kind if disk.model is None else f"{kind}, {disk.model}"
        found["file system"] = disk.fs_type or _UNKNOWN
    return {name: text for name, text in found.items() if text}


def differences(
    hosts: Mapping[str, HostInfo], here: HostInfo, rocksdb: str | None
) -> Iterator[Check]:
    """Yield a check for each fact in which the hosts, by their names, differ, and one for the rest.

    A host and this machine must have the same software only.
    """
    facts = {name: facts_of(info, rocksdb) for name, info in hosts.items()}
    own = {_HERE: facts_of(here, rocksdb)}
    sizes = [info.facts.memory_bytes for info in hosts.values() if info.facts is not None]
    alike, equal = bool(sizes) and max(sizes) <= _MEMORY_TOLERANCE * min(sizes), list[str]()
    for name, fix in _FIXES.items():
        groups: dict[str, list[str]] = {}
        for host, found in (facts | own if name in _ALSO_HERE else facts).items():
            if name in found:
                groups.setdefault(found[name], []).append(host)
        if len(groups) == 1 or (name == "memory" and alike):
            equal.append(name)
        elif groups:
            text = "; ".join(f"{_named(names)}: {value}" for value, names in groups.items())
            yield Check(name, name not in _MUST_MATCH, text, fix.format(rocksdb=rocksdb))
    if len(facts) > 1:
        yield Check("the same", True, ", ".join(equal))


def _state_checks(infos: Sequence[HostInfo], settings: Sequence[str]) -> Iterator[Check]:
    """Check that hosts can be used, the settings of their scheduler, and their clocks."""
    usable = [info for info in infos if info.problem is None]
    if usable:
        yield Check("hosts", True, f"{len(usable)} of {len(infos)} can be used")
    for info in infos:
        # Another version of lsmtune is a fact of its own.
        if info.problem is not None and info.lsmtune in ("", __version__):
            detail, _, fix = info.problem.strip().splitlines()[-1].partition("; ")
            yield Check(f"host {_name(info)}", False, detail, fix or _LOOK)
    for each in settings:
        yield Check("scheduler", True, each, "start it with `lsmtune hosts start`")
    off = [f"{name_of(info)}: {info.clock_text}" for info in usable if info.clock_text]
    if off:
        yield Check("clocks", True, "; ".join(off), SET_CLOCKS)
    elif usable:
        yield Check("clocks", True, f"all within {CLOCK_S:g} s of this machine's clock")


def _named(hosts: Sequence[str]) -> str:
    return ", ".join(hosts) if len(hosts) <= _MOST_NAMED else f"{len(hosts)} hosts"


def _name(info: HostInfo) -> str:
    """Return the host as rows name it; one that does not answer has an address only."""
    return name_of(info) if info.host else info.address
