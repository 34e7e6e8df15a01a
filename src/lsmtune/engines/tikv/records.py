"""The records that loads find: put into TiKV by go-ycsb, and remembered under which options."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lsmtune.engines.tikv.settings import Cluster
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings, Value
from lsmtune.system.workdir import create_workdir
from lsmtune.workloads import Workload

_FACTS = "records.json"
_LEAST = 0.1
"""A store with a smaller share of the records has lost them. TiKV's count is rough, and of several
TiKVs each has a part."""


class _Loaded(BaseModel):
    """The options that shaped the files; None while a load is under way."""

    model_config = ConfigDict(frozen=True)
    shape: dict[str, Value] | None


class Records:
    """The records of a load in a table of their own, which go-ycsb puts before each key.

    What was loaded is remembered in the folder of templates: the table belongs to that folder.
    """

    def __init__(self, folder: Path, cluster: Cluster, load: Workload) -> None:
        identity = [str(folder), cluster.pd, cluster.api, load.num, load.value_size]
        self.table = f"lsmtune{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]}"
        self._place = folder / f"tikv-{self.table}"
        self._num = load.num

    @property
    def are_remembered(self) -> bool:
        """Whether a load of ours was at least begun."""
        return (self._place / _FACTS).exists()

    def are_there(self, shape: Mapping[str, Value] | None, counted: float | None) -> bool:
        """Whether they need not be loaded: they are there, under this shape if one is told.

        `counted` is about how many records the whole store holds, if that is known.
        """
        loaded = self._loaded()
        if loaded is None or self.are_lost(counted):
            return False
        return shape is None or loaded == shape

    def are_lost(self, counted: float | None) -> bool:
        """Whether the whole store holds too few records for these to be among them."""
        return counted is not None and counted < _LEAST * self._num

    def forget(self) -> None:
        """A load begins: until it has ended nothing is known."""
        self._keep(None)

    def remember(self, shape: Mapping[str, Value]) -> None:
        """They are loaded, under these options."""
        self._keep(dict(shape))

    def _keep(self, shape: dict[str, Value] | None) -> None:
        if not self._place.is_dir():
            create_workdir(self._place.parent, self._place.name)
        (self._place / _FACTS).write_text(_Loaded(shape=shape).model_dump_json())

    def _loaded(self) -> dict[str, Value] | None:
        try:
            return _Loaded.model_validate_json((self._place / _FACTS).read_text()).shape
        except (OSError, ValidationError):
            return None


def shape_of(catalogue: Catalogue, settings: Settings) -> dict[str, Value]:
    """Those of the settings that decide what files and tree a load leaves."""
    shaping = {knob.name for knob in catalogue.knobs if knob.shapes}
    return {name: value for name, value in settings.items() if name in shaping}
