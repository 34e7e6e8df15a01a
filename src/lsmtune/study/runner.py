"""Runs one trial on the engine and keeps it: lock, work directory, repeats, store."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from lsmtune.engines.base import Engine, Outcome, Places, Watch
from lsmtune.knobs.types import Config
from lsmtune.progress import Event
from lsmtune.pruning import PruneRule
from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial, StoredStudy, now_text
from lsmtune.system.cancelling import check_cancelled
from lsmtune.system.host import ClockWatch
from lsmtune.system.lock import host_lock
from lsmtune.system.workdir import check_workdir, workdir
from lsmtune.trials import Base, Role, Status, TrialResult, TrialSpec

DISTURBED_PERCENT = 5.0
"""CPU use of others from which on a trial is repeated."""
REPEATS = 2


@dataclass(frozen=True, slots=True)
class Task:
    """A trial to run: what for, of which config, and what the engine is given.

    `title` is what it is called while it runs, such as "trial 5 of 16"; `prune` may cut it. The
    run is at `scale` (None: the study's). One that `is_long` is announced before it starts.
    """

    title: str
    role: Role
    config: Config
    spec: TrialSpec
    prune: PruneRule | None = None
    verification_id: int | None = None
    pair: int | None = None
    scale: Fraction | None = None
    is_long: bool = False


Listener = Callable[[Event], None]

Derived = Callable[[Task, Mapping[str, float]], Mapping[str, float]]
"""Returns the metrics of a run that follow from its task and its measured metrics."""


Keep = Callable[[NewTrial, Mapping[str, Path]], None]
"""Stores a run that has ended, with the files of its evidence."""

NextJob = Callable[[str | None, Sequence[Task]], Sequence[Task]]
"""Returns the next tasks for a free host, which run there one after the other; none for now: ().

It gets the name of the host, or None if all hosts measure the same, and the tasks under way.
"""

Done = Callable[[Task, TrialResult], None]
"""Gets each task whose result counts, when it is stored."""


def ignore(task: Task, result: TrialResult) -> None:
    """Do nothing with a result."""


class Pool(Protocol):
    """Where the runs of a study run: in this process, or on hosts.

    It asks for the next tasks whenever a host is free. This process is a pool of one host, so a
    study decides the same with and without hosts.
    """

    def feed(self, next_job: NextJob, done: Done = ignore, most_repeats: int = REPEATS) -> None:
        """Run and keep what `next_job` returns, until it returns nothing and all runs have ended.

        A run that others disturbed is kept as such and repeated, at most so often.
        """


class Runner:
    """Runs the tasks of one study, one at a time on the host."""

    def __init__(
        self,
        home: Home,
        study: StoredStudy,
        base: Base,
        engine: Engine,
        listener: Listener,
        *,
        keep: Keep,
        derived: Derived,
        accept_noise: bool = False,
    ) -> None:
        self._home = home
        self._study = study
        self._base = base
        self._engine = engine
        self._listener = listener
        self._store_run = keep
        self._derived = derived
        self._accept_noise = accept_noise

    def feed(self, next_job: NextJob, done: Done = ignore, most_repeats: int = REPEATS) -> None:
        """Run and keep what `next_job` returns, one run after the other, until it returns none."""
        while job := next_job(None, ()):
            for task in job:
                done(task, self._run(task, most_repeats))

    def _run(self, task: Task, most_repeats: int) -> TrialResult:
        """Run and keep the trial; one that others disturbed is kept as such and repeated.

        The last repeat counts in any case, marked: a host that is never quiet can be tuned. With
        `accept_noise`, a run that other processes disturbed is marked and counts at once. While the
        clock was set, nothing that is taken from moments in the engine's log can be trusted.
        """
        check_cancelled()
        for repeats_left in reversed(range(min(REPEATS, most_repeats) + 1)):
            result = self._run_once(task, may_be_disturbed=repeats_left > 0)
            if result.status is not Status.DISTURBED:
                break
        return result

    def run_together(self, tasks: Sequence[Task]) -> None:
        """Run and keep trials side by side; none is repeated, for nobody can tell who disturbed.

        An interruption ends each where its next part would begin.
        """
        with self._turn(tasks[0]):
            started_at, started = now_text(), time.monotonic()
            with ExitStack() as folders:
                places = [
                    self._places(task, folders, f"-{side}") for side, task in enumerate(tasks)
                ]
                outcomes = self._side_by_side(tasks, places)
                for place in places:
                    check_workdir(place.workdir)
                duration_s = time.monotonic() - started
                for task, outcome in zip(tasks, outcomes, strict=True):
                    found = _without_others(outcome.result)
                    result = whole(found, self._derived(task, found.metrics))
                    self._keep(task, result, outcome, started_at, duration_s)
                    self._listener(Event(task, "done", result, duration_s))

    def _turn(self, task: Task) -> AbstractContextManager[None]:
        """Hold the host while a run measures times."""
        if not self._engine.times_matter:
            return nullcontext()
        return host_lock(lambda message: self._listener(Event(task, message)))

    def _places(self, task: Task, folders: ExitStack, side: str = "") -> Places:
        self._home.check_is_there()
        name = f"{self._study.name}-{task.role}{side}"
        return Places(folders.enter_context(workdir(self._home.work, name)), self._home.templates)

    def _side_by_side(self, tasks: Sequence[Task], places: Sequence[Places]) -> list[Outcome]:
        interrupted = threading.Event()

        def phase(_: str) -> None:
            if interrupted.is_set():
                raise InterruptedError

        run = self._engine.run
        with ThreadPoolExecutor(len(tasks)) as pool:
            running = [
                pool.submit(copy_context().run, run, task.spec, self._base, place, Watch(phase))
                for task, place in zip(tasks, places, strict=True)
            ]
            try:
                return [run.result() for run in running]
            except BaseException:
                interrupted.set()
                raise

    def _run_once(self, task: Task, *, may_be_disturbed: bool) -> TrialResult:
        with self._turn(task):
            started_at, started, clock = now_text(), time.monotonic(), ClockWatch()
            with ExitStack() as folders:
                places = self._places(task, folders)
                watch = self._watch(task, clock)
                outcome = self._engine.run(task.spec, self._base, places, watch)
                check_workdir(places.workdir)  # without it, the result says that the engine failed
                result = judged(
                    whole(outcome.result, self._derived(task, outcome.result.metrics)),
                    clock.jump_s(),
                    may_be_disturbed,
                    accept_noise=self._accept_noise,
                )
                duration_s = time.monotonic() - started
                self._keep(task, result, outcome, started_at, duration_s)
        self._listener(Event(task, "done", result, duration_s))
        return result

    def _watch(self, task: Task, clock: ClockWatch) -> Watch:
        """Looks on, and at the clock too: it may be set and set back within a trial."""

        def phase(name: str) -> None:
            check_cancelled()
            clock.jump_s()
            self._listener(Event(task, name))

        def hopeless(bounds: Mapping[str, float]) -> str | None:
            check_cancelled()
            clock.jump_s()
            return None if task.prune is None else task.prune.reason(bounds)

        return Watch(phase, hopeless)

    def _keep(
        self, task: Task, result: TrialResult, outcome: Outcome, started_at: str, duration_s: float
    ) -> None:
        trial = NewTrial(
            role=task.role,
            config=task.config,
            spec=task.spec,
            result=result,
            started_at=started_at,
            duration_s=duration_s,
            verification_id=task.verification_id,
            pair=task.pair,
        )
        self._store_run(trial, outcome.evidence)


def whole(result: TrialResult, derived: Mapping[str, float]) -> TrialResult:
    """Return the result with the metrics that follow from task and measurement."""
    return _with_metrics(result, {**result.metrics, **derived})


def judged(
    result: TrialResult, clock_jump_s: float, repeatable: bool, *, accept_noise: bool
) -> TrialResult:
    """Return the result, as disturbed if it is to be repeated, or with the mark of a kept one."""
    reason = _disturbance(result, clock_jump_s)
    if reason is None:
        return result
    if repeatable and (clock_jump_s or not accept_noise):
        return result.model_copy(update={"status": Status.DISTURBED, "reason": reason})
    return result.model_copy(update={"disturbance": reason})


def _without_others(result: TrialResult) -> TrialResult:
    """The result of a run beside others: what others used of the CPU cannot be told from it."""
    metrics = {k: v for k, v in result.metrics.items() if k != "others_cpu_percent"}
    return _with_metrics(result, metrics)


def _with_metrics(result: TrialResult, metrics: dict[str, float]) -> TrialResult:
    if result.measurement is None:
        return result
    measurement = result.measurement.model_copy(update={"metrics": metrics})
    return result.model_copy(update={"measurement": measurement})


def _disturbance(result: TrialResult, clock_jump_s: float) -> str | None:
    """What disturbed a complete run: others used the CPU, or the clock was set; None if nothing."""
    if result.status is not Status.COMPLETE:
        return None
    if clock_jump_s:
        return f"the system clock was changed by {clock_jump_s:+.1f} s"
    others = result.metrics.get("others_cpu_percent", 0.0)
    if others > DISTURBED_PERCENT:
        return f"other processes used {others:.0f} % of the CPU"
    return None
