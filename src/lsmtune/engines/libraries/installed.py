"""The libraries of RocksDB: those in the cache folder of the user, and the one of a study."""

import hashlib
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from lsmtune.errors import Argument, Message, UserError
from lsmtune.trials import Origin
from lsmtune.units import is_version

LIBRARY = "librocksdb.so"
RECORD = "engine.json"
_HASH_DIGITS = 12
_NUMBERS = 3

DEFAULT_VERSION = "11.8.1"
"""The version that is installed if the user names none."""

OWN = "library of the user"
"""Source of a library that lsmtune did not install."""
NAME_LIBRARY = Message(
    "name a librocksdb.so, or use ", Argument("rocksdb"),
    " (`lsmtune engines` lists the installed versions)",
)  # fmt: skip
"""Advice after a library that cannot be used."""


class Record(BaseModel):
    """The origin of a library.

    `source` is the coordinates of its jar. `sha256` is the hash of the library, `jar_sha256` the
    hash of the jar. `pinned` is true if both hashes were compared with a pin.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    name: Literal["rocksdb"] = "rocksdb"
    version: str
    source: str
    jar_sha256: str
    sha256: str
    pinned: bool

    @property
    def folder_name(self) -> str:
        """The name of the folder that contains the library and its record."""
        return f"{self.name}-{self.version}-{self.sha256[:_HASH_DIGITS]}"

    @property
    def text(self) -> str:
        """Version, source and the first digits of the SHA-256, in one line."""
        origin = Origin(source=self.source, sha256=self.sha256)
        return f"{self.version}, {origin.text}"


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed library."""

    record: Record
    folder: Path

    @property
    def library(self) -> Path:
        """The file of the library."""
        return self.folder / LIBRARY

    def check(self) -> None:
        """Raise UserError if the file of the library changed after the installation."""
        try:
            intact = sha256_of(self.library) == self.record.sha256
        except OSError as error:
            raise UserError(f"{self.library}: cannot read: {error.strerror}") from error
        if not intact:
            raise UserError(
                f"{self.library}: the file changed after its installation; remove the folder "
                f"{self.folder}, then install the version again"
            )

    def document(self, *, default: bool) -> dict[str, Any]:
        """Return the library as JSON; `default` marks the library of a study that names none."""
        return {**self.record.model_dump(), "path": str(self.library), "default": default}


def engines_folder() -> Path:
    """Return $XDG_CACHE_HOME/lsmtune/engines, or ~/.cache/lsmtune/engines."""
    value = os.environ.get("XDG_CACHE_HOME")
    cache = Path(value).absolute() if value else Path.home() / ".cache"
    return cache / "lsmtune" / "engines"


def installed_engines(folder: Path) -> list[Installed]:
    """Return the libraries in the folder, oldest version first.

    Raises UserError if a record cannot be read.
    """
    found = [Installed(_read(path), path) for path in folder.glob("rocksdb-*")]
    return sorted(found, key=lambda one: (_numbers(one.record.version), one.record.pinned))


def default_engine(engines: Sequence[Installed]) -> Installed | None:
    """Return the library of a study that names none: the default version, else the newest."""
    usual = [one for one in engines if one.record.version == DEFAULT_VERSION]
    return next(reversed(usual or engines), None)


def engine_of_version(engines: Sequence[Installed], version: str) -> Installed | None:
    """Return the library of a version, preferably one with a pin."""
    return next((one for one in reversed(engines) if one.record.version == version), None)


def library_hashes() -> dict[str, str]:
    """Return the SHA-256 of the library of each installed version, by version.

    They are those of the records; the files are not read. Empty if a record cannot be read, which
    a trial reports.
    """
    try:
        engines = installed_engines(engines_folder())
    except UserError:
        return {}
    found = {one.record.version: engine_of_version(engines, one.record.version) for one in engines}
    return {version: one.record.sha256 for version, one in found.items() if one is not None}


def release_of(version: str) -> str:
    """Return the version of RocksDB without the number of its package.

    A version of RocksDB has three numbers. A fourth number counts the packages of this version.
    """
    return ".".join(version.split(".")[:_NUMBERS])


def check_version(text: str) -> None:
    """Raise UserError if the text does not have the form of a version."""
    if not is_version(text):
        raise UserError(f"version {text!r}: write three numbers, such as {DEFAULT_VERSION}")


def _read(folder: Path) -> Record:
    path = folder / RECORD
    try:
        record = Record.model_validate_json(path.read_bytes())
        check_version(record.version)
    except OSError as error:
        why = error.strerror
    except (ValidationError, UserError):
        why = "the file is damaged"
    else:
        return record
    raise UserError(f"{path}: cannot read: {why}; remove the folder {folder}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


class Pin(NamedTuple):
    """SHA-256 of a jar and of its libraries. Libraries are by the name of the platform."""

    jar: str
    libraries: dict[str, str]


def load_pins() -> dict[str, Pin]:
    """Return the pins by version."""
    text = files(__package__).joinpath("pins.toml").read_text(encoding="utf-8")
    return {version: Pin(table.pop("jar"), table) for version, table in tomllib.loads(text).items()}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits; OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A library to load. `version` is None if it is known only after the library has run."""

    path: Path
    version: str | None
    source: str
    sha256: str

    @property
    def origin(self) -> Origin:
        """Source and content of the library."""
        return Origin(source=self.source, sha256=self.sha256)


def loaded_library(rocksdb: str | None, library: str | None) -> Loaded:
    """Return the user's `library`, or the installed library of the version `rocksdb`.

    UserError if the file cannot be read, if the version is not installed, or if its library
    changed after the installation.
    """
    if library is not None:
        return _own(library)
    if rocksdb is None:
        raise ValueError("no RocksDB is named")
    engines = installed_engines(engines_folder())
    engine = engine_of_version(engines, rocksdb)
    if engine is None:
        others = ", ".join(dict.fromkeys(one.record.version for one in engines))
        raise UserError(
            f"RocksDB {rocksdb} is not installed (installed: {others or 'none'}); "
            f"{how_to_install(rocksdb)}"
        )
    engine.check()
    record = engine.record
    return Loaded(engine.library, record.version, record.source, record.sha256)


def how_to_install(version: str) -> str:
    """Return a sentence with the command that installs a version."""
    command = f"lsmtune engines install rocksdb@{version}"
    if version in load_pins():
        return f"`{command}` installs it"
    return (
        f"`{command} --trust` installs it (--trust: without a check, because lsmtune has no "
        "SHA-256 of this version)"
    )


def _own(library: str) -> Loaded:
    path = Path(library).absolute()
    if path.exists() and not path.is_file():
        raise UserError(f"library: {library}: not a file; ", NAME_LIBRARY)
    try:
        return Loaded(path, None, OWN, sha256_of(path))
    except OSError as error:
        raise UserError(
            f"library: {library}: cannot read: {error.strerror}; ", NAME_LIBRARY
        ) from error
