"""The libraries of LevelDB and LMDB, which `make stores` installs."""

import ctypes

import pytest

LIBRARIES = {"leveldb": "libleveldb.so.1d", "lmdb": "liblmdb.so.0"}


def is_installed(store: str) -> bool:
    """Whether the library loads: the linker's list can name a file that is hidden or gone."""
    try:
        ctypes.CDLL(LIBRARIES[store])
    except OSError:
        return False
    return True


NEEDS_STORES = pytest.mark.skipif(
    not all(map(is_installed, LIBRARIES)), reason="LevelDB or LMDB is not installed: make stores"
)
