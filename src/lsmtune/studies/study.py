"""A study: the base first, then what the optimizer asks for, until the budget ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from lsmtune.engines.base import Engine
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.objective import Metrics, Objective, median_metrics, run_noise
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spec import BUDGET_KEYS, StudySpec
from lsmtune.store.home import Home
from lsmtune.store.ranking import (
    Candidate,
    base_metrics,
    base_runs,
    best_candidate,
    candidates,
)
from lsmtune.store.records import StoredStudy, StoredTrial, complete_trials
from lsmtune.studies.runner import Listener, Runner, Task
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.system.lock import study_lock
from lsmtune.system.workdir import sweep_workdirs, workdir
from lsmtune.trials import Role, Status, TrialSpec

_SLOWEST_TIMES_BASE = 10
_SHORTEST_LIMIT_S = 60.0
_NEARLY = 0.1
"""By how much a finalist's first run may exceed a limit beyond the base's noise."""


class Study:
    """A study that is open for work; made by `open_study`, which holds its lock."""

    def __init__(
        self, home: Home, stored: StoredStudy, spec: StudySpec, engine: Engine, listener: Listener
    ) -> None:
        self.home = home
        self.stored = stored
        self.spec = spec
        self.engine = engine
        self.objective: Objective = spec.parsed_objective
        self.runner = Runner(home, stored, engine, listener)
        self.space = make_space(spec, engine)

    def tune(self) -> None:
        """Measure the base, then search until the trials or the time are used up.

        LsmtuneError when the base cannot be measured. What an earlier call has measured counts.
        """
        self.measure_base()
        optimizer = make_optimizer(self.spec.optimizer)
        while not self._budget_is_used():
            history = self.history()
            config = optimizer.ask(self.space, history, self.spec.seed)
            if config in seen(history):
                break  # the space is exhausted
            title = f"trial {len(history)} of {self.spec.trials}"
            self.runner.run(Task(title, Role.TRIAL, config, self._trial_spec(config)))
        self._repeat_finalists()

    def measure_base(self) -> None:
        """Measure the base as often as the spec says; LsmtuneError when it cannot be."""
        config = self.space.default()
        while (done := len(self._complete_base())) < self.spec.base_runs:
            title = f"base {done + 1} of {self.spec.base_runs}"
            result = self.runner.run(Task(title, Role.BASE, config, self._trial_spec(config)))
            if result.status is not Status.COMPLETE:
                raise LsmtuneError(
                    f"the base could not be measured ({result.status.meaning}): {result.reason}"
                )
        if missing := self.objective.missing(base_metrics(self.home.trials(self.stored))):
            raise UserError(f"objective: the base has no {', '.join(missing)} under this load")

    def trials(self, *roles: Role) -> list[StoredTrial]:
        """The trials so far with one of the roles, those that were repeated left out."""
        return [
            trial
            for trial in self.home.trials(self.stored)
            if trial.role in roles and trial.result.status is not Status.DISTURBED
        ]

    def history(self) -> list[Observation]:
        """The base and the trials as the optimizer sees them."""
        runs = base_runs(self.home.trials(self.stored))
        base, noise = median_metrics(runs), run_noise(runs, of_runs=1)
        first = Observation(self.space.default(), 1.0, self.objective.violation(base, base))
        return [first, *(self._observe(trial, base, noise) for trial in self.trials(Role.TRIAL))]

    def best(self) -> Candidate | None:
        """The winner so far, judged over all of its runs; None while nothing beats the base."""
        return best_candidate(self.home.trials(self.stored), self.objective)

    def _observe(self, trial: StoredTrial, base: Metrics, noise: Metrics) -> Observation:
        metrics = trial.result.metrics
        if self.objective.missing(metrics):
            return Observation(trial.config, None, None)
        return Observation(
            trial.config,
            self.objective.value(metrics, base),
            self.objective.violation(metrics, base, noise),
        )

    def _complete_base(self) -> list[StoredTrial]:
        return complete_trials(self.home.trials(self.stored), Role.BASE)

    def _repeat_finalists(self) -> None:
        """Run the finalists again under other seeds, round by round.

        A config that just missed a limit takes part: some configs end a run with much more or
        less to merge than in another, and only their median tells.
        """
        trials = self.home.trials(self.stored)
        runs = {c.trial.number: c.runs for c in candidates(trials, self.objective)}
        # As the search left them: after an interruption the same finalists go on.
        searched = max((t.number for t in trials if t.role is Role.TRIAL), default=-1)
        found = candidates([t for t in trials if t.number <= searched], self.objective)
        near = [c for c in found if c.penalised_value < 1 and c.excess <= _NEARLY]
        near.sort(key=lambda candidate: candidate.penalised_value)
        finalists = near[: self.spec.finalists]
        for repeat in range(1, self.spec.repeats + 1):
            for finalist in (f for f in finalists if runs[f.trial.number] <= repeat):
                config = finalist.trial.config
                spec = self._trial_spec(config)
                spec = spec.model_copy(update={"seed": spec.seed + repeat})
                title = f"finalist (trial {finalist.trial.number}) again"
                self.runner.run(Task(title, Role.REPEAT, config, spec))

    def _budget_is_used(self) -> bool:
        trials = self.trials(Role.TRIAL)
        if len(trials) >= self.spec.trials:
            return True
        used_s = sum(t.duration_s for t in self.home.trials(self.stored) if t.role is Role.TRIAL)
        return self.spec.budget_s is not None and used_s >= self.spec.budget_s

    def _trial_spec(self, config: Config) -> TrialSpec:
        protocol = self.spec.protocol
        base_s = [trial.duration_s for trial in self._complete_base()]
        if base_s:
            limit_s = max(_SHORTEST_LIMIT_S, _SLOWEST_TIMES_BASE * max(base_s))
            limit_s = min(protocol.wall_limit_s, limit_s)
            protocol = protocol.model_copy(update={"wall_limit_s": limit_s})
        return TrialSpec(
            settings=self.space.settings(config),
            workload=self.spec.workload,
            protocol=protocol,
            seed=self.spec.seed,
        )


def make_space(spec: StudySpec, engine: Engine) -> KnobSpace:
    """The knob space of the spec on this host, on top of the engine's base."""
    base = engine.base_settings(spec.scale_value)
    return spec.space(engine.catalogue, base, describe_host().max_open_files)


@contextmanager
def open_study(home: Home, spec: StudySpec, engine: Engine, listener: Listener) -> Iterator[Study]:
    """Hold the study of the spec, new or as an earlier call left it.

    UserError when another process works on it, or when it exists with other settings.
    """
    with study_lock(home.lock_path(spec.name), f"study {spec.name!r}"):
        sweep_workdirs(home.work)
        stored = home.find_study(spec.name)
        if stored is None:
            stored = _create(home, spec, engine)
        else:
            _check_is_the_same(stored, spec)
            home.update_spec(stored, spec.model_dump(mode="json"))
            home.sweep_evidence(stored)
        yield Study(home, stored, spec, engine, listener)


def _create(home: Home, spec: StudySpec, engine: Engine) -> StoredStudy:
    make_space(spec, engine)  # what is wrong with the knobs is told before anything is kept
    make_optimizer(spec.optimizer)
    with workdir(home.work, f"{spec.name}-describe") as directory:
        facts = engine.describe(directory)
    host = {**asdict(describe_host()), "storage": asdict(describe_storage(home.path))}
    return home.add_study(spec.name, spec.model_dump(mode="json"), asdict(facts), host)


def _check_is_the_same(stored: StoredStudy, spec: StudySpec) -> None:
    before = StudySpec.model_validate(stored.spec)
    if before.identity() == spec.identity():
        return
    then, now = before.model_dump(), spec.model_dump()
    differing = [key for key in now if key not in BUDGET_KEYS and then[key] != now[key]]
    changes = ", ".join(f"{key} was {then[key]!r} and is now {now[key]!r}" for key in differing)
    raise UserError(
        f"study {spec.name!r} exists with other settings ({changes}); give --study another name"
    )
