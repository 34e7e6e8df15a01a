"""Removal of a single file that lsmtune wrote."""

from pathlib import Path


def remove_file(path: Path) -> None:
    """Remove the file, if it exists."""
    path.unlink(missing_ok=True)
