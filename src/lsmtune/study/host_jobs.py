"""What a pool of hosts hands out, and what it knows of the hosts."""

import time
from dataclasses import dataclass, field
from math import inf

from lsmtune.hosts.task import HostInfo
from lsmtune.store.open_runs import OpenRun, Rerun
from lsmtune.store.records import Asked, StoredStudy
from lsmtune.study.runner import REPEATS, Task
from lsmtune.trials import TrialResult

MOST_FAILURES = 3
"""A host that fails as often in a row gets no more runs."""


@dataclass(frozen=True, slots=True)
class Job:
    """Tasks that one host runs one after the other; the first one is run `run`.

    Only the host `only` may run them, and the host `avoid` only if no other one is there.
    """

    tasks: tuple[Task, ...]
    run: str
    asked: Asked
    repeats: int
    most_repeats: int
    only: str | None = None
    avoid: str | None = None

    @property
    def task(self) -> Task:
        """The task that runs first."""
        return self.tasks[0]

    @property
    def is_bound(self) -> bool:
        """Whether it belongs to one host, as the runs of a pair do."""
        return self.only is not None or len(self.tasks) > 1 or self.task.pair is not None


@dataclass(slots=True)
class Host:
    """A host that can be used. `failures` counts the attempts in a row that it could not run."""

    info: HostInfo
    failures: int = 0
    why: str = ""

    @property
    def is_set_aside(self) -> bool:
        """Whether it gets no more runs."""
        return self.failures >= MOST_FAILURES


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An attempt on a host."""

    job: Job
    host: str


@dataclass(slots=True)
class State:
    """What a pool knows: what is under way, what waits, and the hosts that are there.

    `idle` are the hosts for which there was nothing. Nobody waits for the attempts in `over` any
    more; those in `finished` have given their results. `looked_s` is when the hosts were asked for
    their state, `seen_s` when there was a host.
    """

    under_way: dict[str, UnderWay] = field(default_factory=dict)
    waiting: list[Job] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    looked_s: float = -inf
    seen_s: float = field(default_factory=time.monotonic)


def name_of(info: HostInfo) -> str:
    """Return the name under which a host is stored: it is the same after a new connection."""
    return f"{info.node}-{info.host}"


def rerun_of(job: Job) -> Rerun:
    """Return what the row of an attempt needs to run again."""
    task = job.task
    return Rerun(
        title=task.title,
        base_settings=task.spec.base_settings,
        prune=task.prune,
        verification_id=task.verification_id,
        pair=task.pair,
        scale=task.scale,
        is_long=task.is_long,
        repeats=job.repeats,
    )


def job_of(row: OpenRun) -> Job:
    """Return the job of an attempt of an earlier call, or of a host that was gone."""
    kept = row.rerun
    task = Task(
        kept.title, row.role, row.config, row.spec, kept.prune, kept.verification_id, kept.pair,
        kept.scale, kept.is_long,
    )  # fmt: skip
    return Job((task,), row.run, row.asked, kept.repeats, REPEATS)


def other_engine(study: StoredStudy, result: TrialResult, host: str) -> str | None:
    """Return how the RocksDB of a host differs from that of the study; None if it does not."""
    measured, version = result.measurement, study.engine.get("version")
    if measured is None or version is None or study.spec.get("engine") != "rocksdb":
        return None
    if measured.engine_version in (version, *study.libraries):  # a sweep can compare versions
        return None
    return (
        f"host {host} runs RocksDB {measured.engine_version}, but the study runs {version}; "
        "install the same version on all hosts"
    )
