"""Built databases that trials restore by hard links, because building one takes minutes.

There are several per shape of the tree, so that a gain does not depend on one tree.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from lsmtune.system.host import free_bytes
from lsmtune.system.workdir import create_workdir, remove_workdir, sweep_drafts

MOST_TEMPLATES = 8
"""Maximum number of databases that are kept.

A verification of a read load uses six: three trees each of winner and base.
"""
MOST_RUNNING = 2
"""Maximum number of databases that are kept when trials run on a store in use: its two trees."""
_FACTS = "template.json"
_DATABASE = "db"
_LINKED = (".sst", ".blob")
"""Files that RocksDB never changes once they are written."""
_LEFT = ("LOG", "OPTIONS-", "LOCK")


class Template(BaseModel):
    """Costs of building a database, as metrics by name.

    `tables` are the bytes of index and filter of each table outside the block cache, by the number
    of its file. It is empty if the builder does not know them.
    """

    model_config = ConfigDict(frozen=True)
    metrics: dict[str, float]
    tables: dict[int, int] = {}


Build = Callable[[Path], Template]
"""Builds a settled database in the folder and returns its costs."""


def restore(
    folder: Path,
    key: str,
    needed_bytes: int,
    build: Build,
    into: Path,
    *,
    most: int = MOST_TEMPLATES,
) -> Template:
    """Put a copy of the database `key` at `into`. Build the database first if it does not exist.

    A template whose building was interrupted is built again. The templates used longest ago are
    deleted, so that at most `most` remain and `needed_bytes` are free.
    """
    place = folder / key
    facts = place / _FACTS
    if not facts.is_file():
        sweep_drafts(folder)
        remove_workdir(place)
        _make_room(folder, needed_bytes, most)
        create_workdir(folder, key)
        facts.write_text(build(place / _DATABASE).model_dump_json())
    os.utime(facts)
    link_database(place / _DATABASE, into)
    return Template.model_validate_json(facts.read_text())


def _make_room(folder: Path, needed_bytes: int, most: int) -> None:
    """Delete the templates used longest ago until there is room for one more."""
    kept = sorted(folder.glob(f"*/{_FACTS}"), key=lambda facts: facts.stat().st_mtime)
    while kept and (len(kept) >= most or free_bytes(folder) < needed_bytes):
        remove_workdir(kept.pop(0).parent)


def copy_database(source: Path, into: Path) -> None:
    """Copy a database of the user, without links to its files."""
    into.mkdir()
    for path in source.iterdir():
        if path.is_file() and not path.name.startswith(_LEFT):
            shutil.copyfile(path, into / path.name)


def link_database(source: Path, into: Path, left: tuple[str, ...] = _LEFT) -> None:
    """Make hard links to tables and copy all other files, also in folders.

    `left` has the beginnings of the names of files that are left out.
    """
    into.mkdir()
    for path in source.iterdir():
        if path.is_dir():
            link_database(path, into / path.name, left)
        elif path.suffix in _LINKED:
            os.link(path, into / path.name)
        elif path.is_file() and not path.name.startswith(left):
            shutil.copyfile(path, into / path.name)
