"""Removal of a file or a folder that lsmtune wrote."""

import shutil
from pathlib import Path

from lsmtune.system.links import refuse_link


def remove_file(path: Path) -> None:
    """Remove the file, if it exists."""
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove the folder with all its files, if it exists; UserError if it is a link."""
    refuse_link(path)
    if path.exists():
        shutil.rmtree(path)
