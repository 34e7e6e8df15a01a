"""The installed versions of RocksDB, and the installation of another one."""

from lsmtune.engines.libraries import install as installation
from lsmtune.engines.libraries import maven
from lsmtune.engines.libraries.install import Installation
from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    Installed,
    default_engine,
    engines_folder,
    installed_engines,
    load_pins,
)
from lsmtune.engines.libraries.proof import RECORDS
from lsmtune.progress import Observer

__all__ = ["RECORDS", "Installation", "Installed"]


def engines() -> tuple[list[Installed], Installed | None]:
    """Return the installed versions, oldest first, and the default one."""
    found = installed_engines(engines_folder())
    return found, default_engine(found)


def install(
    version: str | None = None, observer: Observer | None = None, *, trust: bool = False
) -> Installation:
    """Download and check RocksDB in that version, and try it; the default version without one.

    `trust` accepts a version without a known SHA-256. UserError if the version does not exist.
    """
    sources = installation.Sources(maven.fetch_jar, load_pins())
    with (observer or Observer()).working("installing RocksDB") as show:
        return installation.install(
            DEFAULT_VERSION if version is None else version,
            engines_folder(),
            sources,
            show,
            trust=trust,
        )
