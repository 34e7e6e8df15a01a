"""Files that lsmtune leaves for a while: a text in place of the user's file, or a note."""

import hashlib
import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

from lsmtune.errors import UserError
from lsmtune.system.write import write_whole


class StandIn:
    """The place of a file: the user's own, or a text of ours while the own one is set aside.

    The own file is renamed, never written to, and put back as it was: its bytes, owner and times.
    One that is still aside when a process begins was left there by one that was killed. A text that
    is neither was edited meanwhile: it is kept beside the file, never overwritten.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._aside = self.beside("aside")
        self._digest = self.beside("wrote")
        self._edits: list[Path] = []

    def beside(self, what: str) -> Path:
        """The path of a file of lsmtune's beside this one."""
        return self.path.with_name(f"{self.path.name}.lsmtune-{what}")

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
            why = error.strerror if isinstance(error, OSError) else "the file is not a text file"
            raise UserError(f"cannot read {path}: {why}") from error

    def write(self, text: str) -> None:
        """Put the text in the file's place, readable for whom the own one is."""
        try:
            self._keep_edit()
            write_whole(self._digest, _digest(text.encode()))
            if not self.is_aside:
                self.path.rename(self._aside)
            write_whole(self.path, text, like=self._aside)
            owner = self._aside.stat()
            with suppress(PermissionError):  # only root may give files away
                os.chown(self.path, owner.st_uid, owner.st_gid)
            shutil.copymode(self._aside, self.path)
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror}") from error

    def is_ours(self) -> bool:
        """Whether a text of ours stands in the place, to the byte."""
        if not self.is_aside or not self.path.exists():
            return False
        return not self._digest.exists() or _digest(self.path.read_bytes()) == (
            self._digest.read_text()
        )

    def adopt(self) -> None:
        """What stands in the place now counts as a text of ours: TiKV has written it."""
        write_whole(self._digest, _digest(self.path.read_bytes()))

    def put_back(self) -> bool:
        """Put the user's file back in its place; whether it was aside."""
        if not self.is_aside:
            return False
        self._keep_edit()
        self._aside.replace(self.path)
        self._digest.unlink(missing_ok=True)
        return True

    def take_edits(self) -> list[Path]:
        """Where edits were kept that nobody has been told of yet."""
        edits, self._edits = self._edits, []
        return edits

    def _keep_edit(self) -> None:
        if not self.is_aside or not self.path.exists() or self.is_ours():
            return
        names = (self.beside(f"found{n or ''}") for n in count())
        kept = next(path for path in names if not path.exists())
        self.path.rename(kept)
        self._edits.append(kept)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def state_folder() -> Path:
    """The user's folder for what a program must remember ($XDG_STATE_HOME, ~/.local/state)."""
    told = os.environ.get("XDG_STATE_HOME")
    return (Path(told) if told else Path.home() / ".local" / "state") / "lsmtune"


class Marker:
    """A text at a path, which is there whole or not at all; UserError where it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> str | None:
        """What was left; None where nothing was."""
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "the file is not a text file"
            raise UserError(f"cannot read {self.path}: {why}") from error

    def leave(self, text: str) -> None:
        """Leave the text, in the place of one that was there."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, text)
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror}") from error

    def clear(self) -> None:
        """Nothing needs to be remembered any more."""
        self.path.unlink(missing_ok=True)
