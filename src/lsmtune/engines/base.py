"""The contract between lsmtune and a system under test."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from lsmtune.errors import LsmtuneError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.trials import Base, Origin, Status, TrialResult, TrialSpec

Hopeless = Callable[[Mapping[str, float]], str | None]
"""Is told the best that a running trial can still reach, by metric; why to end it, or None."""


def never_hopeless(bounds: Mapping[str, float]) -> str | None:
    """Lets every trial run to its end."""
    return None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on while a trial runs.

    `phase` is told which part has begun: "build", "load", "settle", "probe". `hopeless` is asked
    now and then whether the trial may still win.
    """

    phase: Callable[[str], None]
    hopeless: Hopeless = never_hopeless


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What an engine says of itself.

    `assertions_enabled` marks a build that is needlessly slow. `options` is the text of its own
    defaults, `codecs` are the compression libraries linked into it (None: it does not tell).
    `origin` is that of a library. `unprinted` are the default values of knobs that `options` cannot
    contain. `versions` are the facts of all versions of an engine that runs several.
    """

    version: str
    program: str
    assertions_enabled: bool
    options: str
    codecs: tuple[str, ...] | None
    origin: Origin | None = None
    unprinted: Settings = field(default_factory=dict)
    versions: Mapping[str, "EngineFacts"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnBase:
    """The user's own configuration: the text of the file, and whose column family."""

    options: str
    family: str


@dataclass(frozen=True, slots=True)
class Places:
    """Where a trial runs, and where an engine may keep what it would else make anew each time.

    `workdir` is emptied behind the trial. What is in `templates` is the engine's own to delete.
    """

    workdir: Path
    templates: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a trial and the files to keep with it, by the name they shall have."""

    result: TrialResult
    evidence: dict[str, Path]


@dataclass(frozen=True, slots=True)
class Window:
    """What a running engine did in a window of time.

    `traits` describe the load alone: what a transaction reads and writes. Options do not move
    them.
    """

    metrics: Mapping[str, float]
    traits: Mapping[str, float]


class Live(Protocol):
    """An engine that runs under a load without end, and whose options are changed meanwhile."""

    def window(self, seconds: float) -> Window:
        """Wait so long; what it did. TrialFailedError when engine or load end meanwhile."""

    def change(self, settings: Settings) -> None:
        """Set the options and read them back; TrialFailedError where it runs others."""


class Engine(Protocol):
    """A system under test.

    `run` starts what it needs inside the places, leaves no process behind whatever happens, and
    reports failures of the engine as a result, never as an exception. Exceptions are bugs, or
    a UserError when the engine cannot be used at all.
    """

    name: str

    @property
    def catalogue(self) -> Catalogue:
        """The knobs of the engine, of all versions."""

    def describe(self, workdir: Path) -> EngineFacts:
        """Which engine this is, found out in the work directory; UserError when unusable."""

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """The engine's defaults, or the user's own configuration as this engine runs it.

        UserError when the engine cannot run the user's.
        """

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Run one trial."""


@runtime_checkable
class LiveEngine(Engine, Protocol):
    """An engine that can be tuned while it runs."""

    def serve(
        self, spec: TrialSpec, base: Base, places: Places, watch: Watch
    ) -> AbstractContextManager[Live]:
        """Run it under the load of the spec while the context is open, leave nothing behind."""


@runtime_checkable
class Borrowed(Protocol):
    """An engine that runs on a system of the user's, and leaves it as it was found."""

    def give_back(self) -> None:
        """Undo what trials have changed; LsmtuneError when it does not come to that."""


class TrialFailedError(LsmtuneError):
    """A trial gave no measurement; the status says of what kind, the message why.

    `bounds` is what a trial that was cut could at best have reached.
    """

    def __init__(
        self, status: Status, reason: str, bounds: Mapping[str, float] | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.bounds = dict(bounds or {})
