"""What a recipe is to the command line: which studies it runs, and what comes out."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.studies.runner import Listener

Progress = Callable[[StudySpec], AbstractContextManager[Listener]]
"""Shows the events of a study while its context is open."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asks of a recipe; None: as the recipe has it."""

    program: str = "db_bench"
    num: int | None = None
    configs: int | None = None
    seeds: int | None = None
    repeats: int | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What came out: one HTML page, the results as JSON, and in a few lines."""

    page: str
    document: dict[str, Any]
    lines: tuple[str, ...]


class Recipe(Protocol):
    """A packaged study that reproduces a published one."""

    name: str
    flags: frozenset[str]
    """Which fields of Asked it has, besides the program."""

    def studies(self, asked: Asked) -> tuple[StudySpec, ...]:
        """The studies that will run, so that they are checked before anything is made."""

    def run(self, asked: Asked, home: Home, progress: Progress) -> Reproduction:
        """Run what has not run yet; everything goes on where it stopped."""
