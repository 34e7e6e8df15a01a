"""The installation of a library. It either succeeds or changes nothing."""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from lsmtune.engines.libraries.installed import (
    LIBRARY,
    RECORD,
    Installed,
    Pin,
    Record,
    check_version,
    installed_engines,
    sha256_of,
)
from lsmtune.engines.libraries.natives import platform_name, unpack_library
from lsmtune.engines.libraries.proof import prove
from lsmtune.errors import Argument, UserError
from lsmtune.system.workdir import sweep_workdirs, workdir
from lsmtune.system.write import write_whole

_COORDINATES = "org.rocksdb:rocksdbjni"
_DRAFT = "install-"

Fetch = Callable[[str, Path], Path]
"""Downloads the jar of a version into a folder and returns its path."""


class Sources(NamedTuple):
    """The download of jars, and the pins by version."""

    fetch: Fetch
    pins: Mapping[str, Pin]


class Installation(NamedTuple):
    """An installed library; `is_new` is False if an earlier command installed it."""

    engine: Installed
    is_new: bool


def install(
    version: str, folder: Path, sources: Sources, show: Callable[[str], None], *, trust: bool
) -> Installation:
    """Install the library of a version of RocksDB into the folder, unless it is installed.

    `trust` allows a version without a pin. `show` gets the name of each step. Raises UserError if
    the installation fails; then no file of it remains.
    """
    check_version(version)
    try:
        return _installation(version, folder, sources, show, trust)
    except OSError as error:
        place = error.filename or folder
        raise UserError(f"rocksdb@{version}: cannot write {place}: {error.strerror}") from error
    except UserError as error:
        raise UserError(f"rocksdb@{version}: ", error.message) from error


def _installation(
    version: str, folder: Path, sources: Sources, show: Callable[[str], None], trust: bool
) -> Installation:
    pin = sources.pins.get(version)
    if pin is None and not trust:
        raise UserError(
            "lsmtune has no SHA-256 to check this version; add ",
            Argument("trust", True),
            f" to install it unchecked, or choose one of {', '.join(sources.pins)}",
        )
    platform = platform_name()
    pinned = None if pin is None else pin.libraries[platform]
    sweep_workdirs(folder, f"{_DRAFT}*")
    if (found := _find(version, folder, pinned)) is not None:
        return Installation(found, is_new=False)
    with workdir(folder, f"{_DRAFT}{secrets.token_hex(4)}") as work:
        show(f"downloading {_COORDINATES}:{version}")
        jar = sources.fetch(version, work / "maven")
        jar_sha256 = sha256_of(jar)
        _compare("jar", jar_sha256, None if pin is None else pin.jar)
        new = work / "new"
        new.mkdir()
        unpack_library(jar, platform, new / LIBRARY)
        sha256 = sha256_of(new / LIBRARY)
        _compare("library", sha256, pinned)
        show(f"checking the library of RocksDB {version}")
        prove(new / LIBRARY, version, work)
        record = Record(
            version=version, source=f"{_COORDINATES}:{version}", jar_sha256=jar_sha256,
            sha256=sha256, pinned=pin is not None,
        )  # fmt: skip
        write_whole(new / RECORD, record.model_dump_json(indent=2) + "\n")
        return _published(new, folder / record.folder_name, record)


def _published(new: Path, target: Path, record: Record) -> Installation:
    """Give the complete folder its final name, unless another process has installed the library."""
    try:
        new.rename(target)
    except OSError:
        if (found := _find(record.version, target.parent, record.sha256)) is None:
            raise
        return Installation(found, is_new=False)
    return Installation(Installed(record, target), is_new=True)


def _find(version: str, folder: Path, sha256: str | None) -> Installed | None:
    """Return the installed library of a version, or None. With `sha256`, it must have this hash."""
    for engine in reversed(installed_engines(folder)):
        if engine.record.version == version and sha256 in (None, engine.record.sha256):
            engine.check()
            return engine
    return None


def _compare(what: str, found: str, pinned: str | None) -> None:
    if pinned not in (None, found):
        raise UserError(
            f"the SHA-256 of the {what} is {found}, not {pinned}; the download is damaged, or the "
            "file on the server changed"
        )
