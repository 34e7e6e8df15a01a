"""Tuning a running store: one change at a time, which stays only if equal windows show a gain."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from lsmtune.engines.base import Live, LiveEngine, Places, TrialFailedError, Watch, Window
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.metrics.measurement import Measurement
from lsmtune.objective import median_metrics
from lsmtune.optimizers.base import Observation, Optimizer, seen
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spec import StudySettings
from lsmtune.stats import Interval
from lsmtune.store.records import NewTrial, now_text
from lsmtune.study.guard import LOSS, cost_ratio, gains, loses, shifted
from lsmtune.study.session import Session
from lsmtune.system.lock import host_lock
from lsmtune.system.workdir import workdir
from lsmtune.tables import Online
from lsmtune.trials import Judgement, OnlineChange, Role, Status, TrialResult, TrialSpec

_MOST_WAITED = 10
"""Maximum number of windows without an operation, before the windows of a change begin."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a change is judged: by which metric, in windows of so many seconds, so many a side."""

    metric: str
    window_s: float
    windows: int
    steps: int
    seed: int


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows before and during a change, and after it was reverted."""

    before: list[Window]
    during: list[Window] = field(default_factory=list)
    after: list[Window] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Step:
    """A change that was tried: what became of it, and by how much it moved the metric.

    `previous` is what was set before. `cost` is the metric under the change over that before, below
    1 better; None where it was not measured: the change was refused, or the load stopped
    under it. `base` is the number of times that the load had shifted before.
    """

    number: int
    config: Config
    previous: Config
    judgement: Judgement
    cost: Interval | None
    reason: str
    base: int
    windows: Windows


class OnlineTuner:
    """Tries changes on a running store; `steps` runs them, `current` is what is set."""

    def __init__(self, live: Live, space: KnobSpace, optimizer: Optimizer, plan: Plan) -> None:
        self._live = live
        self._space = space
        self._optimizer = optimizer
        self._plan = plan
        self._shifts = 0
        self._known: list[Window] = []
        self.current = space.default()
        self._history = [self._base()]

    def steps(self) -> Iterator[Step]:
        """Try one change after the other; whatever ends it, the store keeps what is proven."""
        try:
            for number in range(1, self._plan.steps + 1):
                self._wait()
                before = self._fresh_windows()
                seed = self._plan.seed + self._shifts
                config = self._optimizer.ask(self._space, self._history, seed)
                if config in seen(self._history):
                    return
                yield self._step(number, config, before)
        finally:
            self._set(self.current)

    def _wait(self) -> None:
        """Let a window pass that does not count: caches and levels follow late.

        After a change that stopped the load, the store may need more than one window until the
        load goes on.
        """
        for waited in range(1, _MOST_WAITED + 1):
            try:
                self._live.window(self._plan.window_s)
            except TrialFailedError as failure:
                if failure.status is not Status.TIMED_OUT or waited == _MOST_WAITED:
                    raise
            else:
                return

    def _base(self) -> Observation:
        return Observation(self.current, (1.0,), 0.0)

    def _set(self, config: Config) -> None:
        self._live.change(self._space.settings(config))

    def _window(self) -> Window:
        """The next window; UserError if its metric cannot be compared."""
        window, metric = self._live.window(self._plan.window_s), self._plan.metric
        if metric not in window.metrics:
            raise UserError(
                f"objective: online tuning of this workload does not measure {metric}; available: "
                f"{', '.join(sorted(window.metrics))}"
            )
        if window.metrics[metric] <= 0:
            raise UserError(
                f"objective: {metric} was 0 in a window of online tuning; choose a metric that is "
                "always above 0"
            )
        return window

    def _windows(self) -> list[Window]:
        return [self._window() for _ in range(self._plan.windows)]

    def _fresh_windows(self) -> list[Window]:
        """Windows of what is set; what was learned under another load is forgotten."""
        fresh = self._windows()
        if self._known and shifted(fresh, self._known) is not None:
            self._start_over()
        self._known = fresh
        return fresh

    def _start_over(self) -> None:
        """The load has shifted: what is set is the base of what follows."""
        self._shifts += 1
        self._known = []
        self._history = [self._base()]

    def _step(self, number: int, config: Config, before: list[Window]) -> Step:
        windows, previous, base = Windows(before), self.current, self._shifts

        def step(judgement: Judgement, reason: str, cost: Interval | None = None) -> Step:
            return Step(number, config, previous, judgement, cost, reason, base, windows)

        try:
            self._set(config)
        except TrialFailedError as failure:
            self._set_back(config)
            return step(Judgement.REFUSED, str(failure))
        try:
            judgement, reason = self._watched(windows)
        except TrialFailedError as failure:
            if failure.status is not Status.TIMED_OUT:
                raise
            self._set_back(config)
            return step(Judgement.LOST, str(failure))
        cost = cost_ratio(self._plan.metric, windows.during, before)
        if judgement is Judgement.SHIFTED:
            self._start_over()
            return step(judgement, reason, cost)
        self._history.append(Observation(config, (cost.median,), 0.0))
        if judgement is Judgement.KEPT:
            self.current = config
            self._set(config)
            self._history = [_rebased(earlier, cost.median) for earlier in self._history]
        return step(judgement, reason, cost)

    def _set_back(self, failed: Config) -> None:
        """Set again what was set before a change that gave no measurement."""
        self._set(self.current)
        self._history.append(Observation(failed, None, None))

    def _watched(self, windows: Windows) -> tuple[Judgement, str]:
        """Watch the change, take it back, watch again; the store then has what it had before.

        The windows under the change and after it are added to `windows`.
        """
        metric, before, under = self._plan.metric, windows.before, windows.during
        self._live.window(self._plan.window_s)  # not counted: caches and levels follow late
        for _ in range(self._plan.windows):
            under.append(self._window())
            if (trait := shifted(under, before)) is not None:
                self._set(self.current)
                return Judgement.SHIFTED, trait
            if loses(metric, under, before):
                self._set(self.current)
                return Judgement.LOST, f"{metric} became worse by at least {100 * (LOSS - 1):.0f} %"
        self._set(self.current)
        if not gains(metric, under, before):
            return Judgement.NOT_SHOWN, f"no gain is proven for {metric}"
        self._live.window(self._plan.window_s)
        windows.after.extend(self._windows())
        if (trait := shifted(windows.after, before)) is not None:
            return Judgement.SHIFTED, trait
        if not gains(metric, under, windows.after):
            return (
                Judgement.NOT_SHOWN,
                f"no gain is proven: {metric} was not clearly worse after the change was reverted",
            )
        reason = f"{metric} was better with the change than before the change and after the revert"
        return Judgement.KEPT, reason


def _rebased(earlier: Observation, cost: float) -> Observation:
    """An observation against the config that has just become the base."""
    if earlier.values is None:
        return earlier
    values = tuple(value / cost for value in earlier.values)
    return Observation(earlier.config, values, earlier.violation)


def check_objective(spec: StudySettings) -> None:
    """Raise UserError if the objective is not one metric, by which a window can be judged."""
    if len(spec.parsed_objective.metrics) != 1:
        raise UserError(
            f"objective: {spec.parsed_objective.name} is not supported with [online]; name one "
            "metric"
        )


def tune_online(
    study: Session, engine: LiveEngine, online: Online, tell: Callable[[Step], None]
) -> Config:
    """Run the engine under the study's load, try changes on it, keep a row a step.

    Returns what is set in the end. UserError where the objective is not one metric, LsmtuneError
    when engine or load fail.
    """
    spec = study.spec
    check_objective(spec)
    plan = Plan(
        study.objective.metrics[0],
        online.window_s,
        online.windows,
        spec.number_of_trials,
        spec.seed,
    )
    trial = study.trial_spec(study.space.default())
    with ExitStack() as stack:
        stack.enter_context(host_lock(None))
        folder = stack.enter_context(workdir(study.home.work, f"{study.stored.name}-online"))
        places = Places(folder, study.home.templates)
        try:
            live = stack.enter_context(
                engine.serve(trial, study.ground.base, places, Watch(lambda _: None))
            )
            tuner = OnlineTuner(live, study.space, make_optimizer(spec.optimizer), plan)
            began_at, began = now_text(), time.monotonic()
            for step in tuner.steps():
                _keep(study, trial, step, began_at, time.monotonic() - began)
                tell(step)
                began_at, began = now_text(), time.monotonic()
        except TrialFailedError as failure:
            raise LsmtuneError(f"online tuning stopped: {failure}") from failure
    return tuner.current


def _keep(study: Session, trial: TrialSpec, step: Step, began_at: str, took_s: float) -> None:
    if step.cost is not None:
        status = Status.COMPLETE
    else:
        refused = step.judgement is Judgement.REFUSED
        status = Status.REFUSED if refused else Status.TIMED_OUT
    result = TrialResult(
        status=status,
        reason=f"{step.judgement.meaning}: {step.reason}",
        measurement=None if step.cost is None else _measurement(study, step),
        online=_record(step, study.objective.metrics[0]),
    )
    spec = trial.model_copy(update={"settings": study.space.settings(step.config)})
    row = NewTrial(Role.ONLINE, step.config, spec, result, began_at, took_s)
    study.keep(row, {})


def _record(step: Step, metric: str) -> OnlineChange:
    before, during, after = (
        tuple(window.metrics[metric] for window in windows)
        for windows in (step.windows.before, step.windows.during, step.windows.after)
    )
    return OnlineChange(
        number=step.number,
        judgement=step.judgement,
        previous=dict(step.previous),
        before=before,
        during=during,
        after=after,
        cost=step.cost,
    )


def _measurement(study: Session, step: Step) -> Measurement:
    return Measurement(
        metrics=median_metrics([dict(window.metrics) for window in step.windows.during]),
        levels=(),
        stalls={},
        engine_version=study.stored.engine.version,
        assertions_enabled=False,
        as_run={},
    )
