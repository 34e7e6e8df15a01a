"""SHA-256 of the jars and libraries of the usual versions."""

import hashlib
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

DEFAULT_VERSION = "11.8.1"
"""The version that is installed if the user names none."""


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
