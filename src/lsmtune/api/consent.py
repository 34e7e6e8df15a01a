"""Programs and libraries that files of somebody else name: the user is asked before they run."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import Argument, Message, UserError
from lsmtune.spec import read_study_file
from lsmtune.store.database import DATABASE
from lsmtune.system.links import other_owner

_COMMANDS = ("restart", "prepare")
"""Keys of the table [tikv] that name commands."""


class Consent(Protocol):
    """Asks the user a question, and returns if the answer is yes."""

    def __call__(self, question: str, *, unasked: str, refused: str) -> None:
        """UserError with the text `unasked` if nobody can answer, or `refused` if they say no."""


def nobody_to_ask(question: str, *, unasked: str, refused: str) -> None:
    """Raise UserError, because a program that calls lsmtune has no terminal."""
    raise UserError(unasked)


def own_study_file(path: Path, consent: Consent) -> dict[str, Any]:
    """Return the keys and values of a study file.

    UserError if it is not TOML, or if it belongs to somebody else and the user does not agree to
    run the programs or libraries that it names.
    """
    given = read_study_file(path)
    _ask(given, str(path), [path], f"copy the file (`cp {path} COPY.toml`)", consent)
    return given


def ask_for_home(home: Path, settings: Mapping[str, Any], consent: Consent) -> None:
    """Ask before a program or library that a study of somebody else's home names runs.

    UserError if the user does not agree, or cannot be asked.
    """
    copy = f"copy the folder (`cp -r {home} COPY`)"
    _ask(settings, Message(Argument("home", home)), [home, home / DATABASE], copy, consent)


def _ask(
    settings: Mapping[str, Any], place: str, files: Iterable[Path], copy: str, consent: Consent
) -> None:
    libraries = list(_libraries(settings))
    named = ", ".join([*_programs(settings), *libraries])
    owner = next((owner for file in files if (owner := other_owner(file))), None)
    if not named or owner is None:
        return
    kind = "library" if libraries else "program"
    what = Message(place, f": belongs to {owner} and names the {kind} {named!r}")
    consent(
        Message(what, ". Run it with your rights?"),
        unasked=Message(
            what,
            "; lsmtune does not run it without your consent: answer the question in a terminal, "
            f"or {copy} and use the copy",
        ),
        refused=Message(what, "; you did not agree to run it"),
    )


def _programs(settings: Mapping[str, Any]) -> Iterator[str]:
    """Give the programs and commands that the settings name.

    A usual program is found on the user's own PATH, so the settings do not choose it.
    """
    program = settings.get("program")
    engine = settings.get("engine")
    usual = {ENGINES[name].program for name in ENGINES.built_in}
    if isinstance(engine, str) and engine in ENGINES:
        usual.add(ENGINES[engine].program)
    if isinstance(program, str) and program not in usual:
        yield program
    table = settings.get("tikv")
    for key in _COMMANDS:
        words = table.get(key) if isinstance(table, Mapping) else None
        if isinstance(words, list | tuple) and words:
            yield " ".join(map(str, words))


def _libraries(settings: Mapping[str, Any]) -> Iterator[str]:
    """Give the files of libraries that the settings name.

    A version of RocksDB is none of them, because the user installed it.
    """
    others = settings.get("libraries")
    named = (settings.get("library"), *(others.values() if isinstance(others, Mapping) else ()))
    yield from (library for library in named if isinstance(library, str))
