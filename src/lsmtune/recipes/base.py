"""Contract between recipes and the command line: the studies of a recipe and its results."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.runner import Listener

Progress = Callable[[StudySettings], AbstractContextManager[Listener]]
"""Context manager that shows the events of a study."""


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
    run: Callable[[Asked, Home, Progress], Reproduction]
