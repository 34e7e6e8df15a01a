"""The settings of a study: what a study file or the flags of `tune` say, checked."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.constraints import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Settings
from lsmtune.objective import Objective, parse_objective
from lsmtune.trials import Protocol
from lsmtune.units import parse_duration_s, parse_scale, parse_size
from lsmtune.workloads import PRESETS, Workload

BUDGET_KEYS = frozenset({"study", "trials", "budget", "finalists", "repeats", "pairs", "max_pairs"})
"""What may change while a study goes on (its name aside, which finds it)."""

SMALLEST_SCALE = Fraction(1, 512)
"""RocksDB has no memtable below 64 KiB, and no knob may be scaled below what the engine runs."""

MIN_PAIRS = 6
"""A gain is never claimed from fewer pairs of runs."""


class StudySpec(BaseModel):
    """Everything that defines a study; the text forms are those of the command line.

    `trials` or `budget` ends the search, whichever comes first. `base_runs` is how often the
    base is measured before. Of the searched configs the `finalists` best run `repeats` times
    more, so that the winner is not merely the luckiest. `pairs` and `max_pairs` is how many
    pairs of runs verify it (0: none). A study goes on only under the settings it began with,
    its budget excepted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    study: str | None = None
    engine: Literal["rocksdb"] = "rocksdb"
    program: str = Field(default="db_bench", min_length=1)
    workload: Workload = Workload()
    scale: str = "1/64"
    knobs: str = "all"
    objective: str = "balanced"
    limits: tuple[str, ...] = ()
    memory: str | None = None
    optimizer: str = "tpe"
    trials: int = Field(default=16, ge=1, le=100_000)
    budget: str | None = None
    seed: int = Field(default=1, ge=1, le=2**31 - 1)
    base_runs: int = Field(default=3, ge=1, le=100)
    finalists: int = Field(default=5, ge=1, le=100)
    repeats: int = Field(default=2, ge=0, le=100)
    pairs: int = Field(default=MIN_PAIRS, ge=0, le=1000)
    max_pairs: int = Field(default=12, ge=0, le=1000)
    protocol: Protocol = Protocol()

    @field_validator("study")
    @classmethod
    def _name_is_a_folder_name(cls, name: str | None) -> str | None:
        if name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise ValueError("use up to 64 letters, digits, dots, dashes and underscores")
        return name

    @field_validator("workload", mode="before")
    @classmethod
    def _workload_by_name(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given

    @field_validator("workload")
    @classmethod
    def _workload_is_known(cls, workload: Workload) -> Workload:
        if workload.name not in PRESETS:
            raise ValueError(f"no workload {workload.name!r}; known are {', '.join(PRESETS)}")
        return workload

    @field_validator("scale")
    @classmethod
    def _one_text_a_scale(cls, scale: str) -> str:
        return str(parse_scale(scale, "scale"))

    @model_validator(mode="after")
    def _texts_can_be_read(self) -> Self:
        self.scale_value  # noqa: B018 - reading them raises what is wrong
        self.parsed_objective  # noqa: B018
        self.budget_s  # noqa: B018
        if 0 < self.pairs < MIN_PAIRS:
            raise UserError(
                f"pairs: {self.pairs} is too few; allowed are 0 (none) or >= {MIN_PAIRS}"
            )
        return self

    @property
    def scale_value(self) -> Fraction:
        """The scale of the tree as a fraction of 1."""
        scale = parse_scale(self.scale, "scale")
        if scale < SMALLEST_SCALE:
            raise UserError(f"scale: {self.scale} is too small; allowed are {SMALLEST_SCALE} to 1")
        return scale

    @property
    def budget_s(self) -> float | None:
        """The time that searching may take, in seconds."""
        return None if self.budget is None else parse_duration_s(self.budget, "budget")

    @property
    def parsed_objective(self) -> Objective:
        """The objective with its limits."""
        return parse_objective(self.objective, self.limits)

    @property
    def name(self) -> str:
        """The study's name: the given one, or one made of what defines it."""
        digest = hashlib.sha256(self.identity().encode()).hexdigest()[:8]
        return self.study or f"{self.workload.name}-{digest}"

    def identity(self) -> str:
        """What may not change while a study goes on, as JSON text."""
        return self.model_dump_json(exclude=set(BUDGET_KEYS))

    def space(self, catalogue: Catalogue, base: Settings, open_files: int) -> KnobSpace:
        """The knob space on top of the base; UserError where the knobs or the memory do not fit."""
        factor = float(self.scale_value)
        knobs = tuple(knob.scaled(factor) for knob in catalogue.select(self.knobs))
        memory = memory_bytes(base) if self.memory is None else parse_size(self.memory, "memory")
        advice = tuple(catalogue.scaled(start.settings, factor) for start in catalogue.starts)
        return KnobSpace(knobs, base, open_files, MemoryLimit(memory), advice).fitted()


def make_spec(given: Mapping[str, Any], where: str) -> StudySpec:
    """The spec of checked values; UserError naming place, key, value and what is allowed."""
    try:
        return StudySpec.model_validate(given)
    except ValidationError as error:
        raise UserError(f"{where}: {_in_words(error)}") from None
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def read_study_file(path: Path) -> dict[str, Any]:
    """The keys and values of a study file; UserError when it cannot be read as TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: is no TOML file: {error}") from error


def _in_words(error: ValidationError) -> str:
    return "; ".join(_problem(dict(problem)) for problem in error.errors())


_TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): StudySpec,
    ("workload",): Workload,
    ("protocol",): Protocol,
}


def _problem(problem: Mapping[str, Any]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        parent = problem["loc"][:-1]
        known = f"; known are {', '.join(_TABLES[parent].model_fields)}"
        return f"{key} is not a setting{known}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{key} = {problem['input']!r}: {message[:1].lower()}{message[1:]}"
