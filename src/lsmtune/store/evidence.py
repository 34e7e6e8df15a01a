"""The files that are kept with a trial, compressed, in a folder of its own."""

import gzip
import shutil
import zlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from lsmtune.errors import UserError
from lsmtune.store.records import NewTrial
from lsmtune.system.links import refuse_link

_ZIPPED = ".gz"
_ZIPPED_LEVEL = 1
"""Fast: the time between two trials counts, and logs shrink well at any level."""


def keep_files(folder: Path, trial: NewTrial, files: Mapping[str, Path]) -> None:
    """Write what the engine was given, and copies of the files, into the folder."""
    (folder / "spec.json").write_text(trial.spec.model_dump_json(indent=1))
    for name, path in files.items():
        if path.suffix == _ZIPPED:
            shutil.copyfile(path, folder / f"{name}{_ZIPPED}")
            continue
        with (
            path.open("rb") as source,
            closing(gzip.open(folder / f"{name}{_ZIPPED}", "wb", _ZIPPED_LEVEL)) as target,
        ):
            shutil.copyfileobj(source, target)


def read_kept(folder: Path, name: str) -> str | None:
    """Return the text of a kept file, or None; UserError if it is damaged or a link."""
    path = folder / f"{name}{_ZIPPED}"
    for place in (folder, path):
        refuse_link(place)
    if not path.is_file():
        return None
    try:
        with gzip.open(path, "rt", errors="replace") as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: the file is damaged: {error}") from error


def kept_files(folder: Path) -> dict[str, Path]:
    """Return the kept files by their names; each is compressed."""
    return {path.name.removesuffix(_ZIPPED): path for path in folder.glob(f"*{_ZIPPED}")}
