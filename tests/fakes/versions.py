"""Versions of RocksDB that are played: each has its own defaults, knobs and results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from fakes.entries import replaced
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Engine, EngineFacts, Outcome, OwnBase, Places, Watch
from lsmtune.engines.rocksdb.engine import Versions
from lsmtune.knobs.types import Settings
from lsmtune.spec import StudySettings
from lsmtune.testing.scripted import ScriptedEngine
from lsmtune.trials import Base, Origin, TrialResult, TrialSpec

Script = Callable[[str, TrialSpec], TrialResult]
"""What a version gives for a trial."""

OLD, NEW = "8.10.2", "11.8.1"


@dataclass
class Played:
    """What the versions are: their defaults and missing knobs by version, and their libraries."""

    script: Script
    defaults: Mapping[str, Settings] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    content: dict[str, str] = field(default_factory=dict)
    trials: list[TrialSpec] = field(default_factory=list)

    def engine(self, version: str) -> "OfVersion":
        return OfVersion(version, self)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Make every version an installed one for the commands."""
        patch.setitem(ENGINES, "rocksdb", replaced("rocksdb", self._engine_of))

    def _engine_of(self, spec: StudySettings) -> Engine:
        if spec.versions:
            return Versions({version: self.engine(version) for version in spec.versions})
        assert spec.rocksdb is not None
        return self.engine(spec.rocksdb)

    def hash(self, version: str) -> str:
        return self.content.get(version, f"{version} as installed")


class OfVersion(ScriptedEngine):
    """One of the versions."""

    def __init__(self, version: str, played: Played) -> None:
        super().__init__(lambda spec: played.script(version, spec))
        self._version = version
        self._played = played

    def describe(self, workdir: Path) -> EngineFacts:
        origin = Origin(source="here", sha256=self._played.hash(self._version))
        return replace(super().describe(workdir), version=self._version, origin=origin)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        assert facts.version == self._version
        base = super().base(facts, own, workdir)
        changed = {**base.settings, **self._played.defaults.get(self._version, {})}
        missing = self._played.missing.get(self._version, ())
        settings = {name: value for name, value in changed.items() if name not in missing}
        return base.model_copy(update={"settings": settings})

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        self._played.trials.append(spec)
        outcome = super().run(spec, base, places, watch)
        measurement = outcome.result.measurement
        if measurement is None:
            return outcome
        told = measurement.model_copy(update={"engine_version": self._version})
        return replace(outcome, result=outcome.result.model_copy(update={"measurement": told}))
