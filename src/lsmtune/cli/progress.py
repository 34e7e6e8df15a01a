"""Progress on standard error: one line that changes on a terminal, plain lines in a pipe."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.text import Text

from lsmtune.api.observer import SOON_S, Event, Observer, RunListener, StudySettings
from lsmtune.cli.output import note
from lsmtune.report.text.run_text import RunTexts


class _Display:
    """The line of slow work, which another thread opens after the delay."""

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


class TerminalObserver(Observer):
    """Shows remarks, slow work and runs on standard error."""

    def remark(self, text: str) -> None:
        """Print a line."""
        note(text)

    @contextmanager
    def working(self, text: str, delay_s: float = SOON_S) -> Iterator[Callable[[str], None]]:
        """Show what is being done if it takes longer than the delay.

        Gives a function that replaces the text. A terminal has one line with the latest text. A
        pipe gets one line per text, from the end of the delay on.
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

    @contextmanager
    def running(self, spec: StudySettings) -> Iterator[RunListener]:
        """Give a listener that shows the runs of a study while the context is open."""
        console, texts = Console(stderr=True, highlight=False), RunTexts(spec)
        if not console.is_terminal:
            yield _Listener(texts, _plain_listener(texts))
            return
        with console.status(_one_line(f"study {spec.name}")) as status:

            def show(event: Event) -> None:
                if event.host is not None:
                    lines = texts.on_hosts(event) or [f"study {spec.name}"]
                    status.update(Group(*map(_one_line, lines)))
                if event.result is not None:
                    console.print(Text(texts.line(event)))
                elif event.host is None:
                    status.update(_one_line(f"{event.task.title}: {event.phase}"))
                elif event.remark is not None:
                    console.print(Text(texts.remark(event)))

            yield _Listener(texts, show)
