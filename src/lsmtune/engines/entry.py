"""The entry of an engine: what lsmtune and installed packages offer in `lsmtune.engines`.

An entry is read for each study, also to show it. So a module with an entry imports no engine, and
is not the `__init__.py` of the engine's folder.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lsmtune.engine_traits import EngineTraits, checked_engine
from lsmtune.engines.base import Engine
from lsmtune.engines.checks import Check, CheckContext
from lsmtune.engines.exports import TOML, ExportFormat
from lsmtune.knobs.option_files import BaseFile
from lsmtune.spec import StudySettings

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def starts_nothing(settings: Mapping[str, Any]) -> Iterable[str]:
    """Return nothing: settings name nothing to start."""
    return ()


def checks_nothing(context: CheckContext) -> Iterable[Check]:
    """Return nothing: the engine needs nothing of this machine."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEntry(EngineTraits):
    """Everything that lsmtune knows about an engine.

    make        returns the engine that runs a study. It imports what the engine needs, and raises
                UserError if the engine cannot be used
    starts      programs, libraries and commands that settings name for this engine alone, apart
                from the keys program and library. It gets the keys of any study file or study
                as they are, maybe with wrong types, because the user is asked before they are
                checked. If it raises, the user is asked for all texts
    base_files  kinds of files that it reads as baseline
    exports     its formats of exported files; the first one is the one to deploy
    checks      what `lsmtune doctor` checks on this machine for the engine
    """

    make: Callable[[StudySettings], Engine]
    starts: Callable[[Mapping[str, Any]], Iterable[str]] = starts_nothing
    base_files: tuple[BaseFile, ...] = ()
    exports: tuple[ExportFormat, ...] = (TOML,)
    checks: Callable[[CheckContext], Iterable[Check]] = checks_nothing


def checked_entry(name: str, found: object) -> EngineEntry:
    """Return what a package offers as an engine; ValueError if it is no entry of this name."""
    if not isinstance(found, EngineEntry):
        raise ValueError(f"it is no EngineEntry, but of the type {type(found).__name__}")
    checked_engine(name, found)
    files: object = found.base_files
    if not isinstance(files, tuple) or not all(isinstance(one, BaseFile) for one in files):
        raise ValueError("its base_files are no tuple of BaseFile")
    _check_exports(found)
    return found


def _check_exports(entry: EngineEntry) -> None:
    """Raise ValueError if the exports of an entry are no formats of exported files."""
    exports: object = entry.exports
    if not isinstance(exports, tuple) or not exports:
        raise ValueError("its exports are no tuple of at least one ExportFormat")
    for form in exports:
        if isinstance(form, type) or not isinstance(form, ExportFormat):
            raise ValueError(f"its exports contain {form!r}, which is no ExportFormat")
        for text in (form.name, form.file_name):
            if not isinstance(text, str) or not _FILE_NAME.fullmatch(text):
                raise ValueError(
                    f"its exports contain the name {text!r}; a name has 1 to 64 letters, digits, "
                    "dots, dashes and underscores"
                )
    names = [form.name for form in exports]
    if len(names) != len(set(names)):
        raise ValueError(f"its exports contain two formats of one name: {', '.join(names)}")
