"""What changing an option of RocksDB costs: for the options that findings of `inspect` name."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.knob_files import rocksdb_knobs
from lsmtune.knobs.types import Knob

_FILE = "advice.toml"
_CACHE = "block_cache"
_OLDEST = "6.0"
"""The oldest version that the catalogue knows: it stands for all older ones."""

Direction = Literal["higher", "lower", "true", "false"]
"""How an option is changed: a number is raised or lowered, a switch is set."""


class _Advice(BaseModel):
    """The cost of an option, one for all directions or one per direction.

    `apply`, `since` and `unit` are set only where the catalogue lacks the option.
    `call` sets an option for which `apply` is `call`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    cost: str | dict[Direction, str]
    apply: Literal["online", "restart", "call"] | None = None
    since: str | None = None
    call: str | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """An option to change, and what that takes.

    `online` says whether it works while the database is open: by SetOptions or SetDBOptions, or
    by another call of the program. `since` is the oldest RocksDB, from 6.0 on, that has the option;
    6.0 stands for 6.0 or older.
    """

    option: str
    cost: str
    online: bool
    since: str

    def is_in(self, version: str) -> bool:
        """Return whether a version of RocksDB has the option."""
        return self.since == _OLDEST or version_number(self.since) <= version_number(version)


def action(option: str, direction: Direction | None = None) -> Action:
    """Return the advice on an option by its name in RocksDB or in texts, for a direction or all.

    KeyError for an option without advice, or without a cost for the direction.
    """
    return _actions()[_CACHE if option == name_in_texts(_CACHE) else option, direction]


@cache
def unit_of(option: str) -> str:
    """Return the unit of an option: `bytes`, `bytes/s`, `s`, or "" for a plain number.

    The option has RocksDB's name, or the name that texts have for it.
    """
    if option == name_in_texts(_CACHE):
        return unit_of(_CACHE)
    knob = _knob(option)
    own = next((advice.unit for advice in _advices() if advice.name == option), "")
    return own if knob is None else knob.unit


@cache
def call_of(option: str) -> str | None:
    """Return the words that set an option in a program, with a place for `{value}`.

    None for an option that SetOptions or an OPTIONS file sets.
    """
    return next((advice.call for advice in _advices() if advice.name == option), None)


@cache
def name_in_texts(option: str) -> str:
    """Return the name under which a LOG or an OPTIONS file has the value of an option.

    A field of a structure has the name of the structure before it.
    """
    knob = _knob(option)
    if option == _CACHE:
        return f"{_CACHE}_capacity"
    place = None if knob is None else knob.option
    return option if place is None or place.field is None else f"{place.key}.{place.field}"


@cache
def _actions() -> dict[tuple[str, Direction | None], Action]:
    return {
        (action.option, direction): action
        for advice in _advices()
        for direction, action in _by_direction(advice)
    }


@cache
def _advices() -> tuple[_Advice, ...]:
    text = files("lsmtune.knobs").joinpath("catalogue", _FILE).read_text(encoding="utf-8")
    return tuple(_Advice(**entry) for entry in tomllib.loads(text)["option"])


def _by_direction(advice: _Advice) -> Iterator[tuple[Direction | None, Action]]:
    apply, since = advice.apply, advice.since
    if apply is None or since is None:
        apply, since = _of_catalogue(advice.name)
    cost, online = advice.cost, apply != "restart"
    one = (
        cost if isinstance(cost, str) else "; ".join(f"{way}: {told}" for way, told in cost.items())
    )
    yield None, Action(advice.name, one, online, since)
    for direction in get_args(Direction):
        if isinstance(cost, str):
            yield direction, Action(advice.name, cost, online, since)
        elif direction in cost:
            yield direction, Action(advice.name, cost[direction], online, since)


def _of_catalogue(name: str) -> tuple[Literal["online", "restart"], str]:
    """How to apply an option, and since when there is one, from its knob."""
    knob = _knob(name)
    if knob is None:
        raise KeyError(f"the catalogue has no option {name}")
    return knob.apply, knob.since


def _knob(name: str) -> Knob | None:
    """Return the knob of an option by its own name or RocksDB's; None where there is none."""
    for knob in rocksdb_knobs():
        option = knob.option
        if knob.name == name or (
            option is not None and ".".join(filter(None, (option.key, option.field))) == name
        ):
            return knob
    return None
