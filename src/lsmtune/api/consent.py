"""Programs and libraries that files of somebody else name: the user is asked before they run."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.registry import usable_entries
from lsmtune.errors import Argument, Message, UserError
from lsmtune.spec import read_study_file
from lsmtune.store.database import DATABASE
from lsmtune.system.write import other_owner


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
    owner = next((owner for file in files if (owner := other_owner(file))), None)
    named = [] if owner is None else list(dict.fromkeys(_started(settings)))
    if not named:
        return
    what = Message(place, f": belongs to {owner} and makes lsmtune run {', '.join(named)!r}")
    consent(
        Message(what, ". Run it with your rights?"),
        unasked=Message(
            what,
            "; lsmtune does not run it without your consent: answer the question in a terminal, "
            f"or {copy} and use the copy",
        ),
        refused=Message(what, "; you did not agree to run it"),
    )


def _started(settings: Mapping[str, Any]) -> Iterator[str]:
    """Give the programs, libraries and commands that lsmtune may start with these settings.

    Flags may choose another engine than the settings, so each engine is asked. If the engine of the
    settings cannot be used, nobody knows what it starts, so these are all texts of the settings.
    """
    engine = settings.get("engine")
    if engine is not None and not _is_usable(engine):
        yield from _texts(settings)
        return
    program, library = settings.get("program"), settings.get("library")
    if isinstance(program, str) and program not in _usual_programs(engine):
        yield program
    for entry in usable_entries():
        try:
            yield from map(str, entry.starts(settings))
        except Exception:
            yield from _texts(settings)
    if isinstance(library, str):
        yield library


def _is_usable(engine: object) -> bool:
    """Return whether this process has the engine, and can use its package."""
    try:
        return isinstance(engine, str) and isinstance(ENGINES.get(engine), EngineEntry)
    except UserError:
        return False


def _usual_programs(engine: str | None) -> set[str]:
    """Return the programs that are found on the user's own PATH, so settings do not choose them."""
    names = [*ENGINES.built_in, *([] if engine is None else [engine])]
    return {ENGINES[name].program for name in names}


def _texts(value: object) -> Iterator[str]:
    """Give all texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
