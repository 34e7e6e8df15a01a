"""Live progress: one bar on a terminal, plain lines elsewhere; always on standard error."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console

from lsmtune.cli.common import note
from lsmtune.metrics.definitions import METRICS
from lsmtune.spec import StudySpec
from lsmtune.studies.runner import Event, Listener
from lsmtune.trials import Status
from lsmtune.units import format_bytes

_SHOWN = {
    "write": ("write_amp", "live_sst_bytes", "load_s", "settle_s", "stall_percent"),
    "read": ("throughput_ops_s", "read_amp", "live_sst_bytes"),
    "mixed": ("throughput_ops_s", "write_amp", "live_sst_bytes", "settle_s"),
}
"""The figures that a line shows, by the kind of load."""


@contextmanager
def progress(spec: StudySpec) -> Iterator[Listener]:
    """A listener that shows the events while the context is open."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:

        def plain(event: Event) -> None:
            if event.result is not None:
                note(_line(event, spec))
            elif event.phase.startswith("waiting"):
                note(event.phase)

        yield plain
        return
    with console.status(f"study {spec.name}") as status:

        def show(event: Event) -> None:
            if event.result is None:
                status.update(f"{event.task.title}: {event.phase}")
            else:
                console.print(_line(event, spec))

        yield show


def _line(event: Event, spec: StudySpec) -> str:
    result, title, took = event.result, event.task.title, f"{event.duration_s:.1f} s"
    if result is None:
        return event.phase
    if result.status not in (Status.COMPLETE, Status.DISTURBED):
        return f"{title}: {result.status.meaning}: {result.reason} ({took})"
    again = f"; {result.reason}, repeated" if result.status is Status.DISTURBED else ""
    return f"{title}: {_figures(result.metrics, spec)} ({took}{again})"


def _figures(metrics: Mapping[str, float], spec: StudySpec) -> str:
    """What was asked for, and what the load was about."""
    names = dict.fromkeys([*spec.parsed_objective.metrics, *_SHOWN[spec.workload.kind]])
    return ", ".join(_figure(name, metrics[name]) for name in names if name in metrics)


def _figure(name: str, value: float) -> str:
    unit = METRICS[name].unit
    if unit == "bytes":
        return f"{name} {format_bytes(value)}"
    return f"{name} {value:.3g}" if unit == "ratio" else f"{name} {value:.3g} {unit}"
