"""View of a study: baseline, winner, trials and verifications."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lsmtune.analysis.hosts_used import HostUse
from lsmtune.analysis.simplification import Simplification
from lsmtune.analysis.trades import Trade
from lsmtune.engine_traits import ENGINES, predicts
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.existing import StoreChange
from lsmtune.knobs.memory import Memory
from lsmtune.knobs.types import Knob, Value
from lsmtune.metrics.measurement import Measurement, Moment
from lsmtune.objective import Metrics, Objective
from lsmtune.rehearsal import Rehearsal
from lsmtune.spaces import KnobSpaces
from lsmtune.store.records import StoredTrial, StudyHost, complete_trials, paired_runs
from lsmtune.study.history import History
from lsmtune.study.ranking import Candidate
from lsmtune.trials import Judgement, OnlineChange, Origin, Role, Status
from lsmtune.verdict import LimitCheck, Pair, Verdict
from lsmtune.workloads import Records, Workload

COMPARISON = "comparison of versions of RocksDB"
"""An experiment of `lsmtune verify --rocksdb`."""
ONLINE = "record of online tuning"
"""A study of `lsmtune tune --online`."""

_REPRODUCED = re.compile(r"reproduce-(sst-size|compaction-style|db-bench-study|autotikv)(-.+)?")
"""Names of the studies of `lsmtune reproduce`, each with the name of its recipe."""

_MILLION = 1_000_000

_OWN_RUNS = (Role.TRIAL, Role.REPEAT, Role.SIMPLIFY)


@dataclass(frozen=True, slots=True)
class Windows:
    """Course of the window of one run of each side; `is_pair`: both runs are of one pair."""

    base: tuple[Moment, ...]
    best: tuple[Moment, ...]
    is_pair: bool


def windows_of(history: History, best: Candidate | None) -> Windows | None:
    """Return the windows of the newest pair at the study's rate, else of the newest runs.

    None without a winner, and if the runs have no window.
    """
    for base, winner, is_pair in () if best is None else _runs(history, best):
        found = Windows(_window(base), _window(winner), is_pair)
        if found.base and found.best:
            return found
    return None


def _runs(history: History, best: Candidate) -> Iterator[tuple[StoredTrial, StoredTrial, bool]]:
    """Yield runs of baseline and winner: the newest pair first, the runs of the search last."""
    at_own_rate = [found for found in history.verifications if found.rate is None]
    for verification in reversed(at_own_rate):
        if (role := verification.role_of(best.trial.number)) is not None:
            runs = history.runs_of_verification(verification)
            for winner, base in reversed(paired_runs(runs, verification, role)):
                yield base, winner, True
    own = [run for role in _OWN_RUNS for run in complete_trials(history.runs, role)
           if run.config == best.trial.config]  # fmt: skip
    if history.complete_base and own:
        yield history.complete_base[-1], max(own, key=lambda run: run.number), False


def _window(run: StoredTrial) -> tuple[Moment, ...]:
    found = run.result.measurement
    moments = () if found is None else found.window
    return moments if moments and moments[-1].second > 0 else ()


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate of a running store.

    `ops_s` are the operations per second of the whole workload, and `written_bytes_s` the bytes of
    its writes. `share` is the rate / the capacity of the baseline; None if that is unknown.
    `window_s` is the time in which a trial measures. `given`: the user gave the rate.
    """

    ops_s: float
    written_bytes_s: float
    share: float | None
    window_s: float
    given: bool


def pace_of(
    runs: Iterable[StoredTrial], base: Metrics, load: Workload, *, given: bool
) -> Pace | None:
    """Return the rate of these runs, the newest if they differ; None for filled stores."""
    found = [run.spec.running for run in runs if run.spec.running is not None]
    steps = next((steps for steps in reversed(found) if steps.rate is not None), None)
    if steps is None or steps.rate is None:
        return None
    capacity = base.get("capacity_ops_s")
    return Pace(
        ops_s=steps.rate,
        written_bytes_s=load.definition_of(Records).written_bytes_s(steps.rate),
        share=steps.rate / capacity if capacity else None,
        window_s=steps.window_s,
        given=given,
    )


@dataclass(frozen=True, slots=True)
class FullMemory:
    """The memory that a full-size tree needs at most, in bytes.

    `estimate` has it by consumer, and `measured_bytes` is the sum with the measured size of filters
    and indexes; None without a measurement. `keys` is the number of distinct keys; None if it is
    unknown.
    """

    estimate: Memory
    measured_bytes: float | None
    limit_bytes: int
    keys: float | None

    @property
    def table_bytes_per_million_keys(self) -> float:
        """Bytes of filters and indexes outside the block cache per million keys."""
        tables = self.estimate.filters + self.estimate.indexes
        return tables * _MILLION / self.keys if self.keys else 0.0


def full_memory_of(spaces: KnobSpaces, winner: Candidate | None) -> FullMemory | None:
    """Return the memory with the winner; None without one, and if the study does not check it."""
    if winner is None or spaces.ground.rule is None:
        return None
    space = spaces.at()
    limit = space.full_size.memory
    records = limit.records
    return FullMemory(
        space.full_memory(winner.trial.config),
        winner.metrics.get("memory_bytes"),
        limit.limit_bytes,
        None if records is None else records.count,
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A knob whose value differs between baseline and winner.

    `deployed` is the value in the exported file, for a full-size tree, and `deployed_base` the
    baseline's value for such a tree. Both are None where they are not known. `on_store` is what
    an existing store does with the deployed value; None if it simply opens.
    """

    knob: Knob
    base: Value
    best: Value
    deployed: Value | None = None
    deployed_base: Value | None = None
    on_store: StoreChange | None = None

    @property
    def is_deployed(self) -> bool:
        """True if the exported file has another value than the baseline, or is not known."""
        return self.deployed is None or self.deployed != self.deployed_base


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial.

    `value` is the objective / baseline; below 1 is a gain. `values` has it for each objective.
    `violation` is the excess over the worst limit beyond the noise of repeated runs. All
    three are empty without a measurement. `runs` is the number of runs of the config of a trial of
    the search, `median` the objective over all of them, and `keeps` is True if they probably keep
    all limits; `median` and `keeps` are None for other runs. `breaks` has the metrics of the
    limits that they do not surely keep. `bound` has the best values that
    a pruned trial could still have reached. `changes` are the differences between its config and
    the baseline; for a change of online tuning, between its config and the config before.
    `disturbance` says what disturbed a run that was kept all the same. `online` is set for a change
    of online tuning. `host` is where it ran if that was not the machine of the command.
    """

    number: int
    role: Role
    status: Status
    reason: str | None
    duration_s: float
    config: dict[str, Value]
    metrics: dict[str, float]
    value: float | None
    violation: float | None
    values: tuple[float, ...] = ()
    bound: tuple[float, ...] = ()
    changes: tuple[Change, ...] = ()
    disturbance: str | None = None
    online: OnlineChange | None = None
    runs: int = 1
    median: float | None = None
    keeps: bool | None = None
    breaks: tuple[str, ...] = ()
    host: str | None = None

    @property
    def changed(self) -> dict[str, Value]:
        """The values of its config that differ from the baseline."""
        return {change.knob.name: change.best for change in self.changes}

    @property
    def judged(self) -> float | None:
        """The objective / baseline over all runs of its config, or that of this run."""
        return self.value if self.median is None else self.median

    @property
    def remark(self) -> str:
        """What disturbed a run that was kept, or why a run has no result; "" for neither."""
        if self.disturbance is not None:
            return f"disturbed, but kept: {self.disturbance}"
        return self.reason or ""

    @property
    def feasible(self) -> bool:
        """True if it was measured and keeps every limit, judged by all runs of its config."""
        if self.keeps is not None:
            return self.keeps
        return self.violation is not None and self.violation <= 0


@dataclass(frozen=True, slots=True)
class VerificationView:
    """A verification: pairs of runs of winner and baseline, and their verdict.

    `disturbed` is the number of its runs that were disturbed and kept, and the number of all.
    `pace` is the rate of a running store. `rate` is set if it is not that of the study.
    """

    scale: str
    workload: Workload
    pairs: tuple[Pair, ...]
    verdict: Verdict
    disturbed: tuple[int, int] | None = None
    pace: Pace | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class OnlineCall:
    """The newest call of online tuning. Each call starts from the baseline.

    `tried` are its changes. `earlier` is the number of changes that earlier calls tried. `config`
    is what was set at the end, and `kept` has its differences from the baseline. `trial` is the
    number of the last change that was kept; None if all were reverted. A change was
    measured in `windows` windows of `window_s` seconds before it, and in at most as many during it.
    """

    tried: tuple[TrialView, ...]
    earlier: int
    config: dict[str, Value]
    kept: tuple[Change, ...]
    trial: int | None
    windows: int
    window_s: float

    @property
    def times_kept(self) -> int:
        """The number of changes that were kept."""
        return sum(t.online is not None and t.online.judgement is Judgement.KEPT
                   for t in self.tried)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StudyView:
    """All data of a study that `show`, the page and the export need.

    `base_facts` describe the baseline and its options that could not be used. `base` is the
    representative baseline run: the one nearest to the median objective. `best` is the run of the
    winner, or of the trial that the user picked, and `best_trial` that trial with the medians of
    all runs of its config. Both are None if no trial beat the baseline within the limits; then
    `nearest` is the trial that came nearest, with medians, if one beat the baseline. `limits` are
    checked on `best_trial`, or else on `nearest`, see `History.checks`.
    `best_within_limits` is the config with the best objective that keeps all limits, also in
    its verification if it has one; `value` and `metrics` are medians of its runs. `verified` has
    the numbers of all trials with a verification. `home_flag` names the folder of
    the study in a command, see `home_flag` of deploy.py; "" if only a program has the engine.
    `no_search` describes a study without a winner: a screening, an experiment, COMPARISON, ONLINE.
    `verifications` are those of `best`: the newest of each scale and rate, newest first. `front`
    has the Pareto-optimal trials of several objectives, with medians. `trials` are in the order of
    their end and include baseline, repeat and verification runs. `planned` is the maximum number of
    trials of the search; None if only time limits it. `ended` says why the search has ended; it is
    None before. `continuing` is the command that continues the search or the comparison of
    versions; None if the search has ended, or if there is no such command, for example because it
    needs the study file. `online` is None if online tuning has tried no change. `memory` is that of
    the full-size tree with the winner. `assumed_cache_bytes` is set if the user's file does not
    contain the size of the block cache and the user did not give it. `all_sizes_scale`: the caches
    of a trial scale too, and the memory limit applies at full size (see SizeRule). `simplification`
    is set if the winner was simplified. `trades` are better configs that break one default limit.
    `own_base`: the baseline is the user's file. `rehearsal` is that of the files of `best`.
    `families` are the column families of that file, the tuned one first. `hosts` are the hosts that
    were used; empty if all runs were on the machine of the command. `pace` is the rate of a running
    store, None if the trials fill a store. `blurred` are the p99 metrics without a default limit,
    because the clients of this machine wake too late. `windows` are those of a run of the baseline
    and of a run of `best`.
    """

    name: str
    engine: str
    engine_version: str
    assertions_enabled: bool
    origin: Origin | None
    host: StudyHost
    workload: Workload
    scale: str
    objective: Objective
    optimizer: str
    seed: int
    memory_limit_bytes: int
    trials: tuple[TrialView, ...]
    base: Measurement | None
    base_runs: tuple[dict[str, float], ...]
    best: Measurement | None
    best_trial: TrialView | None
    verifications: tuple[VerificationView, ...] = ()
    windows: Windows | None = None
    front: tuple[TrialView, ...] = ()
    best_within_limits: TrialView | None = None
    nearest: TrialView | None = None
    limits: tuple[LimitCheck, ...] = ()
    verified: tuple[int, ...] = ()
    home_flag: str = ""
    picked: bool = False
    base_facts: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    no_search: str | None = None
    ended: str | None = None
    continuing: str | None = None
    is_interrupted: bool = False
    online: OnlineCall | None = None
    planned: int | None = None
    memory: FullMemory | None = None
    assumed_cache_bytes: int | None = None
    all_sizes_scale: bool = False
    simplification: Simplification | None = None
    trades: tuple[Trade, ...] = ()
    own_base: bool = False
    rehearsal: Rehearsal | None = None
    hosts: tuple[HostUse, ...] = ()
    pace: Pace | None = None
    blurred: tuple[str, ...] = ()

    @property
    def verification(self) -> VerificationView | None:
        """The newest verification of the winner; None without one at the rate of the study."""
        return next(iter(self.at_own_rate), None)

    @property
    def at_own_rate(self) -> tuple[VerificationView, ...]:
        """The verifications at the rate of the study, newest first."""
        return tuple(found for found in self.verifications if found.rate is None)

    @property
    def shown_pace(self) -> Pace | None:
        """The rate of the shown verification, or else that of the study."""
        return self.verification.pace if self.verification else self.pace

    @property
    def changes(self) -> tuple[Change, ...]:
        """The differences between winner and baseline."""
        return self.best_trial.changes if self.best_trial else ()

    @property
    def measured(self) -> tuple[TrialView, ...]:
        """The trials without disturbed runs, which were repeated."""
        return tuple(trial for trial in self.trials if trial.status is not Status.DISTURBED)

    @property
    def disturbed(self) -> int:
        """The number of runs that other processes disturbed and that were repeated."""
        return len(self.trials) - len(self.measured)

    @property
    def kept_disturbed(self) -> int:
        """The number of runs that other processes disturbed and that were kept all the same."""
        return sum(trial.disturbance is not None for trial in self.trials)

    @property
    def unverified_at_full_scale(self) -> bool:
        """True if the winner was found at a smaller scale and is not verified at scale 1."""
        return "1" not in (self.scale, *(found.scale for found in self.at_own_rate))

    @property
    def is_simulated(self) -> bool:
        """True if the metrics are predictions of the simulator."""
        return predicts(self.engine)

    @property
    def catalogue(self) -> Catalogue | None:
        """The knobs of the engine, also if only the study describes it; None if nobody does."""
        return ENGINES[self.engine].catalogue() if self.engine in ENGINES else None

    @property
    def has_memory(self) -> bool:
        """True if it is known how much memory settings need, so that the limit has a meaning."""
        return self.catalogue is not None and self.catalogue.has_memory

    def measures(self, *metrics: str) -> bool:
        """Return whether the runs have all these metrics; if none has run, whether they will."""
        if self.base is not None:
            return all(name in self.base.metrics for name in metrics)
        known = ENGINES[self.engine].measured if self.engine in ENGINES else ()
        return known is None or all(name in known for name in metrics)

    @property
    def recipe(self) -> str | None:
        """The recipe of `lsmtune reproduce` that made the study."""
        found = _REPRODUCED.fullmatch(self.name)
        return found[1] if found else None

    @property
    def searched(self) -> tuple[TrialView, ...]:
        """The trials that the optimizer chose."""
        return tuple(trial for trial in self.measured if trial.role is Role.TRIAL)

    @property
    def tried(self) -> tuple[TrialView, ...]:
        """The trials that the optimizer chose, or the changes that online tuning tried."""
        return self.searched or tuple(t for t in self.measured if t.role is Role.ONLINE)

    @property
    def counts(self) -> dict[str, int]:
        """The number of trials of the search by how they ended, and of disturbed runs."""
        return {
            "total": len(self.tried),
            "complete": sum(trial.status is Status.COMPLETE for trial in self.tried),
            "failed": sum(trial.status.failed for trial in self.tried),
            "cut": sum(trial.status is Status.CUT for trial in self.tried),
            "disturbed": self.disturbed,
            "kept_disturbed": self.kept_disturbed,
        }

    @property
    def failed(self) -> tuple[TrialView, ...]:
        """The trials that failed to give a measurement."""
        return tuple(trial for trial in self.trials if trial.status.failed)

    @property
    def cut(self) -> tuple[TrialView, ...]:
        """The pruned trials."""
        return tuple(trial for trial in self.trials if trial.status is Status.CUT)
