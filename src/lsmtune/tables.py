"""Tables of a study file: screening, online tuning, and what an engine has of its own."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

from lsmtune.errors import ALLOWED, allowed_text, unknown_word
from lsmtune.knobs.design import DesignName
from lsmtune.study_keys import ONLINE_KEYS, SCREEN_KEYS
from lsmtune.workloads import whole_numbers

STUDY_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Pattern of the names of studies, which are also names of folders."""

_NAME_OF_KEY = "[key]"
"""pydantic's mark for a problem with the name of a key."""


def problem_text(problem: Mapping[str, Any], table: type[BaseModel] | None) -> str:
    """Return a problem that pydantic found as a message: key, value, what is allowed.

    `table` is the model of the table that contains the key, if it is known.
    """
    place, value, kind = [str(part) for part in problem["loc"]], problem["input"], problem["type"]
    key = ".".join(place)
    if kind == "missing":
        return f"{key}: this key is missing; add it"
    if kind == "extra_forbidden" and table is not None:
        return f"{key}: {unknown_word('setting', problem['loc'][-1], table.model_fields)}"
    if kind == "literal_error":
        return _unknown_choice(place, value, problem["ctx"]["expected"])
    text = allowed_text(problem)
    if isinstance(value, dict):
        return f"{key}: {text}{', not a table' if kind in ALLOWED else ''}".removeprefix(": ")
    if kind == "value_error" and repr(value) in text:
        return f"{key}: {text}".removeprefix(": ")
    return f"{key} = {_as_written(value)}: {text}".removeprefix(" = ")


def _unknown_choice(place: list[str], value: object, expected: str) -> str:
    """Return the message for a word that is not one of the expected ones, or for such a key."""
    allowed = re.findall(r"'([^']*)'", expected)
    if place[-1] == _NAME_OF_KEY:
        return f"{'.'.join(place[:-2])}: {unknown_word('key', value, allowed)}"
    if not isinstance(value, str):
        return f"{'.'.join(place)} = {_as_written(value)}: must be one of: {', '.join(allowed)}"
    return f"{'.'.join(place)}: {unknown_word(place[-1], value, allowed)}"


def _as_written(value: object) -> str:
    """Return a value as a study file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, date) else repr(value)


def study_name(name: str) -> str:
    """Return the name of a study; ValueError if it is not a plain name of a folder."""
    if not re.fullmatch(STUDY_NAME, name):
        raise ValueError(
            "use 1 to 64 letters, digits, dots, dashes and underscores; start with a letter or "
            "digit"
        )
    return name


class Screen(BaseModel):
    """Settings of a screening: it measures many configs spread over the whole knob space.

    The configs are points of a `design` or lines of a `batch` file. The spread of the repeated runs
    limits what a model can explain. Every run has its own workload seed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    _whole_numbers = whole_numbers
    design: DesignName = Field(default="sobol", description=SCREEN_KEYS["design"])
    batch: str | None = Field(default=None, description=SCREEN_KEYS["batch"])
    replicated: int = Field(default=20, ge=0, le=10_000, description=SCREEN_KEYS["replicated"])
    runs: int = Field(default=3, ge=2, le=100, description=SCREEN_KEYS["runs"])


class Online(BaseModel):
    """Settings of online tuning: lsmtune changes the options of a running engine."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _whole_numbers = whole_numbers
    window_s: float = Field(default=10.0, ge=0.5, le=3600, description=ONLINE_KEYS["window_s"])
    windows: int = Field(default=5, ge=3, le=100, description=ONLINE_KEYS["windows"])


class EngineSettings(BaseModel):
    """Settings of one engine: a table of a study file with the name of the engine.

    The entry of the engine has a subclass, whose docstring and fields describe table and keys. A
    class without fields is not described.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
