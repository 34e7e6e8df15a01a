"""A knob space for a small tree, made from the space of the full-size tree.

A trial runs with a small tree, and its config is deployed on the full-size one. So each config of
the small space belongs to exactly one config of the full-size space, and both must be legal.

Sizes that grow with the data scale: memtables, files and levels, limits of bytes, and caches. Sizes
of records, blocks and the device do not, nor do rates. `scales` of a knob says which it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from lsmtune.knobs.memory import MemoryLimit
from lsmtune.knobs.types import Knob, Settings, Value

if TYPE_CHECKING:
    from lsmtune.knobs.space import KnobSpace

SHARD_BITS = "cache_numshardbits"
"""A small cache with the shards of a large one would have room for a few blocks per shard."""
_CHOSEN_BY_ROCKSDB = -1
_NO_LIMIT = 1 << 80


@dataclass(frozen=True, slots=True)
class FullSize:
    """The space of the full-size tree, and the settings of a small tree at that size.

    `scale` is the size of the small tree as a fraction. `sizes` are the options that grow with the
    tree. `small` is the baseline of the small tree.
    """

    space: "KnobSpace"
    scale: Fraction
    sizes: Mapping[str, Knob]
    small: Settings

    def up(self, values: Mapping[str, Value]) -> Settings:
        """Return the values of a small tree at full size."""
        return {name: self._up(name, value) for name, value in values.items()}

    def down(self, values: Mapping[str, Value]) -> Settings:
        """Return the values of the full-size tree for the small one, rounded to bytes."""
        return {name: self._down(name, value) for name, value in values.items()}

    def violations(self, config: Mapping[str, Value], settings: Settings) -> list[str]:
        """Return every reason why a config of the small tree must not be deployed.

        `settings` are all settings of the config on the small tree.
        """
        values = self.up(config)
        whole = self.space.settings(values)
        changed = [
            f"{name} = {value}: RocksDB would run {whole[name]}"
            for name, value in self.up(settings).items()
            if name in whole and whole[name] != value
        ]
        return [f"at full size: {reason}" for reason in (*self.space.violations(values), *changed)]

    def _up(self, name: str, value: Value) -> Value:
        if name == SHARD_BITS or value == self.small.get(name):
            return self.space.base.get(name, value)
        knob = self.sizes.get(name)
        if knob is None or isinstance(value, (bool, str)) or value in knob.special_values:
            return value
        exact = value / self.scale
        if knob.grid:
            nearest = knob.clip(float(exact))
            if abs(nearest - exact) < 1 / self.scale:  # less than the byte that was rounded away
                return nearest
        return round(exact)

    def _down(self, name: str, value: Value) -> Value:
        if name == SHARD_BITS or value == self.space.base.get(name):
            return self.small.get(name, value)
        knob = self.sizes.get(name)
        return value if knob is None else scaled_value(knob, value, self.scale)


def scaled_value(knob: Knob, value: Value, scale: Fraction) -> Value:
    """Return the value for a tree `scale` times as large, rounded to bytes.

    Special values, such as 0 for no limit, stay.
    """
    return value if _stays(knob, value) else _size(value, scale)


def _stays(knob: Knob, value: Value) -> bool:
    return not knob.scales or isinstance(value, (bool, str)) or value in knob.special_values


def _size(value: Value, scale: Fraction) -> int:
    return round(Fraction(value) * scale)


def inexact(sizes: Iterable[Knob], base: Settings, scale: Fraction) -> tuple[Knob, Value] | None:
    """Return the first option of the baseline that a tree of this scale cannot have, if any.

    Its value would be below the least that the engine accepts.
    """
    for knob in sizes:
        value = base.get(knob.name)
        if value is None or _stays(knob, value) or scale == 1:
            continue
        if _size(value, scale) < (knob.least or 1):
            return knob, value
    return None


def small_space(full: "KnobSpace", catalogue: Iterable[Knob], scale: Fraction) -> "KnobSpace":
    """Return the space of a tree `scale` times as large as the full-size one.

    It has each value of the full-size space that a tree of this size can have. Legality and memory
    are checked at full size.
    """
    tuned = {knob.name: knob for knob in full.knobs}
    sizes = {k.name: tuned.get(k.name, k) for k in catalogue if k.scales}
    small = {
        name: scaled_value(sizes[name], value, scale) if name in sizes else value
        for name, value in full.base.items()
    }
    if SHARD_BITS in small:
        small[SHARD_BITS] = _CHOSEN_BY_ROCKSDB
    knobs = [k for k in full.knobs if k.name != SHARD_BITS]
    possible = {k.name: _possible(k, scale) for k in knobs}
    sizes |= {name: knob for name, knob in possible.items() if knob.scales}
    whole = replace(full, knobs=tuple(possible[k.name] for k in knobs))
    of_full = FullSize(whole, scale, sizes, small)
    return replace(
        full,
        knobs=tuple(_small(possible[k.name], scale) for k in knobs),
        base=small,
        memory=MemoryLimit(_NO_LIMIT),
        advice=tuple(of_full.down(settings) for settings in full.advice),
        full=of_full,
    )


def _possible(knob: Knob, scale: Fraction) -> Knob:
    """Return the full-size knob with the values that a tree of this scale can have."""
    if not (knob.scales and knob.grid):
        return knob
    least = knob.least or 1
    kept = tuple(v for v in knob.grid if _size(v, scale) >= least)
    kept = kept or knob.grid[-1:]
    return knob.model_copy(update={"grid": kept, "low": kept[0], "high": kept[-1]})


def _small(knob: Knob, scale: Fraction) -> Knob:
    if not knob.scales or not knob.is_range:
        return knob
    grid = tuple(_size(value, scale) for value in knob.grid)
    low, high = (_size(bound, scale) for bound in knob.bounds())
    default = scaled_value(knob, knob.default, scale)
    return knob.model_copy(update={"grid": grid, "low": low, "high": high, "default": default})
