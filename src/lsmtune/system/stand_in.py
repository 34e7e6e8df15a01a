"""A file of the user's that is set aside for a while, with another text in its place."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from lsmtune.errors import UserError

_ASIDE = ".lsmtune-aside"


class StandIn:
    """The place of a file: the user's own, or a text of ours while the own one is set aside.

    The own file is renamed, never written to, and put back as it was: its bytes, owner and times.
    One that is still aside when a process begins was left there by one that was killed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._aside = self.path.with_name(self.path.name + _ASIDE)

    @property
    def is_aside(self) -> bool:
        """Whether another text stands in the place of the user's file."""
        return self._aside.exists()

    def own_text(self) -> str:
        """The text of the user's file, wherever it is; UserError when it cannot be read."""
        path = self._aside if self.is_aside else self.path
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: cannot be read: {error}") from error

    def write(self, text: str) -> None:
        """Put the text in the file's place, readable for whom the own one is."""
        try:
            if not self.is_aside:
                self.path.rename(self._aside)
            self.path.write_text(text, encoding="utf-8")
            shutil.copymode(self._aside, self.path)
            owner = self._aside.stat()
            with suppress(PermissionError):  # only root may give files away
                os.chown(self.path, owner.st_uid, owner.st_gid)
        except OSError as error:
            raise UserError(f"{self.path}: cannot be written: {error.strerror}") from error

    def put_back(self) -> bool:
        """Put the user's file back in its place; whether it was aside."""
        if not self.is_aside:
            return False
        self._aside.replace(self.path)
        return True
