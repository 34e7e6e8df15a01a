"""Live progress: one bar on a terminal, plain lines elsewhere; always on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from lsmtune.cli.common import note
from lsmtune.spec import StudySpec
from lsmtune.studies.runner import Event, Listener
from lsmtune.trials import Status


@contextmanager
def progress(spec: StudySpec) -> Iterator[Listener]:
    """A listener that shows the events while the context is open."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _plain
        return
    with console.status(f"study {spec.name}") as status:

        def show(event: Event) -> None:
            if event.result is None:
                status.update(f"{event.task.title}: {event.phase}")
            else:
                console.print(_line(event))

        yield show


def _plain(event: Event) -> None:
    if event.result is not None:
        note(_line(event))
    elif event.phase.startswith("waiting"):
        note(event.phase)


def _line(event: Event) -> str:
    result, title, took = event.result, event.task.title, f"{event.duration_s:.1f} s"
    if result is None:
        return event.phase
    if result.status not in (Status.COMPLETE, Status.DISTURBED):
        return f"{title}: {result.status.meaning}: {result.reason} ({took})"
    m = result.metrics
    again = "; disturbed by others, repeated" if result.status is Status.DISTURBED else ""
    return (
        f"{title}: write amplification {m['write_amp']:.2f}, "
        f"{m['live_sst_bytes'] / 2**20:.0f} MiB live, load {m['load_s']:.1f} s + settle "
        f"{m['settle_s']:.1f} s, stalled {m['stall_percent']:.0f} % "
        f"({took}{again})"
    )
