"""The engine rocksdb: RocksDB under lsmtune's driver, or its program db_bench."""
# ruff: noqa: PLC0415 - commands that start no engine read the entry

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DB_BENCH
from lsmtune.workloads.records import RECORDS

_NAME = "rocksdb"


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.libraries.loaded import loaded_library
    from lsmtune.engines.rocksdb.db_bench import DbBench
    from lsmtune.engines.rocksdb.driver import library_engine
    from lsmtune.engines.rocksdb.engine import RocksDB
    from lsmtune.engines.rocksdb.versions import Versions

    if spec.versions:
        return Versions({v: library_engine(loaded_library(v, None)) for v in spec.versions})
    if spec.rocksdb is None and spec.library is None:
        return RocksDB(DbBench(spec.program))
    return library_engine(loaded_library(spec.rocksdb, spec.library))


ROCKSDB = EngineEntry(
    name=_NAME,
    summary="RocksDB, by its library or its program db_bench",
    program=DB_BENCH,
    workloads=RECORDS,
    catalogue=rocksdb_catalogue,
    exports=("options", "db_bench"),
    lacks=frozenset(),
    counts_reads=True,
    needs_flushes=True,
    full_size=False,
    assumes_cache=True,
    make=_make,
)
"""The entry of the engine."""
