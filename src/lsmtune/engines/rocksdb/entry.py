"""The entry of the engine rocksdb: RocksDB under lsmtune's driver, or its program db_bench."""
# ruff: noqa: PLC0415 - commands that start no engine read the entry

from collections.abc import Iterable

from lsmtune.engine_traits import OnlineTuning
from lsmtune.engines.base import Engine
from lsmtune.engines.checks import Check, CheckContext
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.rocksdb.exports import EXPORTS
from lsmtune.engines.rocksdb.settings import check, check_online, complete, for_online
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.memory import flush_bytes
from lsmtune.knobs.option_files import OPTIONS_FILE, OPTIONS_STRING
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DB_BENCH
from lsmtune.study_keys import VERSION
from lsmtune.workloads.records import RECORDS, Overwrite

_NAME = "rocksdb"


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.libraries.installed import loaded_library
    from lsmtune.engines.rocksdb.db_bench import DbBench
    from lsmtune.engines.rocksdb.driver import library_engine
    from lsmtune.engines.rocksdb.engine import RocksDB, Versions

    if spec.versions:
        return Versions({v: library_engine(loaded_library(v, None)) for v in spec.versions})
    if spec.rocksdb is None and spec.library is None:
        return RocksDB(DbBench(spec.program))
    return library_engine(loaded_library(spec.rocksdb, spec.library))


def _checks(context: CheckContext) -> Iterable[Check]:
    from lsmtune.engines.rocksdb.checks import rocksdb_checks

    return rocksdb_checks(context.program)


ROCKSDB = EngineEntry(
    name=_NAME,
    summary="RocksDB, by its library or its program db_bench",
    program=DB_BENCH,
    workloads=tuple(dict.fromkeys((Overwrite, *RECORDS))),
    catalogue=rocksdb_catalogue,
    base_files=(OPTIONS_FILE, OPTIONS_STRING),
    exports=EXPORTS,
    uses=frozenset({"program", VERSION, "library", "base", "family", "cache"}),
    lacks=frozenset(),
    complete=complete,
    check=check,
    online=OnlineTuning(check=check_online, space=for_online),
    has_versions=True,
    predicted_by="simulated",
    counts_reads=True,
    flush_bytes=flush_bytes,
    shipped_workloads=("fillrandom",),
    full_size=False,
    assumes_cache=True,
    checks=_checks,
    make=_make,
)
"""The entry of the engine."""
