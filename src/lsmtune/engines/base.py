"""The contract between lsmtune and a system under test, and results of trials by it."""

import errno
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from lsmtune.errors import LsmtuneError, ParseError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.definitions import with_formulas
from lsmtune.metrics.measurement import Measurement
from lsmtune.rehearsal import Rehearsal, StorePlan, StoreRehearsal
from lsmtune.system.host import free_bytes
from lsmtune.trials import Base, Origin, Status, TrialResult, TrialSpec
from lsmtune.units import KIB

Hopeless = Callable[[Mapping[str, float]], str | None]
"""Returns the reason to stop a running trial, or None.

The argument has the best value that each metric can still reach.
"""

MOST_CHARACTERS = 300
"""Maximum length of the words of a program in the reason of a failed trial."""
_FULL = "No space left on device"
_NEXT_TO_NOTHING = 64 * KIB


def never_hopeless(bounds: Mapping[str, float]) -> str | None:
    """Return None, so that every trial runs to its end."""
    return None


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks of a running trial.

    `phase` gets the name of each part when it begins: "build", "load", "settle", "probe".
    `hopeless` is called repeatedly and returns why the trial cannot win any more, or None.
    """

    phase: Callable[[str], None]
    hopeless: Hopeless = never_hopeless


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """Version, program, build and defaults of an engine.

    `assertions_enabled` marks a build that is slow because of assertions. `options` is the text of
    its default options. `codecs` are the compression libraries linked into it, None if unknown.
    `origin` is the origin of a library. `unprinted` has the default values of knobs that `options`
    cannot contain. `versions` has the facts of each version if the engine runs several versions.
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
    """The user's configuration: the text of the file, and the column family to tune.

    `notes` are remarks about the file.
    """

    options: str
    family: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """Directories of a trial.

    `workdir` is emptied after the trial. `templates` is a cache that the engine manages itself.
    """

    workdir: Path
    templates: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a trial and the files to keep, by the name under which they are kept."""

    result: TrialResult
    evidence: dict[str, Path]


@dataclass(frozen=True, slots=True)
class Window:
    """Metrics of a running engine in a window of time.

    `traits` describe the load, such as the rows that a transaction reads. They do not depend on
    options.
    """

    metrics: Mapping[str, float]
    traits: Mapping[str, float]


class Live(Protocol):
    """An engine under a load without an end. Its options can be changed during the load."""

    def window(self, seconds: float) -> Window:
        """Measure for `seconds`; TrialFailedError if the engine or the load ends."""

    def change(self, settings: Settings) -> None:
        """Set the options and read them back; TrialFailedError if other options run."""


class Engine(Protocol):
    """A system under test.

    `run` starts all processes itself and ends them in every case. It reports failures of the engine
    as a result, never as an exception. An exception is a bug, or a UserError if the engine cannot
    be used at all.
    """

    name: str
    times_matter: bool
    """Whether runs measure times, so that only one may go on at a time on the host."""

    @property
    def catalogue(self) -> Catalogue:
        """The knobs of the engine, of all versions."""

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the facts of the engine; UserError if the engine cannot be used."""

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the engine's defaults, or the user's configuration as the engine runs it.

        UserError if the engine cannot run the user's configuration.
        """

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Run one trial."""


@runtime_checkable
class LiveEngine(Engine, Protocol):
    """An engine that can be tuned while it runs."""

    def serve(
        self, spec: TrialSpec, base: Base, places: Places, watch: Watch
    ) -> AbstractContextManager[Live]:
        """Run the engine under the load of the spec until the context is closed."""


@runtime_checkable
class Borrowed(Protocol):
    """An engine that uses a system of the user and restores its settings afterwards."""

    def give_back(self) -> None:
        """Restore the settings from before the study; LsmtuneError if that fails."""


@runtime_checkable
class UsesLibrary(Protocol):
    """An engine that loads a library of RocksDB."""

    @property
    def library(self) -> Origin:
        """Source and content of the library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The files of a deployment, for a rehearsal.

    exported  the bytes that `lsmtune export` writes
    undo      the file with the values of the baseline
    changed   the options that differ, by the names of the knobs
    only      returns the exported file in which only these options change
    family    the column family that was tuned
    new_store whether the exported file is for a new store
    """

    exported: str
    undo: str
    changed: tuple[str, ...]
    only: Callable[[Collection[str]], str]
    family: str
    new_store: bool = False


@runtime_checkable
class Rehearses(Protocol):
    """An engine that can open a store of the baseline with exported files."""

    def rehearse(
        self, spec: TrialSpec, base: Base, files: Deployed, places: Places, watch: Watch
    ) -> Rehearsal:
        """Run the baseline's spec, then open copies of its store with both files.

        A file that the store refuses is a result. TrialFailedError if the baseline itself fails.
        UserError if lsmtune cannot do it with this program.
        """


@runtime_checkable
class RehearsesStores(Protocol):
    """An engine that can open a copy of a user's store with exported files."""

    def rehearse_store(
        self, files: Deployed, folder: Path, tell: Callable[[StorePlan], None]
    ) -> StoreRehearsal:
        """Copy the closed store of the folder, open the copy with both files.

        `tell` gets the plan before anything is copied. A file that the store refuses is a result.
        UserError if the store is in use, or if lsmtune cannot do it with this store.
        """


class TrialFailedError(LsmtuneError):
    """A trial that has no measurement. `status` is the kind of the failure, the message its reason.

    `bounds` has the best values that a pruned trial could still reach, by metric.
    """

    def __init__(
        self, status: Status, reason: str, bounds: Mapping[str, float] | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.bounds = dict(bounds or {})


def attempted(measure: Callable[[], Measurement]) -> TrialResult:
    """Return the result of a trial that `measure` runs. It raises only bugs and other OSErrors."""
    try:
        measured = measure()
        metrics = with_formulas(measured.metrics)
        measured = measured.model_copy(update={"metrics": metrics})
        return TrialResult(status=Status.COMPLETE, measurement=measured)
    except TrialFailedError as failure:
        return TrialResult(status=failure.status, reason=str(failure), bounds=failure.bounds)
    except ParseError as error:
        return TrialResult(status=Status.UNREADABLE, reason=str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        full = disk_full(str(error))
        return TrialResult(status=full.status, reason=str(full))


def is_disk_full(said: str, folder: Path) -> bool:
    """Return whether a program ended because the disk of the folder is full.

    `said` is its output. An assertion may stop a program before it prints the error, so this checks
    the free space too.
    """
    return _FULL in said or free_bytes(folder) < _NEXT_TO_NOTHING


def last_words(*choices: Sequence[str]) -> str:
    """Return the last line of the last list that has lines, for the reason of a failed trial."""
    found = [lines[-1] for lines in choices if lines]
    return (found or ["the program printed no error message"])[-1][:MOST_CHARACTERS]


def disk_full(reason: str) -> TrialFailedError:
    """Return the failure of a trial whose disk is full."""
    return TrialFailedError(Status.OUT_OF_SPACE, f"the disk is full: {reason}")
