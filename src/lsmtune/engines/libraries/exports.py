"""Facts about a library that its file shows, without loading it."""

import mmap
from pathlib import Path

_IN_ASSERTIONS = b"Status rocksdb::DBImpl::"
"""Text of an assertion: the signature of its function. Names of symbols have another form."""


def has_function(library: Path, name: str) -> bool:
    """Return whether a library has a function of the C API.

    The file contains the names of exported functions, each between two zero bytes.
    """
    return _contains(library, f"\0{name}\0".encode())


def has_assertions(library: Path) -> bool:
    """Return whether a library of RocksDB was built with assertions, which make it slow."""
    return _contains(library, _IN_ASSERTIONS)


def _contains(library: Path, text: bytes) -> bool:
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(text) >= 0
