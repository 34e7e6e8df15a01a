"""RocksDB, driven by lsmtune's own driver: any version, from its library."""

from lsmtune.engines.base import Engine
from lsmtune.engines.libraries.loaded import Loaded


def library_engine(loaded: Loaded) -> Engine:
    """Return the engine that runs that library."""
    raise NotImplementedError(loaded)
