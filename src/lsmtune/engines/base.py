"""The contract between lsmtune and a system under test."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from lsmtune.errors import LsmtuneError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.trials import Status, TrialResult, TrialSpec

Progress = Callable[[str], None]
"""Is told which phase of a trial has begun: "load", "settle", "probe"."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What an engine says of itself; `assertions_enabled` marks a build that is needlessly slow."""

    version: str
    program: str
    assertions_enabled: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a trial and the files to keep with it, by the name they shall have."""

    result: TrialResult
    evidence: dict[str, Path]


class Engine(Protocol):
    """A system under test.

    `run` starts what it needs inside `workdir`, leaves no process behind whatever happens, and
    reports failures of the engine as a result, never as an exception. Exceptions are bugs, or
    a UserError when the engine cannot be used at all.
    """

    name: str

    @property
    def catalogue(self) -> Catalogue:
        """The knobs of the engine."""

    def base_settings(self, scale: Fraction) -> Settings:
        """The engine's defaults, of every knob it knows, for a tree at the scale."""

    def describe(self, workdir: Path) -> EngineFacts:
        """Which engine this is, found out in the work directory; UserError when unusable."""

    def run(self, spec: TrialSpec, workdir: Path, progress: Progress) -> Outcome:
        """Run one trial in the work directory."""


class TrialFailedError(LsmtuneError):
    """A trial gave no measurement; the status says of what kind, the message why."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
