"""The same two short runs on each host, and which hosts give other results than most."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from lsmtune.engines.base import Engine, EngineFacts
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Finished, Hosts
from lsmtune.hosts.connect import own_name
from lsmtune.hosts.task import HostInfo, HostResult, HostTask
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings, without_load
from lsmtune.study.host_jobs import differing_engine
from lsmtune.study.opening import describe
from lsmtune.study.runner import judged
from lsmtune.system.cancelling import check_cancelled
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.units import KIB

_RUNS = 2
KNOB = "write_buffer_size"
"""The knob of the second run. A small memtable makes many small files, which is slower."""
_SMALLER = 4
"""The second run has a memtable that is smaller by this factor."""
_LEAST_BYTES = 64 * KIB
"""RocksDB has no smaller memtable."""
MOST_DIFFERENCE = 0.25
"""Hosts may differ from the median of all hosts by this share."""
_PROTOCOL = Protocol(probe_reads=100, wall_limit_s=120)
_WAIT_S = 0.5
_PATIENCE_S = 600.0
"""How long all runs of a host may take, in seconds. Another study may use the host meanwhile."""
_FORGET_S = 5.0
"""How long hosts may take to remove the results, in seconds."""
_GONE = "its worker ended, or the host does not answer"


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run gave. `disturbance` says what disturbed it."""

    time_s: float
    write_amp: float
    disturbance: str | None = None


@dataclass(slots=True)
class HostPair:
    """The runs of one host: the baseline, then the config. `problem` says why one is missing.

    With `is_busy`, the host was not asked, because it runs a trial of a study.
    """

    host: str
    runs: list[Figures] = field(default_factory=list)
    problem: str | None = None
    is_busy: bool = False

    @property
    def time_ratio(self) -> float | None:
        """Time of the config / time of the baseline; None without both."""
        return self._ratio(lambda run: run.time_s)

    @property
    def write_amp_ratio(self) -> float | None:
        """Write amplification of the config / that of the baseline; None without both."""
        return self._ratio(lambda run: run.write_amp)

    @property
    def is_complete(self) -> bool:
        """Whether both runs gave figures."""
        return len(self.runs) == _RUNS

    def _ratio(self, value: Callable[[Figures], float]) -> float | None:
        if not self.is_complete:
            return None
        base, config = map(value, self.runs)
        return config / base if base else None


@dataclass(frozen=True, slots=True)
class Deviation:
    """A figure of a host that differs from the median of all hosts by more than a quarter."""

    host: str
    what: str
    value: float
    usual: float


class PairPlan:
    """The runs of a pair: the settings from which a host makes its engine, and both trials.

    `facts` are those of the engine on this machine. `values` are the sizes of the memtable.
    """

    facts: EngineFacts
    values: tuple[int, int]

    def __init__(self, spec: StudySettings, engine: Engine, folder: Path) -> None:
        """Start the engine once, in the folder; UserError if it cannot be used here.

        The settings must have only the knob `KNOB`.
        """
        self.facts, ground = describe(spec, engine, folder)
        space = knob_space(spec, ground)
        usual = int(space.base[KNOB])
        # A search would not try a size so small, but RocksDB runs it, and much changes.
        self.values = usual, max(usual // _SMALLER, _LEAST_BYTES)
        self._settings = spec.model_dump(mode="json")
        self._base = ground.base
        self._specs = [
            TrialSpec(
                settings=without_load(space.settings(each)),
                base_settings=without_load(space.base),
                workload=spec.workload,
                protocol=_PROTOCOL,
                seed=spec.seed,
            )
            for each in (space.default(), {KNOB: self.values[1]})
        ]

    def task(self, attempt: str, study: str, number: int) -> HostTask:
        """Return the task of the baseline (0) or the config (1)."""
        spec = self._specs[number]
        return HostTask(
            attempt=attempt,
            study=study,
            engine=self._settings,
            base=self._base,
            base_settings=spec.base_settings,
            spec=spec,
            commander=own_name(),
            title=f"doctor: {'config' if number else 'baseline'}",
        )


def run_pairs(hosts: Hosts, infos: Mapping[str, HostInfo], plan: PairPlan) -> list[HostPair]:
    """Run both trials on each host, by name, one after the other; all hosts work at once.

    A host that runs a trial of a study is left alone. LsmtuneError if the scheduler is gone.
    """
    return _Pairs(hosts, infos, plan).run()


class _Pairs:
    def __init__(self, hosts: Hosts, infos: Mapping[str, HostInfo], plan: PairPlan) -> None:
        self._hosts = hosts
        self._infos = infos
        self._plan = plan
        self._study = f"doctor {secrets.token_hex(6)}"
        self._pairs = {name: HostPair(name) for name in infos}
        self._under_way: dict[str, HostPair] = {}

    def run(self) -> list[HostPair]:
        for name, pair in self._pairs.items():
            if self._infos[name].running is not None:
                pair.is_busy = True
                pair.problem = f"runs a trial for {self._infos[name].commander}"
            else:
                self._start(pair)
        limit_s = time.monotonic() + _PATIENCE_S
        while self._under_way and time.monotonic() < limit_s:
            check_cancelled()
            for event in self._hosts.wait(_WAIT_S):
                pair = self._under_way.pop(event.attempt)
                if not isinstance(event, Finished):
                    # Nobody waits for the result of a host that left.
                    pair.problem = _GONE if event.left else event.reason
                    continue
                self._hosts.confirm([event.attempt])
                self._take(pair, event.result)
        for pair in self._under_way.values():
            pair.problem = (
                f"its runs did not end within {_PATIENCE_S / 60:.0f} minutes; look whether another "
                "lsmtune runs there"
            )
        self._hosts.end(*self._under_way)
        self._forget()
        return list(self._pairs.values())

    def _start(self, pair: HostPair) -> None:
        attempt = f"doctor-{secrets.token_hex(6)}"
        task = self._plan.task(attempt, self._study, len(pair.runs))
        try:
            self._hosts.start(self._infos[pair.host].address, task)
        except LsmtuneError as error:
            pair.problem = str(error)
        else:
            self._under_way[attempt] = pair

    def _take(self, pair: HostPair, found: HostResult) -> None:
        """Note the figures of a run; begin the next one."""
        facts = self._plan.facts
        sha256 = None if facts.origin is None else facts.origin.sha256
        pair.problem = differing_engine(facts.version, sha256, found, pair.host)
        result = judged(found.result, found.clock_jump_s, repeatable=False, accept_noise=True)
        if pair.problem is None and not result.metrics:
            pair.problem = f"the run failed: {result.status.meaning}: {result.reason}"
        if pair.problem is not None:
            return
        metrics = result.metrics
        pair.runs.append(Figures(metrics["total_s"], metrics["write_amp"], result.disturbance))
        if not pair.is_complete:
            self._start(pair)

    def _forget(self) -> None:
        """Wait until no host keeps a result: the connection closes soon."""
        limit_s = time.monotonic() + _FORGET_S
        while time.monotonic() < limit_s:
            if not any(info.kept.get(self._study) for info in self._hosts.hosts()):
                return
            time.sleep(_WAIT_S)


def deviations(pairs: Sequence[HostPair]) -> list[Deviation]:
    """Return the figures that differ from the median of all hosts by more than a quarter."""
    found = []
    for what, value in _COMPARED.items():
        values = {pair.host: value(pair) for pair in pairs}
        known = {host: number for host, number in values.items() if number is not None}
        usual = median(known.values()) if known else 0.0
        found += [
            Deviation(host, what, number, usual)
            for host, number in known.items()
            if usual and abs(number / usual - 1) > MOST_DIFFERENCE
        ]
    return found


def of_median(pairs: Sequence[HostPair]) -> dict[str, float]:
    """Return each host's time of the baseline / the median of all hosts."""
    times = {pair.host: pair.runs[0].time_s for pair in pairs if pair.runs}
    usual = median(times.values()) if times else 0.0
    return {host: time_s / usual for host, time_s in times.items() if usual}


TIME, TIME_RATIO, WRITE_AMP_RATIO = "time", "time ratio", "write amplification ratio"
_COMPARED: dict[str, Callable[[HostPair], float | None]] = {
    TIME: lambda pair: pair.runs[0].time_s if pair.runs else None,
    TIME_RATIO: lambda pair: pair.time_ratio,
    WRITE_AMP_RATIO: lambda pair: pair.write_amp_ratio,
}
