"""Exported files: the contract of a format, and the format of stores without a file of options."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from lsmtune.errors import Argument, Message
from lsmtune.knobs.types import Knob, Settings
from lsmtune.reading import read_text
from lsmtune.spec import Ground, StudySettings
from lsmtune.system.write import Written, write_beside_older
from lsmtune.trials import Base

FIRST_NOTE, LAST_NOTE = "lsmtune, study ", "End of the notes of lsmtune."
"""Start of the first note at the top of a user's file, and the last note."""

_NOTES = re.compile(rf"# {FIRST_NOTE}[^\n]*\n(?:#[^\n]*\n)*?# {re.escape(LAST_NOTE)}\n")

Differences = dict[str, tuple[str | None, str]]
"""For each key: its text in a file (None: the file lacks it), and the text of some settings."""


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file to change, without notes of an earlier export.

    `path` is the user's file that the text comes from, None if the study keeps the text. `missing`
    is a warning if the text is only the part of a file that the study keeps. `remark` says what
    else is special about the text.
    """

    text: str = ""
    path: Path | None = None
    missing: str | None = None
    remark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One file to export.

    spec, ground  the settings and the context of the study
    tuned         the names of the tuned options
    old, new      values of options before and after the change, for a full-size tree
    written       the values to set in the user's file: those that change it
    file          the user's file; empty for a format without one
    named         whether the user named the file, so that it may differ from the baseline
    online        whether the options change while the store runs
    heading       the first notes of the file
    """

    spec: StudySettings
    ground: Ground
    tuned: tuple[str, ...]
    old: Settings
    new: Settings
    written: Settings
    file: UserFile
    named: bool
    online: bool = False
    heading: str = ""

    @property
    def tuned_settings(self) -> Settings:
        """The tuned options with their new values."""
        return {name: self.new[name] for name in self.tuned}

    @property
    def knobs(self) -> list[Knob]:
        """The knobs of the tuned options."""
        return self.knobs_of(self.tuned)

    @property
    def changed(self) -> list[Knob]:
        """The knobs whose values change."""
        return [knob for knob in self.knobs if self.new[knob.name] != self.old[knob.name]]

    def knobs_of(self, names: Iterable[str]) -> list[Knob]:
        """Return the knobs of these names."""
        return [self.ground.catalogue.knob(name) for name in names]


@dataclass(frozen=True, slots=True)
class Exported:
    """The text of an exported file, and the user's file that was changed to make it, if any.

    The exported file needs the permissions of the user's file, which may contain passwords.
    """

    text: str
    source: Path | None = None

    def write(self, path: Path) -> Written:
        """Write the file; an older file of this name is kept."""
        return write_beside_older(path, self.text, "options", self.source)


@runtime_checkable
class ExportFormat(Protocol):
    """A format of exported files. A class that inherits from it needs names and `write` only.

    name       the name for `lsmtune export --format`
    file_name  the usual name of the file
    has_base   whether it changes a file of the user, who may name the file with `--base`
    read_at_start  whether the store reads the file only when it starts
    effect     one sentence for reports of online tuning: how the store gets the options of the file
    """

    name: str
    file_name: str
    has_base: bool = False
    read_at_start: bool = False
    effect: str = ""

    def user_file(self, spec: StudySettings, base: Base, named: Path | None) -> UserFile:
        """Return the file to change, as it is now: the named one, else that of the baseline.

        UserError if there is none, or if the named one cannot be read.
        """
        return UserFile()

    def differences(self, export: Export, wanted: Settings) -> Differences:
        """Return the keys of the user's file that do not have the wanted values."""
        return {}

    def write(self, export: Export) -> Exported:
        """Return the file; its heading comes first, as a comment.

        ParseError if the user's file is damaged.
        """
        ...


class Toml(ExportFormat):
    """The tuned options as TOML."""

    name = "toml"
    file_name = "settings.toml"

    def write(self, export: Export) -> Exported:
        """Return a line for each tuned option."""
        lines = (f"{name} = {json.dumps(v)}\n" for name, v in export.tuned_settings.items())
        return Exported(comment(export.heading) + "".join(lines))


TOML = Toml()
"""The format of an engine that names no other one."""


def named_file(path: Path) -> UserFile:
    """Return the file that the user named with --base; UserError if it cannot be read."""
    return UserFile(without_notes(read_text(path, Message(Argument("base", path)))), path)


def edited_remark(path: Path) -> str:
    """Return a remark: the user's file has changed since the baseline was measured."""
    return (
        f"Your file {path} has other RocksDB options than the baseline of the study. "
        "This file has the options of the baseline, apart from the changes."
    )


def part_warning(server: str, part: str, why: str) -> str:
    """Return a warning: the file has only the part of the user's file that the study keeps."""
    return f"Do not start {server} with this file: the file has only {part} ({why})."


def without_notes(text: str) -> str:
    """Return a file without the notes that an earlier export wrote at its top."""
    while (found := _NOTES.match(text)) is not None:
        text = text[found.end() :]
    return text


def noted(export: Export, lines: Iterable[str]) -> str:
    """Return the notes of a user's file: the heading, these lines, and the last note."""
    return "\n".join([export.heading, *lines, LAST_NOTE])


def comment(note: str) -> str:
    """Return a text as lines of a comment."""
    return "".join(f"# {line}\n" for line in note.splitlines())
