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

_FILE = "advice.toml"
_OLDEST = "6.0"
"""The oldest version that the catalogue knows: it stands for all older ones."""

Direction = Literal["higher", "lower", "true", "false"]
"""How an option is changed: a number is raised or lowered, a switch is set."""


class _Advice(BaseModel):
    """The cost of an option, one for all directions or one per direction.

    `apply` and `since` are set only where the catalogue lacks the option.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    cost: str | dict[Direction, str]
    apply: Literal["online", "restart", "call"] | None = None
    since: str | None = None


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
    """Return the advice on an option by RocksDB's name, with the cost of one direction or of all.

    KeyError for an option without advice, or without a cost for the direction.
    """
    return _actions()[option, direction]


@cache
def _actions() -> dict[tuple[str, Direction | None], Action]:
    text = files("lsmtune.knobs").joinpath("catalogue", _FILE).read_text(encoding="utf-8")
    return {
        (action.option, direction): action
        for advice in (_Advice(**entry) for entry in tomllib.loads(text)["option"])
        for direction, action in _by_direction(advice)
    }


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
    for knob in rocksdb_knobs():
        option = knob.option
        if knob.name == name or (
            option is not None and option.field is None and option.key == name
        ):
            return knob.apply, knob.since
    raise KeyError(f"the catalogue has no option {name}")
