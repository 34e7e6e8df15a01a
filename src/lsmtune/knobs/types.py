"""The words of a knob space: a knob, its place in an OPTIONS file, and a config."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from lsmtune.errors import UserError

Value = bool | int | float | str
"""What a knob can be set to."""

_DECIMALS = 3

Settings = dict[str, Value]
"""Values by knob name, of every option that an engine is given."""


class Special(BaseModel):
    """A value outside a knob's range that has a meaning of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    value: int
    meaning: str


class OptionKey(BaseModel):
    """Where a knob stands in a RocksDB OPTIONS file, and in what form its value is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    section: str
    key: str
    form: Literal["plain", "label", "bloom", "per_level"] = "plain"


class Knob(BaseModel):
    """One option of an engine; the fields are described at the head of the catalogue file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    kind: Literal["int", "float", "bool", "categorical"]
    unit: str
    default: Value
    low: float | None = None
    high: float | None = None
    log: bool = False
    special: tuple[Special, ...] = ()
    choices: tuple[Value, ...] = ()
    labels: tuple[str, ...] = ()
    scales: bool = False
    apply: Literal["online", "restart"]
    trade: str
    since: str
    option: OptionKey
    inert: str | None = None

    @model_validator(mode="after")
    def _check(self) -> "Knob":
        if self.is_range and (self.low is None or self.high is None or self.low >= self.high):
            raise ValueError(f"{self.name}: a range needs low < high")
        if self.kind == "categorical" and not self.choices:
            raise ValueError(f"{self.name}: a categorical knob needs choices")
        if not self.allows(self.default):
            raise ValueError(f"{self.name}: the default {self.default} is not allowed")
        return self

    @property
    def is_range(self) -> bool:
        """Whether values come from a range rather than from a list."""
        return self.kind in ("int", "float")

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of a knob that has no range."""
        return (False, True) if self.kind == "bool" else self.choices

    @property
    def special_values(self) -> tuple[int, ...]:
        """The values outside the range that are allowed."""
        return tuple(special.value for special in self.special)

    def allows(self, value: Value) -> bool:
        """Whether the knob can be set to the value."""
        if not self.is_range:
            return any(value == v and type(value) is type(v) for v in self.values)
        if isinstance(value, (bool, str)) or (self.kind == "int" and not isinstance(value, int)):
            return False
        return value in self.special_values or self._bounds[0] <= value <= self._bounds[1]

    @property
    def _bounds(self) -> tuple[float, float]:
        if self.low is None or self.high is None:
            raise ValueError(f"{self.name} has no range")
        return self.low, self.high

    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value of the range."""
        return self._bounds

    def clip(self, value: float) -> int | float:
        """The value of the range nearest to the given one, in the knob's precision."""
        low, high = self._bounds
        return self.rounded(min(max(value, low), high))

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
        low, high = self._bounds
        size = {"low": round(low * factor), "high": round(high * factor)}
        default = round(float(self.default) * factor)
        return self.model_copy(update={**size, "default": default})

    def allowed_text(self) -> str:
        """What the knob can be set to, in words for an error message or a table."""
        if not self.is_range:
            return ", ".join(str(v).lower() if self.kind == "bool" else str(v) for v in self.values)
        low, high = (f"{b:g}" if self.kind == "float" else str(int(b)) for b in self._bounds)
        specials = "".join(f", or {s.value} ({s.meaning})" for s in self.special)
        return f"{low} to {high}{' ' + self.unit if self.unit else ''}{specials}"


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


def parse_value(knob: Knob, text: str) -> Value:
    """The knob's value that a text spells; UserError naming what is allowed otherwise."""
    value = _read(knob, text.strip())
    if value is None or not knob.allows(value):
        raise UserError(f"knob {knob.name}: {text!r} is not among {knob.allowed_text()}")
    return value


def _read(knob: Knob, text: str) -> Value | None:
    if not knob.is_range:
        return next((v for v in knob.values if str(v).lower() == text.lower()), None)
    try:
        return int(text) if knob.kind == "int" else float(text)
    except ValueError:
        return None
