"""Functions that a library exports."""

import mmap
from pathlib import Path


def has_function(library: Path, name: str) -> bool:
    """Return whether a library has a function of the C API, without loading the library.

    The names of exported functions stand in the file, each between two zero bytes.
    """
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(f"\0{name}\0".encode()) >= 0
