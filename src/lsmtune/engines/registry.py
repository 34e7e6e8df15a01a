"""The engines by name."""

from collections.abc import Callable

from lsmtune.engines.base import Engine
from lsmtune.engines.embedded import Embedded
from lsmtune.engines.libraries.loaded import loaded_library
from lsmtune.engines.myrocks import MyRocks
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.engines.rocksdb.versions import Versions
from lsmtune.engines.simulated import Simulated
from lsmtune.engines.tikv import TiKV
from lsmtune.errors import UserError, unknown_word
from lsmtune.spec import StudySpec
from lsmtune.tables import Cluster

ENGINES: dict[str, Callable[[str, Cluster], Engine]] = {
    "rocksdb": lambda program, _: RocksDB(DbBench(program)),
    "myrocks": lambda program, _: MyRocks(program),
    "embedded": lambda program, _: Embedded(program),
    "tikv": TiKV,
    "simulated": lambda _, __: Simulated(),
}


def make_engine(name: str, program: str, cluster: Cluster | None = None) -> Engine:
    """The engine of that name on its client program; UserError naming those that there are.

    `cluster` is where the user's TiKV is; without it, on this machine at its usual ports.
    """
    if name not in ENGINES:
        raise UserError(f"engine: {unknown_word('engine', name, ENGINES)}")
    return ENGINES[name](program, cluster or Cluster())


def engine_of(spec: StudySpec) -> Engine:
    """Return the engine that runs the study.

    UserError if a RocksDB that the study names is not installed, or its library cannot be read.
    """
    if spec.versions:
        engines = {v: library_engine(loaded_library(v, None)) for v in spec.versions}
        return Versions(engines)
    if spec.rocksdb is None and spec.library is None:
        return make_engine(spec.engine, spec.program, spec.tikv)
    return library_engine(loaded_library(spec.rocksdb, spec.library))
