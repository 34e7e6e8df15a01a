"""What a caller can see while lsmtune works: remarks, slow work, and the runs of a study.

It is below all that it sees, so whoever only passes an observer on loads no study.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lsmtune.spec import StudySettings
    from lsmtune.store.records import StoredTrial
    from lsmtune.study.runner import Task
    from lsmtune.trials import TrialResult

SOON_S = 2.0
"""Work that ends sooner needs no sign of progress, in seconds."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something the user may want to see: a phase of the task, or its result.

    `host` is where it runs if that is not this process.
    """

    task: "Task"
    phase: str
    result: "TrialResult | None" = None
    duration_s: float = 0.0
    host: str | None = None

    @property
    def remark(self) -> str | None:
        """The sentence of an event that is one, such as that another lsmtune runs.

        The parts of a run have names of one word.
        """
        return self.phase if self.result is None and " " in self.phase else None


class RunListener(Protocol):
    """Sees the runs of one study."""

    def __call__(self, event: Event) -> None:
        """See a phase of a run, or its result."""

    def recall(self, trials: "Sequence[StoredTrial]") -> None:
        """See the runs of earlier calls, before the first event."""


class Observer:
    """Sees the work of lsmtune. This one ignores everything; the command line prints it.

    All calls come from the thread that does the work.
    """

    def remark(self, text: str) -> None:
        """See a sentence about the work, such as that an earlier call has done a part."""

    @contextmanager
    def working(self, text: str, delay_s: float = SOON_S) -> Iterator[Callable[[str], None]]:
        """See work that may take longer than `delay_s`; the function replaces the text."""
        yield lambda text: None

    @contextmanager
    def running(self, spec: "StudySettings") -> Iterator[RunListener]:
        """See the runs of a study while the context is open.

        Gives an object that is called with an `Event` whenever a part of a run begins or a run
        ends, and whose `recall` gets the runs of earlier calls.
        """
        yield _Waiting(self)


class _Waiting:
    """Ignores the runs of a study, but remarks that they wait for another process."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def __call__(self, event: Event) -> None:
        """Pass on a sentence."""
        if event.remark is not None:
            self._observer.remark(event.remark)

    def recall(self, trials: "Sequence[StoredTrial]") -> None:
        """Ignore earlier runs."""
