"""A note to a later process: it outlives the one that left it, and a restart of the machine."""

import os
from pathlib import Path

from lsmtune.errors import UserError
from lsmtune.system.write import write_whole


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
