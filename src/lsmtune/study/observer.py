"""What a caller can see while lsmtune works on a study: remarks, slow work, and each run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from lsmtune.progress import Progress
from lsmtune.spec import StudySettings
from lsmtune.store.records import StoredTrial
from lsmtune.study.runner import Event


class RunListener(Protocol):
    """Sees the runs of one study."""

    def __call__(self, event: Event) -> None:
        """See a phase of a run, or its result."""

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """See the runs of earlier calls, before the first event."""


class _Waiting:
    """Ignores the runs of a study, but remarks that they wait for another process."""

    def __init__(self, observer: "Observer") -> None:
        self._observer = observer

    def __call__(self, event: Event) -> None:
        """Pass on a sentence."""
        if event.remark is not None:
            self._observer.remark(event.remark)

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """Ignore earlier runs."""


class Observer(Progress):
    """Sees the work of lsmtune. This one ignores everything; the command line prints it.

    All calls come from the thread that does the work.
    """

    @contextmanager
    def running(self, spec: StudySettings) -> Iterator[RunListener]:
        """See the runs of a study while the context is open.

        Gives an object that is called with an `Event` whenever a part of a run begins or a run
        ends, and whose `recall` gets the runs of earlier calls.
        """
        yield _Waiting(self)
