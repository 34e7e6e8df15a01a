"""Programs that files of somebody else name: the user is asked before one of them is started."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lsmtune.cli.common import ask
from lsmtune.spec import read_study_file
from lsmtune.spec_defaults import PROGRAMS
from lsmtune.store.database import DATABASE
from lsmtune.system.owner import other_owner

_COMMANDS = ("restart", "prepare")
"""Keys of the table [tikv] that name commands."""


def own_study_file(path: Path) -> dict[str, Any]:
    """Return the keys and values of a study file.

    UserError if it is not TOML, or if it belongs to somebody else and the user does not agree to
    start the programs that it names.
    """
    given = read_study_file(path)
    _ask(given, str(path), [path], f"copy the file (`cp {path} COPY.toml`)")
    return given


def ask_for_home(home: Path, settings: Mapping[str, Any]) -> None:
    """Ask before a program that a study of somebody else's home names is started.

    UserError if the user does not agree, or cannot be asked.
    """
    copy = f"copy the folder (`cp -r {home} COPY`)"
    _ask(settings, f"--home {home}", [home, home / DATABASE], copy)


def _ask(settings: Mapping[str, Any], place: str, files: Iterable[Path], copy: str) -> None:
    programs = ", ".join(_named(settings))
    owner = next((owner for file in files if (owner := other_owner(file))), None)
    if not programs or owner is None:
        return
    what = f"{place}: belongs to {owner} and names the program {programs!r}"
    ask(
        f"{what}. Start it with your rights?",
        unasked=f"{what}; lsmtune does not start it without your consent: answer the question in a "
        f"terminal, or {copy} and use the copy",
        refused=f"{what}; you did not agree to start it",
    )


def _named(settings: Mapping[str, Any]) -> Iterator[str]:
    """Give the programs and commands that the settings name, other than the usual programs.

    A usual program is found on the user's own PATH, so the settings do not choose it.
    """
    program = settings.get("program")
    if isinstance(program, str) and program not in PROGRAMS.values():
        yield program
    table = settings.get("tikv")
    for key in _COMMANDS:
        words = table.get(key) if isinstance(table, Mapping) else None
        if isinstance(words, list | tuple) and words:
            yield " ".join(map(str, words))
