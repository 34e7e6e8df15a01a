"""The library in a jar that fits this machine."""

import os
import platform
import shutil
import zipfile
import zlib
from pathlib import Path

from lsmtune.errors import UserError

_PREFIX, _SUFFIX = "librocksdbjni-", ".so"
_PLATFORMS = {"x86_64": "linux64", "aarch64": "linux-aarch64"}
"""The name that rocksdbjni gives to a machine, by the name that the kernel gives to it."""


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

    Raises UserError for a damaged jar, and for a jar without that library.
    """
    try:
        with zipfile.ZipFile(jar) as archive:
            found = {entry for entry in archive.namelist() if entry.startswith(_PREFIX)}
            wanted = f"{_PREFIX}{name}{_SUFFIX}"
            if wanted not in found:
                which = "native library" if not found else f"library {wanted}"
                raise UserError(f"the jar contains no {which}; choose another version")
            with archive.open(wanted) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
                file.flush()
                os.fsync(file.fileno())
    # What zipfile raises for damage depends on the place of the damage.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise UserError("the jar is damaged; run the same command again") from error


def _has_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):  # musl does not know the name
        return False
