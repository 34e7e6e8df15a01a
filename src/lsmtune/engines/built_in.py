"""The entries of the engines that start programs or load libraries. What runs is imported late."""
# ruff: noqa: PLC0415 - an entry is read by commands that start no engine

from functools import partial
from typing import Any

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DRIVER, PROGRAMS
from lsmtune.tables import Cluster
from lsmtune.workloads import PRESETS, EngineName

_TIKV_WORKLOAD = "ycsb_a"


def _entry(name: EngineName, summary: str, **members: Any) -> EngineEntry:
    """Return an entry with the data that lsmtune has about its own engines."""
    of_engine = tuple(load for load, preset in PRESETS.items() if name in preset.engines)
    return EngineEntry(
        name=name,
        summary=summary,
        program=PROGRAMS[name],
        catalogue=partial(load, name),
        **{"workloads": of_engine, **members},
    )


def _rocksdb(spec: StudySettings) -> Engine:
    from lsmtune.engines.libraries.loaded import loaded_library
    from lsmtune.engines.rocksdb import RocksDB
    from lsmtune.engines.rocksdb.db_bench import DbBench
    from lsmtune.engines.rocksdb.driver import library_engine
    from lsmtune.engines.rocksdb.versions import Versions

    if spec.versions:
        return Versions({v: library_engine(loaded_library(v, None)) for v in spec.versions})
    if spec.rocksdb is None and spec.library is None:
        return RocksDB(DbBench(spec.program))
    return library_engine(loaded_library(spec.rocksdb, spec.library))


def _myrocks(spec: StudySettings) -> Engine:
    from lsmtune.engines.myrocks import MyRocks

    return MyRocks(spec.program)


def _embedded(spec: StudySettings) -> Engine:
    """Return the engine of embedded stores, with the default RocksDB if none is named."""
    from lsmtune.engines.embedded import Embedded
    from lsmtune.engines.libraries.installed import (
        default_engine,
        engines_folder,
        installed_engines,
    )
    from lsmtune.engines.libraries.loaded import loaded_library

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


def _tikv(spec: StudySettings) -> Engine:
    from lsmtune.engines.tikv import TiKV

    return TiKV(spec.program, spec.tikv or Cluster())


ROCKSDB = _entry(
    "rocksdb", "RocksDB, by its library or its program db_bench",
    exports=("options", "db_bench"), full_size=False, make=_rocksdb,
)  # fmt: skip
MYROCKS = _entry(
    "myrocks", "RocksDB in a private MariaDB server",
    defaults={"knobs": "mixed"}, exports=("my.cnf",), full_size=False, make=_myrocks,
)  # fmt: skip
EMBEDDED = _entry(
    "embedded", "RocksDB, LevelDB and LMDB under one driver",
    defaults={"knobs": "all", "objective": "total_s", "scale": "1"}, make=_embedded,
)  # fmt: skip
TIKV = _entry(
    "tikv", "a TiKV of yours",
    workloads=(_TIKV_WORKLOAD, *(name for name, preset in PRESETS.items()
                                 if preset.engine == "tikv" and name != _TIKV_WORKLOAD)),
    exports=("tikv-toml",), runs_here=False, make=_tikv,
)  # fmt: skip
