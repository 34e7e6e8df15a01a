"""The engines by name."""

from collections.abc import Callable, Mapping

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
from lsmtune.errors import UserError, unknown_word
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DRIVER
from lsmtune.tables import Cluster

ENGINES: dict[str, Callable[[str, Cluster], Engine]] = {
    "rocksdb": lambda program, _: RocksDB(DbBench(program)),
    "myrocks": lambda program, _: MyRocks(program),
    "embedded": lambda program, _: _embedded(program, None, None, {}),
    "tikv": TiKV,
    "simulated": lambda _, __: Simulated(),
}


def make_engine(name: str, program: str, cluster: Cluster | None = None) -> Engine:
    """Return the engine of that name with its program; UserError for an unknown name.

    `cluster` has the addresses of the user's TiKV. Without it, TiKV runs on this machine at the
    default ports.
    """
    if name not in ENGINES:
        raise UserError(f"engine: {unknown_word('engine', name, ENGINES)}")
    return ENGINES[name](program, cluster or Cluster())


def engine_of(spec: StudySettings) -> Engine:
    """Return the engine that runs the study.

    UserError if the RocksDB of the study is not installed, or if its library cannot be read.
    """
    if spec.versions:
        engines = {v: library_engine(loaded_library(v, None)) for v in spec.versions}
        return Versions(engines)
    if spec.engine == "embedded":
        own: dict[str, str] = dict((spec.libraries or {}).items())
        return _embedded(spec.program, spec.rocksdb, spec.library, own)
    if spec.rocksdb is None and spec.library is None:
        return make_engine(spec.engine, spec.program, spec.tikv)
    return library_engine(loaded_library(spec.rocksdb, spec.library))


def _embedded(
    program: str, rocksdb: str | None, library: str | None, libraries: Mapping[str, str]
) -> Embedded:
    """Return the engine of embedded stores, with the default RocksDB if none is named."""
    if program != DRIVER:
        raise UserError(
            f"program: {program}: the engine embedded runs only {DRIVER}; remove program, and give "
            "a study that another program has measured a new name"
        )
    if rocksdb is None and library is None:
        usual = default_engine(installed_engines(engines_folder()))
        if usual is None:
            raise UserError(
                "engine embedded: no RocksDB is installed; `lsmtune engines install rocksdb` "
                "installs one"
            )
        rocksdb = usual.record.version
    return Embedded(loaded_library(rocksdb, library), libraries)
