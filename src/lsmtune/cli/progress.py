"""Progress of a study on standard error: a line that changes on a terminal, else plain lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from lsmtune.cli.output import note
from lsmtune.cli.slow_work import TerminalProgress, one_line
from lsmtune.progress import Event, RunListener
from lsmtune.report.text.run_text import RunTexts

if TYPE_CHECKING:
    from lsmtune.api.resolve import StudySettings


class _Listener:
    """Shows the events of a study, and takes over baseline and best value of earlier calls."""

    def __init__(self, texts: RunTexts, show: Callable[[Event], None]) -> None:
        self._show = show
        self.recall = texts.recall

    def __call__(self, event: Event) -> None:
        self._show(event)


def _plain_listener(texts: RunTexts) -> Callable[[Event], None]:
    """Return a function that prints a line per phase of the study and per finished trial.

    Each phase has one line, although an experiment and hosts measure the baseline again and again.
    Long runs have a line at their start, too.
    """
    phases, announced = set[str](), ""

    def show(event: Event) -> None:
        nonlocal announced
        if event.task.is_long and event.task.title != announced:
            announced = event.task.title
            note(f"{announced}: started")
        if (phase := texts.phase(event)) not in phases:
            phases.add(phase)
            note(phase)
        if event.result is not None:
            note(texts.line(event))
        elif event.remark is not None:
            note(texts.remark(event))

    return show


class TerminalObserver(TerminalProgress):
    """Shows remarks, slow work and runs on standard error."""

    @contextmanager
    def running(self, spec: "StudySettings") -> Iterator[RunListener]:
        """Give a listener that shows the runs of a study while the context is open."""
        console, texts = Console(stderr=True, highlight=False), RunTexts(spec)
        if not console.is_terminal:
            yield _Listener(texts, _plain_listener(texts))
            return
        with console.status(one_line(f"study {spec.name}")) as status:

            def show(event: Event) -> None:
                if event.host is not None:
                    lines = texts.on_hosts(event) or [f"study {spec.name}"]
                    status.update(Group(*map(one_line, lines)))
                if event.result is not None:
                    console.print(Text(texts.line(event)))
                elif event.host is None:
                    status.update(one_line(f"{event.task.title}: {event.phase}"))
                elif event.remark is not None:
                    console.print(Text(texts.remark(event)))

            yield _Listener(texts, show)
