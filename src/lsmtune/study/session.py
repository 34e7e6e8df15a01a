"""An open study: its runs so far, and how a config runs; made under its lock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Engine
from lsmtune.hosts.commander import Hosts
from lsmtune.knobs.types import Config, Settings
from lsmtune.metrics.definitions import with_formulas
from lsmtune.objective import Metrics, Objective
from lsmtune.rehearsal import Rehearsal
from lsmtune.spaces import MEMORY, KnobSpaces, full_memory, rescaled
from lsmtune.spec import load_at, without_load
from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial, StoredStudy, StoredTrial, StoredVerification
from lsmtune.study.enough_data import with_enough_flushes
from lsmtune.study.hosts_pool import HostsPool
from lsmtune.study.ranking import Candidate
from lsmtune.study.record import StudyRecord, read_history
from lsmtune.study.runner import REPEATS, Done, Listener, NextJob, Pool, Runner, Task, ignore
from lsmtune.trials import Protocol, Running, Simplified, TrialResult, TrialSpec, workload_seed
from lsmtune.workloads import Workload

_SLOWEST_TIMES_BASE = 10
_SHORTEST_LIMIT_S = 60.0


class WorkLeft(Exception):  # noqa: N818 - what was found, not a mistake
    """A run is left in a study that is only looked at."""


class Session:
    """A study that is open for work; made by `open_session`, which holds its lock."""

    def __init__(
        self,
        home: Home,
        stored: StoredStudy,
        spaces: KnobSpaces,
        engine: Engine,
        listener: Listener,
        *,
        accept_noise: bool = False,
        hosts: Hosts | None = None,
        tell: Callable[[str], None],
    ) -> None:
        """Read the runs so far. `spaces` are those of the baseline that the engine has now.

        With `hosts`, runs go to them, and `tell` gets what the study waits for.
        """
        base = stored.engine.base
        self.home = home
        self.stored = stored
        self.spec = spaces.spec
        if base != spaces.ground.base:  # the user's file has changed since the study began
            spaces = KnobSpaces(self.spec, replace(spaces.ground, base=base))
        self.spaces = spaces
        self.ground = spaces.ground
        self.space = spaces.at()
        self._base_settings = without_load(self.space.settings(self.space.default()))
        self._settings_at: dict[tuple[Config, Fraction], Settings] = {}
        self._runner = Runner(
            home, stored, base, engine, listener, keep=self.keep, derived=self._derived,
            accept_noise=accept_noise,
        )  # fmt: skip
        self._pool: Pool = self._runner
        self.is_on_hosts = hosts is not None
        self.engine = engine
        self.is_looking = False
        self.times_matter = engine.times_matter
        if hosts is not None:
            self._pool = HostsPool(
                hosts, home, stored, spec=self.spec, base=base, listener=listener,
                keep=self.keep, derived=self._derived, accept_noise=accept_noise,
                times_matter=engine.times_matter, standings=lambda: self.history.standings,
                tell=tell,
            )  # fmt: skip
        self.history = read_history(home, stored, self.spec, self.space.default())
        """All runs so far, and what they tell search, pruning and stopping."""

    def only_look(self) -> None:
        """Run nothing from now on: raise WorkLeft where a run would begin."""
        self.is_looking = True

    def _look(self, next_job: NextJob) -> None:
        """Raise WorkLeft if there is a run for a host that has measured the baseline, or none has.

        The host None is this machine, or any host if all measure the same.
        """
        hosts: set[str | None] = {None}
        if self.times_matter:
            aside = {host for host, one in self.history.standings.items() if one.is_set_aside}
            hosts = {run.host for run in self.history.complete_base} - aside
        if not hosts or any(next_job(host, ()) for host in hosts):
            raise WorkLeft

    def run(self, task: Task) -> TrialResult:
        """Run and keep a trial; repeat it if other programs disturb it."""
        left, results = [task], list[TrialResult]()
        self.feed(
            lambda host, under_way: [left.pop()] if left else (),
            lambda task, result: results.append(result),
        )
        return results[-1]

    def feed(self, next_job: NextJob, done: Done = ignore, most_repeats: int = REPEATS) -> None:
        """Run and keep what `next_job` returns, on all hosts of the study; see `Pool.feed`."""
        if self.is_looking:
            self._look(next_job)
        else:
            self._pool.feed(next_job, done, most_repeats)

    def run_together(self, tasks: Sequence[Task]) -> None:
        """Run and keep trials side by side."""
        self._runner.run_together(tasks)

    def keep(self, trial: NewTrial, files: Mapping[str, Path]) -> None:
        """Store a run that has ended, with its evidence, and add it to the history.

        The lock of the study is held, so no other process adds runs.
        """
        self.history.add([self.home.add_trial(self.stored, trial, files)])

    def trials(self) -> list[StoredTrial]:
        """The trials so far."""
        return self.history.runs

    def best(self) -> Candidate | None:
        """The winner so far, verifications considered; None while nothing beats the base."""
        return self.history.winner()

    def keep_simplified(self, found: Simplified) -> None:
        """Store the result of a simplification."""
        self.stored = self.home.update_simplified(self.stored, found)
        self.history.simplified = found

    def keep_ended(self, ended: str | None) -> None:
        """Store why the search has ended; None while it goes on."""
        self.stored = self.home.update_ended(self.stored, ended)

    def keep_rate(self, rate: float) -> None:
        """Store the rate of a running study, in operations per second."""
        self.stored = self.home.update_rate(self.stored, rate)

    def add_verification(
        self,
        best: StoredTrial,
        scale: str,
        workload: Workload,
        raw: StoredTrial | None,
        *,
        rate: float | None = None,
    ) -> StoredVerification:
        """Begin a verification of a trial, with the `raw` winner before its simplification."""
        number = None if raw is None else raw.number
        new = self.home.add_verification(
            self.stored, best.number, scale, workload, number, rate=rate
        )
        self.history.verifications.append(new)
        return new

    def add_rehearsal(self, verification: StoredVerification, trial: int, found: Rehearsal) -> None:
        """Store the rehearsal of the files of a trial with the verification of the trial."""
        places = self.history.verifications
        at = next(at for at, one in enumerate(places) if one.id == verification.id)
        rehearsals = {**places[at].rehearsals, trial: found}
        places[at] = self.home.update_rehearsals(places[at], rehearsals)

    @property
    def record(self) -> StudyRecord:
        """The study as it is stored now, for those who show or export it."""
        return StudyRecord(self.stored, self.spec, self.history, self.spaces)

    @property
    def objective(self) -> Objective:
        """The objective with the limits that the study is judged by."""
        return self.history.objective

    @property
    def base_metrics(self) -> Metrics:
        """The medians of the runs of the baseline."""
        return self.history.base

    def trial_spec(self, config: Config) -> TrialSpec:
        """What the engine is given to run a config as this study runs them."""
        protocol = self.protocol
        base_s = [trial.duration_s for trial in self.history.complete_base]
        if base_s:
            limit_s = max(_SHORTEST_LIMIT_S, _SLOWEST_TIMES_BASE * max(base_s))
            limit_s = min(protocol.wall_limit_s, limit_s)
            protocol = protocol.model_copy(update={"wall_limit_s": limit_s})
        settings = self.spaces.of(config).settings(config)
        return TrialSpec(
            settings=without_load(settings),
            base_settings=self._base_settings,
            workload=load_at(self.spec.workload, config),
            protocol=protocol,
            seed=workload_seed(self.spec.seed, "trial"),
            running=self.running(),
        )

    def running(self, rate: float | None = None, growth: float = 1.0) -> Running | None:
        """The steps of a trial of a running store; None for a study that fills stores.

        `rate` is another rate than that of the study. The window is longer by the factor `growth`.
        """
        if (steps := self.spec.steps) is None:
            return None
        steps = steps.model_copy(update={"rate": rate or self.stored.rate})
        if self.spec.protocol.window_s is None:
            steps = with_enough_flushes(steps, self.spec, self._base_settings)
        return steps.model_copy(update={"window_s": growth * steps.window_s})

    @property
    def protocol(self) -> Protocol:
        """The protocol of the study's trials; what the clock ends has its time on top."""
        limits = self.spec.protocol
        limit_s = limits.wall_limit_s + self.spec.clocked_s
        return limits.model_copy(update={"wall_limit_s": limit_s})

    def settings_at(self, config: Config, scale: Fraction) -> Settings:
        """The settings of a config for a tree at another scale; each pair of runs needs them."""
        if (config, scale) not in self._settings_at:
            self._settings_at[config, scale] = rescaled(self.spaces, config, scale)
        return self._settings_at[config, scale]

    def _derived(self, task: Task, metrics: Metrics) -> Metrics:
        """Return the metrics of a run that follow from its config and its other metrics."""
        derived = with_formulas(metrics, ENGINES[self.spec.engine].own_metrics)
        if self.ground.rule is None:
            return derived
        space, scale = self.spaces.of(task.config), task.scale or self.spec.scale_value
        return {**derived, MEMORY: full_memory(space, task.config, metrics, scale)}
