"""The library for this machine in a jar, and facts that the file of a library shows."""

import lzma
import mmap
import os
import platform
import struct
import zipfile
import zlib
from pathlib import Path

from lsmtune.errors import UserError

_PREFIX, _SUFFIX = "librocksdbjni-", ".so"
_PLATFORMS = {"x86_64": "linux64", "aarch64": "linux-aarch64"}
"""Names of platforms in rocksdbjni, by the kernel's name of the machine."""
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError,
    RuntimeError,
)  # fmt: skip
"""Errors of zipfile for a damaged file. The error depends on the place of the damage."""
_IN_ASSERTIONS = b"Status rocksdb::DBImpl::"
"""Text of an assertion: the signature of its function. Names of symbols have another form."""


def platform_name() -> str:
    """Return the platform of this machine as rocksdbjni calls it, such as "linux-aarch64-musl".

    Raises UserError for a machine that is not supported.
    """
    machine = platform.machine()
    if machine not in _PLATFORMS:
        allowed = " or ".join(_PLATFORMS)
        raise UserError(f"machine {machine!r}: lsmtune installs RocksDB only on {allowed}")
    return _PLATFORMS[machine] + ("" if _has_glibc() else "-musl")


def unpack_library(jar: Path, name: str, target: Path) -> None:
    """Write the library of the platform `name` to the file `target`.

    Raises UserError if the jar is damaged or does not contain the library, OSError if the file
    cannot be written.
    """
    library = _library(jar, f"{_PREFIX}{name}{_SUFFIX}")
    with target.open("wb") as file:
        file.write(library)
        file.flush()
        os.fsync(file.fileno())


def _library(jar: Path, wanted: str) -> bytes:
    try:
        with zipfile.ZipFile(jar) as archive:
            found = {entry for entry in archive.namelist() if entry.startswith(_PREFIX)}
            if wanted in found:
                return archive.read(wanted)
    except _DAMAGED as error:
        raise UserError("the jar is damaged; run the same command again") from error
    which = f"library {wanted}" if found else "native library"
    raise UserError(f"the jar contains no {which}; choose another version")


def _has_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):  # musl has no such name
        return False


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
