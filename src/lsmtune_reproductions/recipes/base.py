"""Contract between recipes and the command line: the studies of a recipe and its results."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Engine
from lsmtune.engines.registry import engine_of
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.opening import Prepared, open_session, prepare
from lsmtune.study.session import Session

Make = Callable[[StudySettings], Engine]
"""Function that makes the engine of a study."""


class Opener:
    """Opens the studies of a recipe, which keep the sizes of the paper.

    The engine of each study is made by `make` and describes itself once.
    """

    def __init__(
        self, home_path: Path, observer: Observer | None = None, make: Make = engine_of
    ) -> None:
        self._home_path = home_path
        self._observer = observer or Observer()
        self._make = make
        self._prepared: dict[str, Prepared] = {}

    def check(self, studies: Iterable[StudySettings]) -> None:
        """Prepare studies before anything is written; UserError if one of them cannot run."""
        for spec in studies:
            self._prepared[spec.name] = self._prepare(spec)

    @contextmanager
    def open(self, home: Home, spec: StudySettings) -> Iterator[Session]:
        """Open a study for its runs, and hold its lock."""
        prepared = self._prepared.pop(spec.name, None) or self._prepare(spec)
        with open_session(home, prepared, self._observer) as study:
            yield study

    def _prepare(self, spec: StudySettings) -> Prepared:
        engine = self._make(spec)
        return prepare(spec, self._home_path, self._observer, engine=engine, published=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """Flags of `lsmtune reproduce`; None: the recipe's default."""

    program: str = "db_bench"
    num: int | None = None
    configs: int | None = None
    seeds: int | None = None
    repeats: int | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Results of a recipe: an HTML page, a JSON document, and lines for the terminal."""

    page: str
    document: dict[str, Any]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A packaged study that reproduces a published one.

    `flags` are the fields of Asked that the recipe uses, in addition to the program. `studies`
    returns the studies that will run; they are checked before anything is created. `run` runs what
    is missing: an interrupted recipe continues where it stopped.
    """

    name: str
    flags: frozenset[str]
    studies: Callable[[Asked], tuple[StudySettings, ...]]
    run: Callable[[Asked, Home, Opener], Reproduction]
