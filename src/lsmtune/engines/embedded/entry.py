"""The entry of the engine embedded: RocksDB, LevelDB and LMDB under lsmtune's driver."""
# ruff: noqa: PLC0415 - commands that start no engine read the entry

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from lsmtune.engines.base import Engine
from lsmtune.engines.checks import Check, CheckContext, optional_check
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.record_sizes import refused_size
from lsmtune.engines.rocksdb.settings import check_library
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, read_catalogue
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DRIVER
from lsmtune.study_keys import VERSION
from lsmtune.workloads.records import Fillrandom, Fillseq

_NAME = "embedded"


@cache
def _catalogue() -> Catalogue:
    return read_catalogue(_NAME, files(__package__).joinpath("catalogue"))


def _make(spec: StudySettings) -> Engine:
    """Return the engine, with the default RocksDB if the study names none."""
    from lsmtune.engines.embedded.engine import Embedded
    from lsmtune.engines.libraries.installed import (
        default_engine,
        engines_folder,
        installed_engines,
        loaded_library,
    )

    if spec.program != DRIVER:
        raise UserError(
            f"program: {spec.program}: the engine embedded runs only {DRIVER}; remove program, "
            "and give a study that another program has measured a new name"
        )
    rocksdb = spec.rocksdb
    if rocksdb is None and spec.library is None:
        usual = default_engine(installed_engines(engines_folder()))
        if usual is None:
            raise UserError(
                "engine embedded: no RocksDB is installed; `lsmtune engines install rocksdb` "
                "installs one"
            )
        rocksdb = usual.record.version
    own: dict[str, str] = dict((spec.libraries or {}).items())
    return Embedded(loaded_library(rocksdb, spec.library), own)


def _starts(settings: Mapping[str, Any]) -> Iterator[str]:
    """Give the user's own libraries of other stores."""
    libraries = settings.get("libraries")
    yield from libraries.values() if isinstance(libraries, Mapping) else ()


def _checks(context: CheckContext) -> Iterable[Check]:
    yield optional_check(
        "stores", lambda: _make(StudySettings(engine=_NAME)), "compare embedded stores", "stores"
    )


EMBEDDED = EngineEntry(
    name=_NAME,
    summary="RocksDB, LevelDB and LMDB under one driver",
    program=DRIVER,
    workloads=(Fillrandom, Fillseq),
    catalogue=_catalogue,
    defaults={"knobs": "all", "objective": "total_s"},
    lacks=frozenset({"tombstone_every"}),
    refuses=partial(refused_size, _NAME),
    uses=frozenset({"program", VERSION, "library", "libraries", "cache"}),
    check=check_library,
    starts=_starts,
    checks=_checks,
    make=_make,
)
"""The entry of the engine."""
