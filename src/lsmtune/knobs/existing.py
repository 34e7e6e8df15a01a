"""Which changes of options a store that exists survives: opened with them, and opened back again.

The table is `catalogue/existing.toml`. `benchmarks/existing_stores.py` tries each change on real
stores. A change that is not in the table opens the store in both directions.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from math import inf
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.rules.base import Context, Refusal
from lsmtune.knobs.types import Settings, Value

_FILE = "existing.toml"
_SOURCE = "benchmarks/existing_stores.py"

Effect = Literal["opens", "rewrites", "migration", "refused", "loses"]
"""What happens to a store: it opens; it opens, and RocksDB rewrites or moves most of it; it opens
only after a migration; it is refused, also after a migration; it opens, but keys are missing or
wrong, at once or after further writes."""


class StoreChange(BaseModel):
    """A change of an option that a store does not survive as if nothing had happened.

    option   the plain name of its knob
    before   values before the change; empty: any
    to       values after the change, or where they are; "other": any other value; "tighter": a
             lower value of a limit of which 0 means none
    when     values that other options need after the change
    forward  what happens when a store of the values before opens with the values after
    back     what happens when this store opens with the values before again
    message  RocksDB's own words, if one direction is refused
    step     what makes the change possible, or makes it undone, all the same
    since    the oldest version of RocksDB of which this is true; `until` the newest
    tried    the versions of RocksDB in which this was tried
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    option: str
    before: tuple[Value, ...] = ()
    to: tuple[Value, ...] | Literal["lower", "higher", "tighter", "other"] = "other"
    when: dict[str, tuple[Value, ...]] = {}
    forward: Effect = "opens"
    back: Effect = "opens"
    message: str | None = None
    step: str | None = None
    since: str | None = None
    until: str | None = None
    tried: tuple[str, ...]

    def concerns(self, before: Value, after: Value) -> bool:
        """Return whether the table means this change of values."""
        if before == after or (self.before and before not in self.before):
            return False
        if isinstance(self.to, tuple):
            return after in self.to
        if self.to == "other" or isinstance(before, str) or isinstance(after, str):
            return self.to == "other"
        if self.to == "tighter":
            return 0 != after < (before or inf)
        return after < before if self.to == "lower" else after > before

    def is_met(self, settings: Mapping[str, Value]) -> bool:
        """Return whether one family's options after the change are such that the row is true."""
        return all(settings.get(name) in values for name, values in self.when.items())

    @property
    def is_forbidden(self) -> bool:
        """Whether no store survives the change: it does not open, or it loses keys."""
        return self.forward in ("refused", "loses")

    @property
    def is_one_way(self) -> bool:
        """Whether the change needs a migration, or cannot be undone without one."""
        return self.forward == "migration" or self.back in ("migration", "refused", "loses")


@cache
def store_changes() -> tuple[StoreChange, ...]:
    """Return the table."""
    text = files("lsmtune.knobs.catalogue").joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(StoreChange.model_validate(entry) for entry in tomllib.loads(text)["change"])


def changes_of(option: str, version: str | None = None) -> tuple[StoreChange, ...]:
    """Return the rows of an option, by the plain name of its knob: those of one version, or all."""
    number = None if version is None else version_number(version)
    return tuple(
        change
        for change in store_changes()
        if change.option == option
        and (number is None or change.since is None or number >= version_number(change.since))
        and (number is None or change.until is None or number <= version_number(change.until))
    )


def changes_between(
    before: Settings, after: Settings, names: Names = PLAIN, version: str | None = None
) -> Iterator[tuple[str, StoreChange]]:
    """Yield each changed option that the table has, by its full name, with the table's row."""
    for name, value in after.items():
        if name in before and before[name] != value:
            family = names.view({**before, **after}, names.family(name))
            for change in changes_of(names.option(name), version):
                if change.concerns(before[name], value) and change.is_met(family):
                    yield name, change


@cache
def existing_rules(*, one_way: bool) -> tuple[Refusal, ...]:
    """Return rules that refuse what a store of the baseline does not survive.

    With `one_way`, changes that need a migration or have no way back are allowed.
    """
    return tuple(
        _refusal(change)
        for change in store_changes()
        if change.is_forbidden or (change.is_one_way and not one_way)
    )


def _refusal(change: StoreChange) -> Refusal:
    def broken(settings: Settings, context: Context) -> bool:
        before = context.base.get(change.option)
        changed = before is not None and change.concerns(before, settings[change.option])
        return changed and change.is_met(settings)

    return Refusal(
        (change.option, *change.when),
        f"this change {_why(change)}",
        _SOURCE,
        broken,
        since=change.since,
        until=change.until,
    )


def _why(change: StoreChange) -> str:
    if change.forward == "loses":
        return "loses keys of a store that exists"
    if change.is_forbidden:
        return "is refused by a store that exists"
    if change.forward == "migration":
        return "needs a migration of a store that exists"
    return "has no way back in a store that exists"
