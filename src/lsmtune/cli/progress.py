"""Progress on standard error: one line that changes on a terminal, plain lines in a pipe."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from lsmtune.cli.common import note
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Metrics, median_metrics
from lsmtune.report.text.words import TIMES
from lsmtune.spec import StudySettings
from lsmtune.store.ranking import base_runs
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.observer import SOON_S, Observer
from lsmtune.study.runner import Event, Listener
from lsmtune.trials import Role, Status
from lsmtune.units import format_bytes, format_duration

_SHOWN = {
    "write": ("write_amp", "live_sst_bytes", "load_s", "settle_s", "stall_percent"),
    "read": ("throughput_ops_s", "read_amp", "live_sst_bytes"),
    "mixed": ("throughput_ops_s", "write_amp", "live_sst_bytes", "settle_s"),
}
"""The metrics that a line shows, by the kind of workload."""
_PHASES = {
    Role.BASE: "measuring the baseline",
    Role.TRIAL: "running the trials",
    Role.REPEAT: "repeating the best configs",
    Role.SHARED: "checking whether trials may run at the same time",
    Role.ONLINE: "changing options of the running engine",
    Role.VERIFY_BASE: "verifying: winner against baseline",
    Role.VERIFY_BEST: "verifying: winner against baseline",
    Role.VERIFY_RAW: "verifying: winner against baseline",
    Role.SIMPLIFY: "simplifying: the winner with fewer changed options",
}


@contextmanager
def working(text: str, delay_s: float = SOON_S) -> Iterator[Callable[[str], None]]:
    """Show what is being done if it takes longer than the delay.

    Gives a function that replaces the text. A terminal has one line with the latest text. A pipe
    gets one line per text, from the end of the delay on.
    """
    display = _Display(text)
    timer = threading.Timer(delay_s, display.open)
    timer.daemon = True
    timer.start()
    try:
        yield display.update
    finally:
        timer.cancel()
        display.close()


class _Display:
    """The line of `working`, which another thread opens after the delay."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._console = Console(stderr=True, highlight=False)
        self._status = self._console.status(_one_line(text))
        self._is_open = self._is_closed = False

    def open(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_open = True
            if self._console.is_terminal:
                self._status.update(_one_line(self._text))
                self._status.start()
            else:
                note(self._text)

    def update(self, text: str) -> None:
        with self._lock:
            is_new, self._text = text != self._text, text
            if not self._is_open or not is_new:
                return
            if self._console.is_terminal:
                self._status.update(_one_line(text))
            else:
                note(text)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._is_open:
                self._status.stop()


def _one_line(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


@contextmanager
def progress(spec: StudySettings) -> Iterator["Progress"]:
    """Give a listener that shows the events of a study while the context is open."""
    console, story = Console(stderr=True, highlight=False), _Story(spec)
    if not console.is_terminal:
        yield Progress(story, _plain_listener(spec, story))
        return
    with console.status(_one_line(f"study {spec.name}")) as status:

        def show(event: Event) -> None:
            if event.result is None:
                status.update(_one_line(f"{event.task.title}: {event.phase}"))
            else:
                console.print(Text(_line(event, spec, story)))

        yield Progress(story, show)


class Progress:
    """A listener that shows the events of a study."""

    def __init__(self, story: "_Story", show: Listener) -> None:
        self._story = story
        self._show = show

    def __call__(self, event: Event) -> None:
        """Show an event."""
        self._show(event)

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """Take over baseline and best value from the trials of earlier calls."""
        self._story.recall(trials)


class _Story:
    """What the events of a search have told: its baseline, its best value, its pace."""

    def __init__(self, spec: StudySettings) -> None:
        self._spec = spec
        self._objective = spec.parsed_objective
        self.metrics = self._objective.metrics
        self._base: list[Metrics] = []
        self._best: float | None = None
        self._trials = 0
        self._seconds = 0.0

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """Take over baseline and best value from the trials of earlier calls."""
        self._base = base_runs(trials)
        for trial in complete_trials(trials, Role.TRIAL):
            self._value(trial.result.metrics)

    def of(self, event: Event) -> str:
        """Return the objective of a trial, the best so far and the time that is left."""
        result, role = event.result, event.task.role
        if result is None or result.status is Status.DISTURBED:
            return ""
        if role is Role.BASE and result.status is Status.COMPLETE:
            self._base.append(result.metrics)
        if role is not Role.TRIAL:
            return ""
        self._trials += 1
        self._seconds += event.duration_s
        if (value := self._value(result.metrics)) is None:
            return ""
        return (
            f"{self._objective.name} {value:.2f} {TIMES} (best {self._best:.2f} {TIMES}"
            f"{self._left(event)}), "
        )

    def _value(self, metrics: Metrics) -> float | None:
        """Return the objective / baseline, and remember the best; None if a metric is missing."""
        base = median_metrics(self._base) if self._base else {}
        if any(name not in run for name in self._objective.metrics for run in (base, metrics)):
            return None
        value = self._objective.value(metrics, base)
        self._best = value if self._best is None else min(value, self._best)
        return value

    def _left(self, event: Event) -> str:
        """Return about the time of the trials that are left, from the number in the title."""
        found = re.fullmatch(r"search (\d+) of (\d+)", event.task.title)
        if found is None:
            return ""
        left_s = (int(found[2]) - int(found[1])) * self._seconds / self._trials
        return f", about {format_duration(left_s)} left" if left_s >= 1 else ""


def _plain_listener(spec: StudySettings, story: _Story) -> Listener:
    """A listener that prints a line per phase of the study and per finished trial.

    Long runs have a line at their start, too.
    """
    last_phase, announced = "", ""

    def show(event: Event) -> None:
        nonlocal last_phase, announced
        if event.task.is_long and event.task.title != announced:
            announced = event.task.title
            note(f"{announced}: started")
        if (phase := _PHASES[event.task.role]) != last_phase:
            last_phase = phase
            note(f"study {spec.name}: {phase}")
        if event.result is not None:
            note(_line(event, spec, story))
        elif event.remark is not None:
            note(event.remark)

    return show


def _line(event: Event, spec: StudySettings, story: _Story) -> str:
    told = story.of(event)
    result, title, took = event.result, event.task.title, f"{event.duration_s:.1f} s"
    if result is None:
        return event.phase
    if result.status not in (Status.COMPLETE, Status.DISTURBED):
        return f"{title}: {result.status.meaning}: {result.reason} ({took})"
    remark = ""
    if result.status is Status.DISTURBED:
        remark = f"; {result.reason}, so lsmtune runs the trial again"
    elif result.disturbance is not None:
        remark = f"; the result is kept and marked, although {result.disturbance}"
    return f"{title}: {told}{_figures(result.metrics, spec, story.metrics)} ({took}{remark})"


def _figures(metrics: Mapping[str, float], spec: StudySettings, goals: Sequence[str]) -> str:
    """The objective's metrics, and those that show how the workload ran."""
    names = dict.fromkeys([*goals, *_SHOWN[spec.workload.kind]])
    return ", ".join(_figure(name, metrics[name]) for name in names if name in metrics)


def _figure(name: str, value: float) -> str:
    unit = METRICS[name].unit
    if unit == "bytes":
        return f"{name} {format_bytes(value)}"
    return f"{name} {value:.3g}" if unit == "ratio" else f"{name} {value:.3g} {unit}"


class TerminalObserver(Observer):
    """Shows remarks, slow work and runs on standard error."""

    def remark(self, text: str) -> None:
        """Print a line."""
        note(text)

    @contextmanager
    def working(self, text: str, delay_s: float = SOON_S) -> Iterator[Callable[[str], None]]:
        """Show what is being done if it takes longer than the delay."""
        with working(text, delay_s) as update:
            yield update

    @contextmanager
    def running(self, spec: StudySettings) -> Iterator["Progress"]:
        """Show the runs of a study."""
        with progress(spec) as listener:
            yield listener
