"""Tables of engines in a study file: each has the name of its engine."""

from collections.abc import Mapping
from typing import Any

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError, unknown_word
from lsmtune.study_keys import STUDY_KEYS
from lsmtune.tables import EngineSettings

OWN_TABLE = "[engine]"
"""Name of the engine's table while the settings are checked. Users write the engine's name."""


def all_keys() -> tuple[str, ...]:
    """Return the keys at the top of a study file, with the tables of engines."""
    return (*STUDY_KEYS, *own_tables())


def unknown_key(key: str) -> str:
    """Return the message for a key at the top of a study file that no study has."""
    return f"{key}: {unknown_word('setting', key, all_keys())}"


def own_tables() -> dict[str, type[EngineSettings]]:
    """Return the classes of the tables of engines, by the name of the engine."""
    found = {entry.name: entry.settings for entry in ENGINES.usable()}
    return {name: one for name, one in found.items() if one is not None and one.model_fields}


def with_own_table(given: Any) -> Any:
    """Return the settings with the table of their engine where the model expects it.

    UserError for the table of another engine.
    """
    if not isinstance(given, Mapping):
        return given
    if OWN_TABLE in given:  # what asks the user before it starts commands does not know this name
        raise UserError(unknown_key(OWN_TABLE))
    engine, rest = given.get("engine"), dict(given)
    for name in [n for n in ENGINES if n in rest and n not in STUDY_KEYS]:
        table = rest.pop(name)
        if not isinstance(engine, str) or engine not in ENGINES:
            continue
        if name != engine or ENGINES[name].settings is None:
            raise UserError(
                f"[{name}]: the engine {engine} does not use this table; remove the table"
            )
        rest[OWN_TABLE] = table
    return rest
