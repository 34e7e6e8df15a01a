"""The engines by name."""

from collections.abc import Callable

from lsmtune.engines.base import Engine
from lsmtune.engines.embedded import Embedded
from lsmtune.engines.libraries.installed import default_engine, engines_folder, installed_engines
from lsmtune.engines.libraries.loaded import loaded_library
from lsmtune.engines.myrocks import MyRocks
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.engines.rocksdb.versions import Versions
from lsmtune.engines.simulated import Simulated
from lsmtune.engines.tikv import TiKV
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DRIVER
from lsmtune.tables import Cluster
from lsmtune.workloads import EngineName


def make_engine(name: EngineName, program: str, cluster: Cluster | None = None) -> Engine:
    """Return the engine of that name with its program, as a new study without other keys has it.

    `cluster` has the addresses of the user's TiKV. Without it, TiKV runs on this machine at the
    default ports.
    """
    return engine_of(StudySettings(engine=name, program=program, tikv=cluster))


def engine_of(spec: StudySettings) -> Engine:
    """Return the engine that runs the study.

    UserError if the RocksDB of the study is not installed, or if its library cannot be read.
    """
    return ENGINES[spec.engine](spec)


def _rocksdb(spec: StudySettings) -> Engine:
    if spec.versions:
        return Versions({v: library_engine(loaded_library(v, None)) for v in spec.versions})
    if spec.rocksdb is None and spec.library is None:
        return RocksDB(DbBench(spec.program))
    return library_engine(loaded_library(spec.rocksdb, spec.library))


def _embedded(spec: StudySettings) -> Embedded:
    """Return the engine of embedded stores, with the default RocksDB if none is named."""
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


ENGINES: dict[EngineName, Callable[[StudySettings], Engine]] = {
    "rocksdb": _rocksdb,
    "myrocks": lambda spec: MyRocks(spec.program),
    "embedded": _embedded,
    "tikv": lambda spec: TiKV(spec.program, spec.tikv or Cluster()),
    "simulated": lambda _: Simulated(),
}
"""What makes the engine of a study, by the name of the engine."""
