"""A study that a benchmark opens with an engine of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from lsmtune.engines.base import Engine
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.session import Session


@contextmanager
def open_study(
    home: Home, spec: StudySettings, engine: Engine, observer: Observer | None = None
) -> Iterator[Session]:
    """Prepare and open a study."""
    observer = observer or Observer()
    prepared = prepare(spec, home.path, observer, engine=engine)
    with open_session(home, prepared, observer) as study:
        yield study
