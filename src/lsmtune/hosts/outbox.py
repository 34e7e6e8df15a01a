"""The outbox of a host: results on disk, until the commander has stored them."""

import gzip
import re
import shutil
from contextlib import closing
from pathlib import Path

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.hosts.task import ATTEMPT_NAME, ZIPPED, HostResult
from lsmtune.system.workdir import (
    MARKER_NAME,
    create_workdir,
    keep_workdir,
    remove_workdir,
    sweep_workdirs,
)
from lsmtune.system.write import remove_file, remove_folder, write_whole

_RESULT = "result.json"
_EVIDENCE = "evidence"
_ZIPPED_LEVEL = 1
"""Fast, as in a home: logs shrink well at any level."""


class Outbox:
    """A folder with one folder per finished attempt.

    An entry is complete when it has its result and no marker of a work directory any more. So a
    worker that is killed while it writes leaves no half of a result.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        sweep_workdirs(folder)
        self._studies: dict[str, str] = {}
        for path in folder.iterdir():
            if not re.fullmatch(ATTEMPT_NAME, path.name) or (path / MARKER_NAME).exists():
                continue
            if (path / _RESULT).exists():
                self._studies[path.name] = _read(path / _RESULT).study
            else:
                remove_folder(path)  # it was confirmed, and a kill stopped its removal

    def put(self, result: HostResult, files: dict[str, Path]) -> None:
        """Keep a result and its evidence; OSError, and nothing kept, if the disk is full."""
        path = create_workdir(self._folder, result.attempt)
        try:
            evidence = path / _EVIDENCE
            evidence.mkdir()
            for name, file in files.items():
                _compress(name, file, evidence)
            write_whole(path / _RESULT, result.model_dump_json())
            keep_workdir(path)
            self._studies[result.attempt] = result.study
        except BaseException:
            remove_workdir(path)
            raise

    def kept(self) -> dict[str, tuple[str, ...]]:
        """Return the attempts that are kept, by study."""
        found: dict[str, list[str]] = {}
        for attempt, study in sorted(self._studies.items()):
            found.setdefault(study, []).append(attempt)
        return {study: tuple(attempts) for study, attempts in found.items()}

    def has(self, attempt: str) -> bool:
        """Return whether the result of the attempt is kept."""
        return attempt in self._studies

    def get(self, attempt: str) -> tuple[str, dict[str, bytes]]:
        """Return the JSON of the result, and the compressed evidence by name.

        LsmtuneError if no result of the attempt is kept.
        """
        if not self.has(attempt):
            raise LsmtuneError(f"attempt {attempt}: no result is kept")
        path = self._folder / attempt
        files = sorted((path / _EVIDENCE).iterdir())
        return (path / _RESULT).read_text(), {file.name: file.read_bytes() for file in files}

    def confirm(self, attempt: str) -> None:
        """Remove a result that the commander has stored; one that is gone already is fine."""
        if self._studies.pop(attempt, None) is not None:
            remove_file(self._folder / attempt / _RESULT)
            remove_folder(self._folder / attempt)


def _read(file: Path) -> HostResult:
    try:
        return HostResult.model_validate_json(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(
            f"{file}: not a result that this version of lsmtune can read; fetch the results with "
            f"the version that wrote it, or remove the folder {file.parent.name}"
        ) from error


def _compress(name: str, file: Path, folder: Path) -> None:
    """Compress a file as a home does it; one that is compressed already stays as it is."""
    if file.suffix == ZIPPED:
        shutil.copyfile(file, folder / name)
        return
    with (
        file.open("rb") as source,
        closing(gzip.open(folder / name, "wb", _ZIPPED_LEVEL)) as target,
    ):
        shutil.copyfileobj(source, target)
