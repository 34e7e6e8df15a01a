"""Types of a knob space: a knob, its place in an OPTIONS file, and a config."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, inf, log, log2, log10
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from lsmtune.errors import UserError
from lsmtune.units import parse_size

Value = bool | int | float | str
"""What a knob can be set to."""

_DECIMALS = 3
_WIDER = 4
_SIZES = ("default", "low", "high", "least", "most", "step")
_SENTINEL = 64
_TINY = 1e-9
_OWN = dict(area="knobs", unit="", shapes=True, apply="restart", trade="", flag=False)  # noqa: C408
"""Fields of a knob that an engine of its own need not give."""
_NO_UNIT = ("", "ratio", "level")

Settings = dict[str, Value]
"""Values by knob name, of every option that an engine is given."""

_STEPS = 16
"""A linear range is divided into about this many steps."""
_LEAST_STEPS = 10
"""The low end of a linear range is at most this many steps."""
_ROUND_SIZES = ("bytes", "bytes/s")
_PERIODS = (86_400, 3_600, 60)
"""A day, an hour and a minute in seconds."""
_ALMOST = 1e-9


class Special(BaseModel):
    """A value outside a knob's range that has a meaning of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    value: int | float
    meaning: str


class OptionKey(BaseModel):
    """The place of a knob in a RocksDB OPTIONS file, and the form of its value.

    `field` is the name inside a struct text such as `compression_opts={level=3;...}`. The forms
    are described in lsmtune.knobs.option_text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    section: str
    key: str
    field: str | None = None
    form: Literal[
        "plain", "label", "codec", "first_compressed", "filter_bits", "ribbon", "factory",
        "prefix", "derived",
    ] = "plain"  # fmt: skip


class Knob(BaseModel):
    """One option of an engine.

    name         as db_bench spells the flag where it has one, else as an OPTIONS file does
    area         the part of the engine that it belongs to: a heading
    kind, unit   of the value; the unit is "" for a plain number or a name; sizes may be written
                 as texts such as 64MiB, and are numbers of bytes
    default      that of db_bench 7.8.3, at scale 1 (of 11.8.1 for options that came later)
    low, high    the range that is searched, at scale 1 for knobs that scale with the data
    least, most  what the engine accepts, where a range may be widened or scaled beyond it
    log          searched on a logarithmic scale
    step         a search draws whole multiples of it
    grid         the only values of the range that a search draws, in ascending order; empty: all
    special      values outside the range that mean something of their own
    choices      of a categorical knob; `labels` are their names in an OPTIONS file
    choices_since  the oldest RocksDB that has a choice, where `since` is older
    named_only   allowed values that a search tries only if the baseline has them
    scales       a size of the tree: divided with the data at --scale 1/64
    shapes       decides what files and tree a load leaves on disk
    apply        changed online (SetOptions, SetDBOptions) or by a restart
    trade        what a change gains and costs, in plain sentences
    risk         why it is unsafe: such a knob is tuned only if it is named
    avoid        why production systems leave it alone: default presets and rankings leave it out
    since        the oldest RocksDB, from 6.0 on, that has the option; `until` the newest
    option       its place in an OPTIONS file; None if it is only a flag of db_bench
    flag         whether db_bench 7.8.3 has a flag of this name
    set_by       what a program sets, for an option that OPTIONS files cannot contain
    when         values of other knobs that it needs to have an effect
    inert        why it has no effect in trials of lsmtune; such a knob is never tuned
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    area: str
    kind: Literal["int", "float", "bool", "categorical"]
    unit: str
    default: Value
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None
    log: bool = False
    step: int = 1
    grid: tuple[int | float, ...] = ()
    special: tuple[Special, ...] = ()
    choices: tuple[Value, ...] = ()
    labels: tuple[str, ...] = ()
    choices_since: dict[str, str] = {}
    named_only: tuple[Value, ...] = ()
    scales: bool = False
    shapes: bool
    apply: Literal["online", "restart"]
    trade: str
    risk: str | None = None
    avoid: str | None = None
    since: str = "6.0"
    until: str | None = None
    option: OptionKey | None = None
    flag: bool = True
    set_by: str | None = None
    when: dict[str, tuple[Value, ...]] = {}
    inert: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _sizes_as_numbers(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("unit") != "bytes":
            return given
        read = {key: _size(given[key]) for key in _SIZES if key in given}
        return given | read | {"choices": tuple(map(_size, given.get("choices", ())))}

    @model_validator(mode="after")
    def _check(self) -> "Knob":
        if self.is_range and (self.low is None or self.high is None or self.low >= self.high):
            raise ValueError(f"{self.name}: a range needs low < high")
        if self.log and (self.low or 0) <= 0:
            raise ValueError(f"{self.name}: a logarithmic scale needs low > 0")
        different = {(type(choice), choice) for choice in self.choices}
        if self.kind == "categorical" and len(different) < max(1, len(self.choices)):
            raise ValueError(f"{self.name}: a categorical knob needs a list of different choices")
        if self.labels and len(self.labels) != len(self.values):
            raise ValueError(f"{self.name}: the numbers of labels and values differ")
        if not self.choices_since.keys() <= {str(choice) for choice in self.choices}:
            raise ValueError(f"{self.name}: choices_since names a value that is no choice")
        for value in (self.default, *self.named_only):
            if not self.allows(value):
                raise ValueError(f"{self.name}: the default or named value {value} is not allowed")
        return self

    @classmethod
    def integer(cls, name: str, low: int, high: int, *, default: int, **more: Any) -> Self:
        """Return a knob of whole numbers for an engine of your own; `more` are other fields."""
        return cls._own(name, kind="int", low=low, high=high, default=default, **more)

    @classmethod
    def real(cls, name: str, low: float, high: float, *, default: float, **more: Any) -> Self:
        """Return a knob of real numbers for an engine of your own."""
        return cls._own(name, kind="float", low=low, high=high, default=default, **more)

    @classmethod
    def boolean(cls, name: str, *, default: bool, **more: Any) -> Self:
        """Return a switch for an engine of your own."""
        return cls._own(name, kind="bool", default=default, **more)

    @classmethod
    def choice(cls, name: str, choices: Sequence[Value], *, default: Value, **more: Any) -> Self:
        """Return a knob with a list of values for an engine of your own."""
        return cls._own(name, kind="categorical", choices=choices, default=default, **more)

    @classmethod
    def _own(cls, name: str, **fields: Any) -> Self:
        try:
            return cls(name=name, **{**_OWN, **fields})
        except ValidationError as error:
            where, text = error.errors()[0]["loc"], error.errors()[0]["msg"].split(f"{name}: ")[-1]
            raise UserError(": ".join([f"knob {name!r}", *map(str, where), text])) from error

    @property
    def is_range(self) -> bool:
        """Whether the values are a range, not a list."""
        return self.kind in ("int", "float")

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of a knob that has no range."""
        return (False, True) if self.kind == "bool" else self.choices

    @property
    def drawn(self) -> tuple[Value, ...]:
        """The values that a search may draw; the others count only when named.

        Empty for a range of which all values may be drawn.
        """
        if self.is_range:
            return (*self.special_values, *self.grid) if self.grid else ()
        return tuple(value for value in self.values if value not in self.named_only)

    @property
    def special_values(self) -> tuple[int | float, ...]:
        """The values outside the range that are allowed."""
        return tuple(special.value for special in self.special)

    def allows(self, value: Value) -> bool:
        """Return whether the knob can be set to the value."""
        if not self.is_range:
            return any(value == v and type(value) is type(v) for v in self.values)
        if isinstance(value, (bool, str)) or (self.kind == "int" and not isinstance(value, int)):
            return False
        return value in self.special_values or self.bounds()[0] <= value <= self.bounds()[1]

    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value of the range; ValueError for a list of values."""
        if self.low is None or self.high is None:
            raise ValueError(f"knob {self.name} has a list of values, not a range")
        return self.low, self.high

    def clip(self, value: float) -> int | float:
        """The value that a search may draw nearest to the given one: of the grid, or in steps."""
        if self.grid:
            return min(self.grid, key=lambda drawn: self._distance(drawn, value))
        low, high = self.bounds()
        stepped = round(value / self.step) * self.step if self.step > 1 else value
        return self.rounded(min(max(stepped, low), high))

    def _distance(self, one: float, other: float) -> float:
        return abs(log(max(one, _TINY) / max(other, _TINY))) if self.log else abs(one - other)

    def floor(self, value: float) -> int | float:
        """The largest value that a search may draw up to the given one; the lowest if none is."""
        if self.grid:
            return max((v for v in self.grid if v <= value), default=self.grid[0])
        nearest = self.clip(value)
        return nearest if nearest <= value else self.clip(nearest - self.step)

    def rounded(self, value: float) -> int | float:
        """The value in the knob's precision: whole, or to three decimals.

        RocksDB writes floats with six decimals into its OPTIONS file; what it could not write
        down could not be read back.
        """
        return round(value) if self.kind == "int" else round(value, _DECIMALS)

    def scaled(self, factor: float) -> "Knob":
        """The knob for a tree `factor` times as large; itself where it does not scale."""
        if not self.scales or factor == 1:
            return self
        low, high = (self.scaled_value(bound, factor) for bound in self.bounds())
        default = self.scaled_value(self.default, factor)
        return self.model_copy(update={"low": low, "high": high, "default": default})

    def scaled_value(self, value: Value, factor: float) -> Value:
        """The value for a tree `factor` times as large, no less than the engine accepts."""
        if not self.scales or factor == 1 or value in self.special_values:
            return value
        return max(round(float(value) * factor), round(self.least or 1))

    def around(self, value: Value) -> "Knob":
        """The knob with room for the value: a range that holds it, a list that has it.

        A range on a logarithmic scale then reaches from a quarter to four times the value, as far
        as the engine accepts that. What lies far outside (no limit, say) becomes a special value
        instead. A knob of names knows no other names.
        """
        if not self.is_range:
            return self._with_choice(value)
        if isinstance(value, (bool, str)) or value in self.special_values:
            return self
        low, high = self.bounds()
        step = self.step if self.kind == "int" else 10**-_DECIMALS
        if value < step <= low or value > _SENTINEL * high > 0:
            kept = Special(value=value, meaning="value of the baseline")
            return self.model_copy(update={"special": (*self.special, kept)})
        below, above = value, value
        if self.log:
            below, above = max(value / _WIDER, step), value * _WIDER
        below = below if self.least is None else max(below, self.least)
        above = above if self.most is None else min(above, self.most)
        wider = {"low": min(low, below, value), "high": max(high, above, value)}
        return self.model_copy(update={side: self.rounded(b) for side, b in wider.items()})

    def with_round_values(self, base: Value, factor: float) -> "Knob":
        """The knob of which a search draws only round values and the baseline's.

        Sizes that scale are round for the whole tree, not for a tree `factor` times as large. The
        range grows to the nearest round value at its ends.
        """
        if not self.is_range:
            return self
        low, high = self.bounds()
        scale = factor if self.scales else 1
        found = round_values(
            low / scale, high / scale, log=self.log, unit=self.unit, whole=self.kind == "int"
        )
        least = -inf if self.least is None else self.least
        most = inf if self.most is None else self.most
        drawn = {self.rounded(value * scale) for value in found if least <= value * scale <= most}
        if not isinstance(base, (bool, str)) and low <= base <= high:
            drawn.add(base)
        grid = tuple(sorted(drawn)) or (self.rounded(low), self.rounded(high))
        ends = {"low": min(low, grid[0]), "high": max(high, grid[-1])}
        return self.model_copy(update={"grid": grid, **ends})

    def up_to(self, most: float) -> "Knob":
        """The knob without the values of its grid above this one; the lowest is kept."""
        kept = tuple(value for value in self.grid if value <= most) or self.grid[:1]
        return self.model_copy(update={"grid": kept, "high": kept[-1]})

    def _with_choice(self, value: Value) -> "Knob":
        if not self.allows(value):
            choices = self.choices if self.kind == "bool" or self.labels else (*self.choices, value)
            return self.model_copy(update={"choices": choices})
        rest = tuple(named for named in self.named_only if named != value)
        return self.model_copy(update={"named_only": rest})

    def drawing(self, choices: tuple[Value, ...]) -> "Knob":
        """The knob of which a search draws only these choices; the others can still be named.

        A range becomes a list of them, and has no others.
        """
        if self.is_range:
            listed = {"kind": "categorical", "choices": choices, "special": ()}
            return self.model_copy(update=listed)
        others = tuple(value for value in self.choices if value not in choices)
        return self.model_copy(update={"named_only": others})

    def restricted(self, choices: tuple[Value, ...]) -> "Knob":
        """The knob with only these of its choices."""
        kept = [at for at, value in enumerate(self.choices) if value in choices]
        names = tuple(self.labels[at] for at in kept) if self.labels else ()
        values = tuple(self.choices[at] for at in kept)
        named_only = tuple(value for value in self.named_only if value in values)
        update = {"choices": values, "labels": names, "named_only": named_only}
        return self.model_copy(update=update)

    def accepts(self, value: Value) -> bool:
        """Return whether the engine accepts a value, as far as the catalogue describes that."""
        if isinstance(value, (bool, str)) or not self.is_range or value in self.special_values:
            return True
        least, most = self.accepted
        return value >= least and (most is None or value <= most)

    def accepted_text(self) -> str:
        """Return the numbers that the engine accepts as text for a message."""
        unit = "" if self.unit in _NO_UNIT else f" {self.unit}"
        least, most = self.accepted
        end = " or more" if most is None else f" to {most:.15g}"
        specials = "".join(f", or {s.value} ({s.meaning})" for s in self.special)
        return f"{least:.15g}{end}{unit}{specials}"

    @property
    def accepted(self) -> tuple[float, float | None]:
        """The least and the largest number that the engine accepts; None if there is none."""
        return self.least if self.least is not None else min(self.bounds()[0], 0), self.most

    def allowed_text(self) -> str:
        """Return the allowed values as text for a message or a table."""
        if not self.is_range:
            return ", ".join(map(value_text, self.values))
        low, high = (f"{b:g}" if self.kind == "float" else str(int(b)) for b in self.bounds())
        specials = "".join(f", or {s.value} ({s.meaning})" for s in self.special)
        unit = "" if self.unit in _NO_UNIT else f" {self.unit}"
        return f"{low} to {high}{unit}{specials}"


class Config(Mapping[str, Value]):
    """One immutable point of a knob space, with a hash that is the same in every process."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(sorted(values.items()))
        self.hash = hashlib.sha256(self.to_json().encode()).hexdigest()[:12]

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.to_json() == other.to_json()

    def __repr__(self) -> str:
        return f"Config({self.hash}: {self._values})"

    def to_json(self) -> str:
        """The canonical JSON text of the values, keys sorted."""
        return json.dumps(self._values, separators=(",", ":"))

    def differing(self, base: Mapping[str, Value]) -> dict[str, Value]:
        """The values that are not those of the base."""
        return {name: value for name, value in self.items() if base.get(name) != value}


def _size(told: Any) -> Any:
    return parse_size(told, "size") if isinstance(told, str) else told


def value_text(value: Value) -> str:
    """Return a value as files have it: `true` for a switch that is on."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def round_values(
    low: float, high: float, *, log: bool, unit: str, whole: bool
) -> tuple[float, ...]:
    """Return the round values of a range in ascending order; empty if it has none.

    Sizes on a logarithmic scale are powers of two: from the one nearest to `low` to the one nearest
    to `high`. Other values on a logarithmic scale are 1, 2 or 5 times a power of ten. Long periods
    are counted in days, hours or minutes. Values on a linear scale are multiples of one step, and
    the step is 1, 2 or 5 times a power of ten, at least a tenth of `low`: 35 and 40 are round, 34
    is not. If the values are `whole`, the step is at least 1.
    """
    if not log:
        return _multiples(low, high, least_step=max(low / _LEAST_STEPS, 1 if whole else 0))
    if unit in _ROUND_SIZES:
        return tuple(2.0**power for power in range(round(log2(low)), round(log2(high)) + 1))
    period = next((p for p in _PERIODS if unit == "s" and low >= p), 1)
    return tuple(value * period for value in _one_two_five(low / period, high / period))


def _one_two_five(low: float, high: float) -> list[float]:
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [value for value in values if low * (1 - _ALMOST) <= value <= high * (1 + _ALMOST)]


def _multiples(low: float, high: float, least_step: float) -> tuple[float, ...]:
    wanted = max((high - low) / _STEPS, least_step)
    step = next(s for s in _one_two_five(wanted, wanted * 10) if s >= wanted)
    first, last = ceil(low / step - _ALMOST), floor(high / step + _ALMOST)
    return tuple(count * step for count in range(first, last + 1))
