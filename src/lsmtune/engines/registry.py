"""The engines by name."""

from collections.abc import Callable

from lsmtune.engines.base import Engine
from lsmtune.engines.embedded import Embedded
from lsmtune.engines.myrocks import MyRocks
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.errors import UserError

ENGINES: dict[str, Callable[[str], Engine]] = {
    "rocksdb": RocksDB,
    "myrocks": MyRocks,
    "embedded": Embedded,
}


def make_engine(name: str, program: str) -> Engine:
    """The engine of that name on its client program; UserError naming those that there are."""
    if name not in ENGINES:
        raise UserError(f"engine: no {name!r}; known are {', '.join(ENGINES)}")
    return ENGINES[name](program)
