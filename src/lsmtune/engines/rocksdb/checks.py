"""Checks of RocksDB: a library for the driver, or db_bench."""

from lsmtune.engines.checks import ABSENT, Check
from lsmtune.engines.libraries.installed import (
    default_engine,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.libraries.proof import prove
from lsmtune.engines.rocksdb.db_bench import INSTALL_DB_BENCH, DbBench
from lsmtune.engines.rocksdb.driver.client import BUILD_DRIVER, NO_DRIVER, has_driver
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.spec_defaults import DB_BENCH
from lsmtune.system.workdir import scratch

INSTALL = "`lsmtune engines install rocksdb` installs RocksDB"
_ONLY_DB_BENCH = "the workloads mixgraph and trace, and for `lsmtune reproduce`"
_CODECS = Check(
    "codecs",
    True,
    "Snappy and zlib are slow in installed libraries of RocksDB, LZ4 and ZSTD are fast: to compare "
    "codecs by time, use --library with a library that you built",
)
"""A remark about all installed libraries: rocksdbjni compiles these codecs without optimization."""


def rocksdb_checks(program: str | None) -> list[Check]:
    """Check the two ways to run RocksDB; one of them is enough, but a named db_bench must work.

    A library that works also has a remark about its codecs.
    """
    library, db_bench = _library(), _db_bench(program or DB_BENCH)
    works = has_driver() and library is not None and library.ok
    if not has_driver():
        library = Check("RocksDB", db_bench.ok, f"{ABSENT}: {NO_DRIVER}", BUILD_DRIVER)
    elif library is None:
        detail = f"{ABSENT}: no version is installed"
        library = Check("RocksDB", db_bench.ok, detail, INSTALL)
    elif library.ok and not db_bench.ok and program is None:
        fix = f"lsmtune needs db_bench only for {_ONLY_DB_BENCH}: {db_bench.fix}"
        db_bench = Check("db_bench", True, f"{ABSENT}: {db_bench.detail}", fix)
    return [library, *([_CODECS] if works else []), db_bench]


def _library() -> Check | None:
    """Use the library that is the default in a store of its own; None if none is installed."""
    try:
        engine = default_engine(installed_engines(engines_folder()))
        if engine is None:
            return None
        engine.check()
        with scratch() as folder:
            prove(engine.library, engine.record.version, folder)
    except UserError as error:
        return Check("RocksDB", False, error.message.with_flags(), INSTALL)
    return Check("RocksDB", True, f"{engine.record.text}, {engine.library}")


def _db_bench(program: str) -> Check:
    try:
        with scratch() as folder:
            facts = RocksDB(DbBench(program)).describe(folder)
    except LsmtuneError as error:
        detail = error.message.with_flags().removesuffix(f"; {INSTALL_DB_BENCH}")
        return Check("db_bench", False, detail, INSTALL_DB_BENCH)
    slow = (
        "this build of db_bench has assertions, which make db_bench slow: compare ratios, not "
        "absolute times"
        if facts.assertions_enabled
        else None
    )
    return Check("db_bench", True, f"RocksDB {facts.version}", slow)
