"""Checks of the hosts of a scheduler: whether they are equal, and give equal results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lsmtune import __version__
from lsmtune.api.doctor import usual_rocksdb
from lsmtune.engines.checks import Check
from lsmtune.engines.registry import engine_of
from lsmtune.engines.rocksdb.checks import INSTALL
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.compare import compare_hosts, this_machine
from lsmtune.hosts.connect import connect
from lsmtune.hosts.extra import need_extra, silence_dask
from lsmtune.hosts.scheduler import differing_settings
from lsmtune.hosts.task import CLOCK_S, SET_CLOCKS, HostInfo
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.study.host_jobs import name_of
from lsmtune.study.host_pairs import (
    KNOB,
    MOST_DIFFERENCE,
    TIME,
    Deviation,
    HostPair,
    PairPlan,
    deviations,
    of_median,
    run_pairs,
)
from lsmtune.system.workdir import scratch
from lsmtune.workloads import Workload

__all__ = ["HostPair"]

_RECORDS = 200_000
_LOOK = "see `lsmtune hosts list`, and the output of `lsmtune worker` on this host"
_LATER = "run this command again when the study has ended"
_QUIET = "stop other programs on the host, then run this command again"
_SLOW = (
    "look for other programs on the host, a slower disk or a lower CPU clock, then run this "
    "command again; do not tune on hosts that stay different"
)


@dataclass(frozen=True, slots=True)
class HostsChecked:
    """The checks of hosts, the runs of each host, and its time / the median of all hosts.

    `values` are the sizes of the memtable in both runs, in bytes.
    """

    checks: list[Check]
    pairs: list[HostPair] = field(default_factory=list)
    values: tuple[int, int] = (0, 0)

    @property
    def of_median(self) -> dict[str, float]:
        """Each host's time of the baseline / the median of all hosts."""
        return of_median(self.pairs)

    def documents(self) -> list[dict[str, Any]]:
        """The runs of each host as JSON."""
        return [self._document(pair) for pair in self.pairs]

    def _document(self, pair: HostPair) -> dict[str, Any]:
        base, config = (*map(asdict, pair.runs), None, None)[:2]
        return {
            "host": pair.host,
            "base": base,
            "config": config,
            "time_ratio": pair.time_ratio,
            "write_amp_ratio": pair.write_amp_ratio,
            "of_median": self.of_median.get(pair.host),
            "busy": pair.is_busy,
            "problem": pair.problem,
        }


def doctor_hosts(
    scheduler: str,
    certificates: Path | None = None,
    *,
    insecure: bool = False,
    program: str | None = None,
    observer: Observer | None = None,
) -> HostsChecked:
    """Compare the hosts of a scheduler with each other and with this machine. Nothing is stored.

    Each host that no study uses runs the baseline and one config, for a few seconds. `program` is
    the db_bench that the user named, if any. UserError if the address is not safe or the scheduler
    refuses the certificate; LsmtuneError if no scheduler answers.
    """
    need_extra()
    silence_dask()
    watch = observer or Observer()
    with connect(scheduler, certificates, insecure=insecure) as hosts:
        for warning in hosts.warnings:
            watch.remark(warning)
        with watch.working("checking the hosts") as show:
            infos = hosts.hosts()
            if not infos:
                fix = f"run `lsmtune worker {scheduler}` on each host"
                return HostsChecked([Check("hosts", False, "no host is connected", fix)])
            spec = usual_rocksdb(program, workload=Workload(num=_RECORDS), knobs=KNOB)
            found = HostsChecked([*_state_checks(hosts, infos), *_fact_checks(infos, spec.rocksdb)])
            usable = {name_of(info): info for info in infos if info.problem is None}
            if not usable:
                return found
            show(f"running twice on each of {len(usable)} hosts")
            return _with_pairs(found, hosts, usable, spec)


def _state_checks(hosts: Hosts, infos: Sequence[HostInfo]) -> Iterator[Check]:
    """Check that hosts can be used, the settings of their scheduler, and their clocks."""
    usable = [info for info in infos if info.problem is None]
    if usable:
        yield Check("hosts", True, f"{len(usable)} of {len(infos)} can be used")
    for info in infos:
        # Another version of lsmtune is a fact of its own.
        if info.problem is not None and info.lsmtune in ("", __version__):
            yield _problem(f"host {_name(info)}", info.problem)
    for each in differing_settings(hosts.client):
        yield Check("scheduler", True, each, "start it with `lsmtune hosts start`")
    off = [f"{name_of(info)}: {info.clock_text}" for info in usable if info.clock_text]
    if off:
        yield Check("clocks", True, "; ".join(off), SET_CLOCKS)
    elif usable:
        yield Check("clocks", True, f"all within {CLOCK_S:g} s of this machine's clock")


def _fact_checks(infos: Sequence[HostInfo], rocksdb: str | None) -> Iterator[Check]:
    by_name = {_name(info): info for info in infos}
    for fact in compare_hosts(by_name, this_machine(), rocksdb):
        is_wrong = fact.differs and fact.must_match
        yield Check(fact.name, not is_wrong, fact.text, fact.fix if fact.differs else None)


def _with_pairs(
    found: HostsChecked, hosts: Hosts, usable: Mapping[str, HostInfo], spec: StudySettings
) -> HostsChecked:
    """Run on the hosts; without a RocksDB here, say so instead."""
    try:
        with scratch() as folder:
            plan = PairPlan(spec, engine_of(spec), folder)
    except LsmtuneError as error:
        check = _problem("this machine", error.message.with_flags(), INSTALL)
        return HostsChecked([*found.checks, check])
    pairs = run_pairs(hosts, usable, plan)
    return HostsChecked([*found.checks, *_pair_checks(pairs)], pairs, plan.values)


def _pair_checks(pairs: Sequence[HostPair]) -> Iterator[Check]:
    """Check that hosts ran both runs, and that their figures are near the median of all hosts."""
    different = deviations(pairs)
    for pair in pairs:
        yield from _of_host(pair, [each for each in different if each.host == pair.host])
    done = [pair.host for pair in pairs if pair.is_complete]
    fine = set(done) - {each.host for each in different}
    if len(done) > 1:
        share = f"{100 * MOST_DIFFERENCE:.0f} % of the median"
        note = None if len(fine) == len(done) else "see the rows above"
        text = f"{len(fine)} of {len(done)} hosts are within {share}"
        yield Check("equal runs", True, text, note)


def _of_host(pair: HostPair, different: Sequence[Deviation]) -> Iterator[Check]:
    """Check the runs of one host; nothing if there is nothing to say."""
    name = f"host {pair.host}"
    if pair.is_busy:
        yield Check(name, True, f"{pair.problem}, so nothing else ran there", _LATER)
    elif pair.problem is not None:
        yield _problem(name, pair.problem)
    else:
        found = [
            f"{each.what} {_figure(each.what, each.value)} (median of all hosts: "
            f"{_figure(each.what, each.usual)})"
            for each in different
        ]
        disturbed = [run.disturbance for run in pair.runs if run.disturbance is not None]
        if found or disturbed:
            text = "; ".join([*found, *disturbed[:1]])
            yield Check(name, True, text, _QUIET if disturbed else _SLOW)


def _figure(what: str, value: float) -> str:
    return f"{value:.2f} s" if what == TIME else f"{value:.2f}"


def _problem(name: str, problem: str, otherwise: str = _LOOK) -> Check:
    """Return the check of a host that fails: what it reports, and what to do if it says so."""
    last_line = problem.strip().splitlines()[-1]  # that of a traceback
    detail, _, fix = last_line.partition("; ")
    return Check(name, False, detail, fix or otherwise)


def _name(info: HostInfo) -> str:
    """Return the host as rows name it; one that does not answer has an address only."""
    return name_of(info) if info.host else info.address
