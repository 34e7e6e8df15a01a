"""Progress on standard error: one line that changes on a terminal, plain lines in a pipe."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from lsmtune.cli.common import note
from lsmtune.metrics.definitions import METRICS
from lsmtune.spec import StudySpec
from lsmtune.studies.runner import Event, Listener
from lsmtune.trials import Role, Status
from lsmtune.units import format_bytes

_DELAY_S = 2.0
"""Work that ends sooner shows no progress."""
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
}


@contextmanager
def working(text: str, delay_s: float = _DELAY_S) -> Iterator[Callable[[str], None]]:
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
def progress(spec: StudySpec) -> Iterator[Listener]:
    """Give a listener that shows the events of a study while the context is open."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _plain_listener(spec)
        return
    with console.status(_one_line(f"study {spec.name}")) as status:

        def show(event: Event) -> None:
            if event.result is None:
                status.update(_one_line(f"{event.task.title}: {event.phase}"))
            else:
                console.print(Text(_line(event, spec)))

        yield show


def _plain_listener(spec: StudySpec) -> Listener:
    """A listener that prints a line per phase of the study and per finished trial."""
    last_phase = ""

    def show(event: Event) -> None:
        nonlocal last_phase
        if (phase := _PHASES[event.task.role]) != last_phase:
            last_phase = phase
            note(f"study {spec.name}: {phase}")
        if event.result is not None:
            note(_line(event, spec))
        elif " " in event.phase:  # a remark, such as that another lsmtune runs; not a part's name
            note(event.phase)

    return show


def _line(event: Event, spec: StudySpec) -> str:
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
    return f"{title}: {_figures(result.metrics, spec)} ({took}{remark})"


def _figures(metrics: Mapping[str, float], spec: StudySpec) -> str:
    """The objective's metrics, and those that show how the workload ran."""
    names = dict.fromkeys([*spec.parsed_objective.metrics, *_SHOWN[spec.workload.kind]])
    return ", ".join(_figure(name, metrics[name]) for name in names if name in metrics)


def _figure(name: str, value: float) -> str:
    unit = METRICS[name].unit
    if unit == "bytes":
        return f"{name} {format_bytes(value)}"
    return f"{name} {value:.3g}" if unit == "ratio" else f"{name} {value:.3g} {unit}"
