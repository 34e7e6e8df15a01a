"""The library of RocksDB that a study runs."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.libraries.installed import engine_of_version, engines_folder, installed_engines
from lsmtune.engines.libraries.pins import load_pins, sha256_of
from lsmtune.errors import Argument, Message, UserError
from lsmtune.trials import Origin

OWN = "library of the user"
"""Source of a library that lsmtune did not install."""
NAME_LIBRARY = Message(
    "name a librocksdb.so, or use ", Argument("rocksdb"),
    " (`lsmtune engines` lists the installed versions)",
)  # fmt: skip
"""Advice after a library that cannot be used."""


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
