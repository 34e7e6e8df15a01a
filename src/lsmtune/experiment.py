"""A controlled experiment: what is varied, what is held, and how often each cell runs."""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    field_validator,
    model_validator,
)

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.definitions import metric
from lsmtune.units import format_bytes, parse_size

Told = StrictBool | StrictInt | StrictFloat | str
"""A value as an experiment states it; sizes may be texts such as 8MiB."""

_FEWEST_LEVELS, _MOST_CELLS = 2, 1000


class Sweep(BaseModel):
    """What makes a study a controlled experiment: every combination of its factors is a cell.

    A factor is named and lists the values of one knob, or of several that move together; `labels`
    call its levels by other words than their values. The `fixed` settings hold in every cell and
    in the base. Each of `repeats` blocks runs all cells in a random order under one workload seed,
    the base among them. `metrics` are those that the tables show (none: what suits the load).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    factors: dict[str, dict[str, Annotated[tuple[Told, ...], Field(min_length=_FEWEST_LEVELS)]]]
    labels: dict[str, tuple[str, ...]] = {}
    fixed: dict[str, Told] = {}
    repeats: int = Field(default=3, ge=2, le=100)
    metrics: tuple[str, ...] = ()

    @field_validator("metrics")
    @classmethod
    def _are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(metric(name, "sweep.metrics").name for name in names)

    @model_validator(mode="after")
    def _is_a_design(self) -> Self:
        if not self.factors:
            raise ValueError("an experiment needs a factor")
        for name, knobs in self.factors.items():
            if len({len(values) for values in knobs.values()}) != 1:
                raise ValueError(f"factor {name}: needs knobs with as many values each")
        for name, words in self.labels.items():
            if name not in self.factors:
                raise ValueError(f"labels: there is no factor {name}")
            count = len(next(iter(self.factors[name].values())))
            if not len(words) == len(set(words)) == count:
                raise ValueError(f"labels: factor {name} needs as many different ones as levels")
        names = self.knob_names
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} is set in two places")
        if self.cell_count > _MOST_CELLS:
            raise ValueError(
                f"{self.cell_count} cells are too many; allowed are up to {_MOST_CELLS}"
            )
        return self

    @property
    def level_counts(self) -> tuple[int, ...]:
        """How many levels each factor has."""
        return tuple(len(next(iter(knobs.values()))) for knobs in self.factors.values())

    @property
    def cell_count(self) -> int:
        """How many combinations there are."""
        return prod(self.level_counts)

    @property
    def knob_names(self) -> tuple[str, ...]:
        """Every knob that the experiment sets."""
        return (*(name for knobs in self.factors.values() for name in knobs), *self.fixed)

    def cells(self) -> Iterator[tuple[int, ...]]:
        """The combinations: a level of each factor, counted from 0."""
        return product(*(range(count) for count in self.level_counts))

    def values(self, cell: tuple[int, ...], catalogue: Catalogue) -> Settings:
        """What a cell sets, fixed settings included; UserError for a value that is not allowed."""
        told = dict(self.fixed)
        for knobs, level in zip(self.factors.values(), cell, strict=True):
            told |= {name: values[level] for name, values in knobs.items()}
        return {name: _value(catalogue, name, value) for name, value in told.items()}

    def fixed_values(self, catalogue: Catalogue) -> Settings:
        """The settings that hold everywhere."""
        return {name: _value(catalogue, name, told) for name, told in self.fixed.items()}

    def level_names(self, catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
        """The levels of each factor in words; those of several knobs one after the other."""
        return {
            factor: self.labels.get(factor)
            or tuple(
                " + ".join(_words(catalogue, name, values[level]) for name, values in knobs.items())
                for level in range(count)
            )
            for (factor, knobs), count in zip(self.factors.items(), self.level_counts, strict=True)
        }


def _knob(catalogue: Catalogue, name: str) -> Knob:
    return catalogue.select(name)[0]


def _value(catalogue: Catalogue, name: str, told: Told) -> Value:
    """The value that was meant; UserError naming the knob and what it can be set to."""
    knob = _knob(catalogue, name)
    value: Value = told
    if isinstance(told, str) and knob.unit == "bytes":
        value = parse_size(told, f"sweep: {name}")
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(knob.default, float):
        value = float(value)
    if not (_engine_accepts(knob, value) or knob.allows(value)):
        raise UserError(f"sweep: {name} = {told!r}; allowed are {knob.allowed_text()}")
    return value


def _engine_accepts(knob: Knob, value: Value) -> bool:
    """Whether a number is one that the engine takes, though no search would try it."""
    if not knob.is_range or isinstance(value, (bool, str)):
        return False
    if knob.kind == "int" and not isinstance(value, int):
        return False
    low = knob.least if knob.least is not None else knob.low
    return (low is None or value >= low) and (knob.most is None or value <= knob.most)


def _words(catalogue: Catalogue, name: str, told: Told) -> str:
    knob, value = _knob(catalogue, name), _value(catalogue, name, told)
    if isinstance(value, (bool, str)):
        return str(value).lower() if isinstance(value, bool) else value
    if knob.labels and value in knob.values:
        return knob.labels[knob.values.index(value)]
    if knob.unit == "bytes":
        return format_bytes(value)
    return str(value)
