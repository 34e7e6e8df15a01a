"""Live progress: one bar on a terminal, plain lines elsewhere; always on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from lsmtune.cli.common import note
from lsmtune.spec import StudySpec
from lsmtune.studies.runner import Event, Listener
from lsmtune.trials import Role, Status

_NAMES = {
    Role.BASE: "base",
    Role.TRIAL: "trial",
    Role.REPEAT: "finalist again",
    Role.VERIFY_BASE: "verify: base",
    Role.VERIFY_BEST: "verify: winner",
}


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
                status.update(f"{_name(event)}: {event.phase}")
            else:
                console.print(_line(event))

        yield show


def _plain(event: Event) -> None:
    if event.result is not None:
        note(_line(event))
    elif event.phase.startswith("waiting"):
        note(event.phase)


def _name(event: Event) -> str:
    pair = f" {event.task.pair + 1}" if event.task.pair is not None else ""
    return f"{_NAMES[event.task.role]}{pair}"


def _line(event: Event) -> str:
    result = event.result
    if result is None:
        return event.phase
    if result.status not in (Status.COMPLETE, Status.DISTURBED):
        return (
            f"{_name(event)}: {result.status.meaning}: {result.reason} ({event.duration_s:.1f} s)"
        )
    m = result.metrics
    again = "; disturbed by others, repeated" if result.status is Status.DISTURBED else ""
    return (
        f"{_name(event)}: write amplification {m['write_amp']:.2f}, "
        f"{m['live_sst_bytes'] / 2**20:.0f} MiB live, load {m['load_s']:.1f} s + settle "
        f"{m['settle_s']:.1f} s, stalled {m['stall_percent']:.0f} % "
        f"({event.duration_s:.1f} s{again})"
    )
