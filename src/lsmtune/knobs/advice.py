"""What changing an option costs: for the options that findings of `inspect` name."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.defaults import version_number

_FILE = "advice.toml"
_OLDEST = "6.0"
"""The oldest version that the catalogue knows: it stands for all older ones."""


class _Advice(BaseModel):
    """The cost of an option; `apply` and `since` only where the catalogue lacks the option."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    cost: str
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


def action(option: str) -> Action:
    """Return the advice on an option by RocksDB's name; KeyError for one without advice."""
    return _actions()[option]


@cache
def _actions() -> dict[str, Action]:
    text = files("lsmtune.knobs.catalogue").joinpath(_FILE).read_text(encoding="utf-8")
    return {
        advice.name: _action(advice)
        for advice in (_Advice(**entry) for entry in tomllib.loads(text)["option"])
    }


def _action(advice: _Advice) -> Action:
    apply, since = advice.apply, advice.since
    if apply is None or since is None:
        apply, since = _of_catalogue(advice.name)
    return Action(advice.name, advice.cost, apply != "restart", since)


def _of_catalogue(name: str) -> tuple[Literal["online", "restart"], str]:
    """How to apply an option, and since when there is one, from its knob."""
    for knob in load("rocksdb").knobs:
        option = knob.option
        if knob.name == name or (
            option is not None and option.field is None and option.key == name
        ):
            return knob.apply, knob.since
    raise KeyError(f"the catalogue has no option {name}")
