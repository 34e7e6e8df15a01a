"""A study that a test opens with an engine of its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from lsmtune.engines.base import Engine
from lsmtune.hosts.commander import Hosts
from lsmtune.progress import Event, Observer, RunListener
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.session import Session
from lsmtune.testing.scripted import ScriptedEngine
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune_reproductions.recipes.base import Opener


class Listening(Observer):
    """Passes the events of runs to a function."""

    def __init__(
        self, listener: Callable[[Event], None], tell: Callable[[str], None] | None = None
    ) -> None:
        self._listener = listener
        self._tell = tell

    def remark(self, text: str) -> None:
        """Pass a remark, if somebody listens."""
        if self._tell is not None:
            self._tell(text)

    @contextmanager
    def running(self, spec: StudySettings) -> Iterator[RunListener]:
        """Give the function, as a listener."""
        yield _Heard(self._listener)


class _Heard:
    def __init__(self, listener: Callable[[Event], None]) -> None:
        self._listener = listener

    def __call__(self, event: Event) -> None:
        self._listener(event)

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """Ignore the runs of earlier calls."""


@contextmanager
def open_study(
    home: Home,
    spec: StudySettings,
    engine: Engine,
    listener: Callable[[Event], None] = lambda _: None,
    *,
    accept_noise: bool = False,
    published: bool = False,
    hosts: Hosts | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Session]:
    """Prepare and open a study; the listener gets the events of its runs, and `tell` remarks."""
    observer = Listening(listener, tell)
    prepared = prepare(spec, home.path, observer, engine=engine, published=published)
    with open_session(home, prepared, observer, accept_noise=accept_noise, hosts=hosts) as study:
        yield study


def opener(home: Home, script: Callable[[TrialSpec], TrialResult]) -> Opener:
    """Return an opener of a recipe's studies whose runs follow a script."""
    return Opener(home.path, make=lambda spec: ScriptedEngine(script, spec.engine))
