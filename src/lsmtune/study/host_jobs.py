"""What a pool of hosts hands out, and what it knows of the hosts."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from lsmtune.engine_traits import has_versions
from lsmtune.hosts.task import HostInfo, HostResult, short_hash
from lsmtune.store.open_runs import LostRun, OpenRun, Rerun, run_of
from lsmtune.store.records import Asked, StoredStudy, StoredTrial, now_text
from lsmtune.study.runner import REPEATS, Task
from lsmtune.trials import Role, Status

NOBODY_S = 600.0
"""How long a study waits for a host while it has none, in seconds."""
_SILENT_S = 5.0
"""How long a study waits for hosts before it says so, in seconds."""
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
    their state, `looks_s` how long the answer took, `seen_s` when there was a host. `waits_for` is
    what the study waits for since `waits_s`, which is infinite when the user was told.
    """

    under_way: dict[str, UnderWay] = field(default_factory=dict)
    waiting: list[Job] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    looked_s: float = -inf
    looks_s: float = 0.0
    waits_for: str | None = None
    waits_s: float = inf
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


def news_of_wait(state: State, now_s: float) -> str | None:
    """Return what the study has been waiting for, once, after it has waited for a while."""
    if (reason := _waits_for(state)) != state.waits_for:
        state.waits_for, state.waits_s = reason, now_s
    elif reason is not None and now_s - state.waits_s > _SILENT_S:
        state.waits_s = inf
        return reason
    return None


def _waits_for(state: State) -> str | None:
    """Return what a study without runs under way waits for; None if it does not wait."""
    if state.under_way:
        return None
    if not state.hosts:
        return (
            f"no host is left; waiting {NOBODY_S / 60:.0f} minutes for one: run `lsmtune worker` "
            "on a host"
        )
    usable = [host.info.running for host in state.hosts.values() if not host.is_set_aside]
    if usable and all(running is not None and running not in state.finished for running in usable):
        return "waiting: all hosts of this scheduler run trials of other studies"
    return None


def lost_run(row: OpenRun, reason: str) -> LostRun:
    """Return the loss of an attempt, which is noticed now."""
    return LostRun(row.attempt, row.host, row.role, row.started_at, now_text(), reason)


def other_engine(study: StoredStudy, found: HostResult, host: str) -> str | None:
    """Return how the RocksDB of a host differs from that of the study; None if it does not."""
    engine, measured = study.engine, found.result.measurement
    version = engine.version if has_versions(study.engine_name) else None
    origin = engine.origin
    if measured is not None and measured.engine_version in engine.libraries:
        # An experiment can compare versions.
        version, origin = measured.engine_version, engine.libraries[measured.engine_version]
    return differing_engine(version, None if origin is None else origin.sha256, found, host)


def differing_engine(
    version: str | None, sha256: str | None, found: HostResult, host: str
) -> str | None:
    """Return how the RocksDB of a host differs from this version and library; None if it does not.

    What is None is not compared.
    """
    measured, library = found.result.measurement, found.library
    if measured is not None and version is not None and measured.engine_version != version:
        return (
            f"host {host} runs RocksDB {measured.engine_version}, but the study runs {version}; "
            "install the same version on all hosts"
        )
    if sha256 is not None and library is not None and library != sha256:
        return (
            f"host {host} loads another library of RocksDB, SHA-256 {short_hash(library)}, but the "
            f"study runs {short_hash(sha256)}; install the same library on all hosts"
        )
    return None


def is_stored(row: OpenRun, trials: Sequence[StoredTrial]) -> bool:
    """Whether the run has a result, or a call without hosts has run its config meanwhile."""
    return any(
        (trial.attempt is not None and run_of(trial.attempt) == row.run)
        or (
            trial.role is row.role is Role.TRIAL
            and trial.config == row.config
            # A screening has configs under several workloads, a sweep under several seeds.
            and (trial.spec.workload, trial.spec.seed) == (row.spec.workload, row.spec.seed)
            and trial.result.status is not Status.DISTURBED
        )
        for trial in trials
    )


def new_run() -> str:
    """Return a name for a run that no run of any study has."""
    return secrets.token_hex(6)
