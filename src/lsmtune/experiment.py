"""Settings of a controlled experiment: factors, fixed settings, repeats."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    field_validator,
    model_validator,
)

from lsmtune.errors import UserError, unknown_word
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.definitions import metric
from lsmtune.study_keys import SWEEP_KEYS, VERSION
from lsmtune.units import format_bytes, is_version, parse_size
from lsmtune.workloads import whole_numbers


def _single(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("must be a number, a text in quotes, true or false")
    return value


Told = Annotated[StrictBool | StrictInt | StrictFloat | str, BeforeValidator(_single)]
"""A value in a study file; a size may be a text such as 8MiB."""

_BOOLS = {"true": True, "false": False}
_FEWEST_LEVELS, _MOST_CELLS = 2, 1000


class Sweep(BaseModel):
    """Settings of a controlled experiment: every combination of factor levels is a cell.

    The `fixed` settings apply to every cell and to the baseline. Each of `repeats` blocks runs all
    cells and the baseline in a random order with one workload seed.
    """

    # A block keeps its seed, so that a drift of the machine affects all cells equally.

    model_config = ConfigDict(frozen=True, extra="forbid")
    _whole_numbers = whole_numbers
    factors: dict[str, dict[str, Annotated[tuple[Told, ...], Field(min_length=_FEWEST_LEVELS)]]] = (
        Field(description=SWEEP_KEYS["factors"])
    )
    labels: dict[str, tuple[str, ...]] = Field(default={}, description=SWEEP_KEYS["labels"])
    fixed: dict[str, Told] = Field(default={}, description=SWEEP_KEYS["fixed"])
    repeats: int = Field(default=3, ge=2, le=100, description=SWEEP_KEYS["repeats"])
    metrics: tuple[str, ...] = Field(default=(), description=SWEEP_KEYS["metrics"])

    @field_validator("metrics")
    @classmethod
    def _are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(metric(name, "sweep.metrics").name for name in names)

    @model_validator(mode="after")
    def _is_a_design(self) -> Self:
        if not self.factors:
            raise ValueError(
                "no factor is given; list values of a knob in a table [sweep.factors.NAME]"
            )
        for name, knobs in self.factors.items():
            if len({len(values) for values in knobs.values()}) != 1:
                raise ValueError(
                    f"factor {name}: the lists of values differ in length; "
                    "list the same number of values for each knob"
                )
            levels = list(zip(*knobs.values(), strict=True))
            if again := next((one for one in levels if levels.count(one) > 1), None):
                raise ValueError(
                    f"factor {name} lists {', '.join(map(str, again))} twice; list each level once"
                )
        for name, words in self.labels.items():
            if name not in self.factors:
                raise ValueError(f"labels: {unknown_word('factor', name, self.factors)}")
            count = len(next(iter(self.factors[name].values())))
            if not len(words) == len(set(words)) == count:
                raise ValueError(
                    f"labels: use {count} different labels for the {count} levels of factor {name}"
                )
        if VERSION in self.fixed:
            raise ValueError(f"fixed: {VERSION} is not allowed; set the key {VERSION} of the study")
        for version in self._listed_versions():
            if not (isinstance(version, str) and is_version(version)):
                raise ValueError(
                    f"factors: {VERSION} = {version!r}: write three or four numbers as a text, "
                    'such as "11.8.1"'
                )
        names = self.knob_names
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"the knob {twice[0]} is set twice; set each knob once")
        if self.cell_count > _MOST_CELLS:
            raise ValueError(
                f"the values of the factors give {self.cell_count} combinations, but the maximum "
                f"is {_MOST_CELLS}; use fewer factors or values"
            )
        return self

    def _listed_versions(self) -> tuple[Told, ...]:
        return next((knobs[VERSION] for knobs in self.factors.values() if VERSION in knobs), ())

    @property
    def versions(self) -> tuple[str, ...]:
        """Versions of RocksDB that the factors list, each once; empty if none lists versions."""
        return tuple(dict.fromkeys(map(str, self._listed_versions())))

    @property
    def level_counts(self) -> tuple[int, ...]:
        """Number of levels of each factor."""
        return tuple(len(next(iter(knobs.values()))) for knobs in self.factors.values())

    @property
    def cell_count(self) -> int:
        """Number of combinations of levels."""
        return prod(self.level_counts)

    @property
    def knob_names(self) -> tuple[str, ...]:
        """Names of all knobs that the experiment sets."""
        return (*(name for knobs in self.factors.values() for name in knobs), *self.fixed)

    def cells(self) -> Iterator[tuple[int, ...]]:
        """Return the combinations: the level of each factor, counted from 0."""
        return product(*(range(count) for count in self.level_counts))

    def values(self, cell: tuple[int, ...], catalogue: Catalogue) -> Settings:
        """Return the settings of a cell with the fixed ones; UserError for an invalid value."""
        given = dict(self.fixed)
        for knobs, level in zip(self.factors.values(), cell, strict=True):
            given |= {name: values[level] for name, values in knobs.items()}
        return {name: _value(catalogue, name, value) for name, value in given.items()}

    def fixed_values(self, catalogue: Catalogue) -> Settings:
        """Return the settings that apply to all cells."""
        return {name: _value(catalogue, name, told) for name, told in self.fixed.items()}

    def level_names(self, catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
        """Return the names of the levels per factor; values of several knobs are joined by +."""
        return {
            factor: self.labels.get(factor)
            or tuple(
                " + ".join(_words(catalogue, name, values[level]) for name, values in knobs.items())
                for level in range(count)
            )
            for (factor, knobs), count in zip(self.factors.items(), self.level_counts, strict=True)
        }


def with_versions(catalogue: Catalogue, versions: Sequence[str]) -> Catalogue:
    """Return the catalogue with versions of RocksDB as a knob; the first one is the default.

    Without versions, the catalogue is returned unchanged.
    """
    if not versions:
        return catalogue
    knob = Knob(
        name=VERSION, area="version", kind="categorical", unit="", default=versions[0],
        choices=tuple(versions), shapes=True, apply="restart", flag=False,
        trade="Version of RocksDB that runs the trial. An upgrade also changes options that "
              "the baseline does not set.",
    )  # fmt: skip
    return replace(catalogue, knobs=(*catalogue.knobs, knob))


def _knob(catalogue: Catalogue, name: str) -> Knob:
    return catalogue.select(name)[0]


def _value(catalogue: Catalogue, name: str, told: Told) -> Value:
    """Return the knob's value for a given one; UserError with the allowed values otherwise."""
    knob = _knob(catalogue, name)
    value: Value = told
    if isinstance(told, str) and knob.kind == "bool":
        value = _BOOLS.get(told, told)
    if isinstance(told, str) and knob.unit == "bytes":
        value = parse_size(told, f"sweep: {name}")
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(knob.default, float):
        value = float(value)
    if not (_engine_accepts(knob, value) or knob.allows(value)):
        raise UserError(
            f"sweep: {name}: value {told!r} is not allowed; allowed: {knob.allowed_text()}"
        )
    return value


def _engine_accepts(knob: Knob, value: Value) -> bool:
    """Return whether the engine accepts the number, even if it is outside the searched range."""
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
