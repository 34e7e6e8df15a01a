"""Several versions of RocksDB as one engine: the knob `rocksdb` chooses the version of a trial."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from lsmtune.engines.base import Engine, EngineFacts, Outcome, OwnBase, Places, Watch
from lsmtune.experiment import with_versions
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.study_keys import VERSION
from lsmtune.trials import Base, TrialSpec


class Versions:
    """The engine contract on engines by version; the first one runs the baseline.

    The settings of a trial are those of its version.
    """

    name = "rocksdb"
    times_matter = True

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = engines
        self._first = next(iter(engines))

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB, and the version as a knob."""
        return with_versions(self._engines[self._first].catalogue, tuple(self._engines))

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the facts of the first version, with those of all versions."""
        found = {
            version: engine.describe(_folder(workdir, version))
            for version, engine in self._engines.items()
        }
        return replace(found[self._first], versions=found)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the baseline of the first version, with those of all versions."""
        found: dict[str, Base] = {}
        for version, engine in self._engines.items():
            base = engine.base(facts.versions[version], own, _folder(workdir, version))
            settings = {**base.settings, VERSION: version}
            found[version] = base.model_copy(update={"settings": settings})
        return found[self._first].model_copy(update={"versions": found})

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Run the trial with the version in its settings, and with the baseline of this version."""
        version = str(spec.settings[VERSION])
        settings = {name: value for name, value in spec.settings.items() if name != VERSION}
        trial = spec.model_copy(update={"settings": settings})
        return self._engines[version].run(trial, base.versions[version], places, watch)


def _folder(workdir: Path, version: str) -> Path:
    folder = workdir / f"rocksdb-{version}"
    folder.mkdir(exist_ok=True)
    return folder
