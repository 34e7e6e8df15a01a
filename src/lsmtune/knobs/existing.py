"""Which changes of options a store that exists survives: opened with them, and opened back again.

The table is `catalogue/existing.toml`. `benchmarks/existing_stores.py` tries each change on real
stores. A change that is not in the table opens the store in both directions.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

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

    option   its name as in an OPTIONS file
    before   values before the change; empty: any
    to       values after the change, or where they are; "other": any other value
    forward  what happens when a store of the values before opens with the values after
    back     what happens when this store opens with the values before again
    message  RocksDB's own words, if one direction is refused
    step     what makes the change possible, or makes it undone, all the same
    tried    the versions of RocksDB in which this was tried
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    option: str
    before: tuple[Value, ...] = ()
    to: tuple[Value, ...] | Literal["lower", "higher", "other"] = "other"
    forward: Effect = "opens"
    back: Effect = "opens"
    message: str | None = None
    step: str | None = None
    tried: tuple[str, ...]

    def concerns(self, before: Value, after: Value) -> bool:
        """Return whether the table means this change of values."""
        if before == after or (self.before and before not in self.before):
            return False
        if isinstance(self.to, tuple):
            return after in self.to
        if self.to == "other" or isinstance(before, str) or isinstance(after, str):
            return self.to == "other"
        return after < before if self.to == "lower" else after > before

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


def changes_between(
    before: Settings, after: Settings, names: Names = PLAIN
) -> Iterator[tuple[str, StoreChange]]:
    """Yield each changed option that the table has, by its full name, with the table's row."""
    for name, value in after.items():
        if name in before and before[name] != value:
            for change in store_changes():
                if change.option == names.option(name) and change.concerns(before[name], value):
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
        return before is not None and change.concerns(before, settings[change.option])

    why = "is refused by" if change.is_forbidden else "has no way back in"
    return Refusal((change.option,), f"this change {why} a store that exists", _SOURCE, broken)
