"""What changing an option costs: for the options that findings of `inspect` name."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.knobs.catalogue import load

_FILE = "advice.toml"


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
    by another call of the program. `since` is the oldest RocksDB, from 6.0 on, that has the option.
    """

    option: str
    cost: str
    online: bool
    since: str


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
