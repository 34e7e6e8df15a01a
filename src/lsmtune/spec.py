"""The settings of a study: what a study file or the flags of `tune` say, checked."""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lsmtune.errors import UserError
from lsmtune.experiment import Sweep
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.catalogue import load as load_catalogue
from lsmtune.knobs.constraints import MemoryLimit, memory_bytes
from lsmtune.knobs.families import with_families
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Settings
from lsmtune.objective import Objective, limits_of, parse_objective
from lsmtune.tables import Cluster, Online, Screen, suited_knobs
from lsmtune.trials import Base, Protocol
from lsmtune.units import parse_duration_s, parse_scale, parse_size
from lsmtune.workloads import PRESETS, EngineName, Mix, Workload

BUDGET_KEYS = frozenset(
    {"study", "trials", "budget", "until", "finalists", "repeats", "pairs", "max_pairs"}
)
"""What may change while a study goes on (its name aside, which finds it)."""

MANY_TRIALS = 100_000
"""Stands for no limit of trials where something else ends the search."""

ALL_STUDIES = "all"
"""Instead of a study's name: every earlier study of the home that may tell something."""

SMALLEST_SCALE = Fraction(1, 512)
"""RocksDB has no memtable below 64 KiB, and no knob may be scaled below what the engine runs."""

PROGRAMS: dict[EngineName, str] = {
    "rocksdb": "db_bench", "myrocks": "mariadbd", "embedded": "lsmtune-stores", "tikv": "go-ycsb",
    "simulated": "lsmsim",
}  # fmt: skip
"""What is run where the user names no other."""

_CACHE_BELOW, _CACHE_ABOVE = 16, 4
"""How far around the size that was given a block cache is searched."""

_LOAD = ("threads", "compression_ratio")
"""The parameters of the load that presets of published studies vary."""

_ELSEWHERE: dict[str, dict[str, str]] = {
    "myrocks": {"knobs": "mixed"},
    "embedded": {"knobs": "all", "objective": "total_s", "scale": "1"},
}
"""What suits RocksDB's own loads on another engine."""

_TIMED = "throughput_ops_s"
"""What is asked for where the clock ends the load, and of a running engine."""

MIN_PAIRS = 6
"""A gain is never claimed from fewer pairs of runs."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a study stands on: the engine's knobs, those of the load's column families among them,
    the base, and how many files a process may have open on this host."""

    catalogue: Catalogue
    base: Base
    open_files: int


class StudySpec(BaseModel):
    """Everything that defines a study; the text forms are those of the command line.

    `base` is the user's own OPTIONS file (None: the engine's defaults), `family` its column
    family, `cache` the size of its block cache, which no OPTIONS file tells. At a smaller `scale`
    the sizes of the tree are so much smaller, and so is a cache that was given. Load, knobs and
    objective have defaults by the load. With `early_stop` a trial that can no longer win is cut.

    `warm_start` names earlier studies of the home, or is "all": the search begins with what the
    one whose load is most alike has found. `trials`, `budget` or `until` ends it, whichever comes
    first: "stable" says until no gain is expected, a number until so many trials in a row had
    none; by default `trials` then is no limit. `base_runs` is how often the base is measured
    before. Of the searched configs the `finalists` best run `repeats` times more, so that the
    winner is not merely the luckiest. `pairs` and `max_pairs` is how many pairs of runs verify it
    (0: none). With a `screen` or a `sweep` table it is no search, with an `online` table a search
    on a running engine. The `tikv` table tells where the user's TiKV is. A study goes on only
    under the settings it began with, its budget excepted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    study: str | None = None
    engine: EngineName = "rocksdb"
    program: str = Field(default="db_bench", min_length=1)
    base: str | None = None
    family: str = "default"
    cache: str | None = None
    workload: Workload = Workload()
    scale: str = "1/64"
    knobs: str = ""
    objective: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    memory: str | None = None
    optimizer: str = "tpe"
    warm_start: tuple[str, ...] | None = None
    trials: int = Field(default=16, ge=1, le=MANY_TRIALS)
    budget: str | None = None
    until: Literal["stable"] | Annotated[int, Field(ge=1, le=MANY_TRIALS)] | None = None
    seed: int = Field(default=1, ge=1, le=2**31 - 1)
    early_stop: bool = True
    base_runs: int = Field(default=3, ge=1, le=100)
    finalists: int = Field(default=5, ge=1, le=100)
    repeats: int = Field(default=2, ge=0, le=100)
    pairs: int = Field(default=MIN_PAIRS, ge=0, le=1000)
    max_pairs: int = Field(default=12, ge=0, le=1000)
    protocol: Protocol = Protocol()
    screen: Screen | None = None
    sweep: Sweep | None = None
    online: Online | None = None
    tikv: Cluster | None = None

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

    @field_validator("objective", "warm_start", mode="before")
    @classmethod
    def _one_by_name(cls, given: Any) -> Any:
        return (given,) if isinstance(given, str) else given

    @field_validator("until", mode="before")
    @classmethod
    def _stable_or_a_number(cls, given: Any) -> Any:
        told = int(given) if isinstance(given, str) and given.isdecimal() else given
        if told in (None, "stable") or (type(told) is int and 0 < told <= MANY_TRIALS):
            return told
        raise ValueError("use stable, or a number of trials >= 1")

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_load(cls, given: Any) -> Any:
        """Engine, knobs and objective as they suit the load, where the user names none."""
        load = given.get("workload", {}) if isinstance(given, Mapping) else None
        if isinstance(load, Workload):
            load = load.model_dump()
        table = load if isinstance(load, Mapping) else {"name": load}
        if "name" not in table and given.get("engine") == "tikv":
            table = {**table, "name": "ycsb_a"}
            given = {**given, "workload": table}
        name = table.get("name", "fillrandom")
        if not isinstance(name, str) or name not in PRESETS:
            return given
        preset = PRESETS[name]
        engine = given.get("engine") or preset.engine
        if engine not in preset.engines:
            engine = preset.engine  # refused below
        ours: dict[str, Any] = {"engine": engine, "program": PROGRAMS[engine]}
        asked = {
            "knobs": "families" if table.get("families") else preset.knobs,
            "objective": _TIMED if table.get("duration_s") else preset.objective,
        }
        if engine != preset.engine:
            asked |= _ELSEWHERE.get(engine, {})
        if engine == "tikv":
            asked |= {"scale": "1", "knobs": suited_knobs(given.get("tikv"))}
        if given.get("online") is not None:
            asked = {"knobs": "online", "objective": _TIMED}
        if given.get("until") is not None:
            ours["trials"] = MANY_TRIALS
        return {**asked, **ours, **given}

    @field_validator("scale")
    @classmethod
    def _one_text_a_scale(cls, scale: str) -> str:
        return str(parse_scale(scale, "scale"))

    @model_validator(mode="after")
    def _texts_can_be_read(self) -> Self:
        for text in ("scale_value", "parsed_objective", "budget_s", "cache_bytes"):
            getattr(self, text)  # raises what is wrong with it
        if self.engine not in (runs_on := self.workload.preset.engines):
            raise UserError(
                f"engine: the load {self.workload.name} runs on {' and '.join(runs_on)}, not on "
                f"{self.engine}"
            )
        if (reason := self.workload.cannot_run_on(self.engine)) is not None:
            raise UserError(reason)
        tables = [name for name in ("screen", "sweep", "online") if getattr(self, name) is not None]
        if tables and self.warm_start is not None:
            raise UserError(f"warm_start: leave it out; [{tables[0]}] does not begin with it")
        if len(tables) > 1:
            raise UserError(f"{tables[1]}: a study is one thing; leave {' or '.join(tables)} out")
        if self.online is not None and self.engine != "myrocks":
            raise UserError(f"online: the engine {self.engine} is tuned between runs; myrocks can")
        if self.engine == "tikv":
            knobs = load_catalogue("tikv").select(self.knobs)
            (self.tikv or Cluster()).check(self.workload, knobs, self.scale, self.cache)
        elif self.tikv is not None:
            raise UserError(f"tikv: this table says nothing to the engine {self.engine}")
        endless = self.workload.preset.engine == "myrocks" and self.workload.kind != "read"
        if self.online is not None and not endless:
            raise UserError(
                f"online: the load {self.workload.name} has an end; one of SQL that writes has not"
            )
        if self.online is not None and self.until is not None:
            raise UserError("until: leave it out; a running engine is searched for `trials`")
        if 0 < self.pairs < MIN_PAIRS:
            raise UserError(f"pairs: {self.pairs} is too few; use 0 (none) or >= {MIN_PAIRS}")
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
    def cache_bytes(self) -> int | None:
        """The size of the base's block cache at scale 1, if it was given."""
        return None if self.cache is None else parse_size(self.cache, "cache")

    @property
    def parsed_objective(self) -> Objective:
        """The objective with its limits."""
        limits = limits_of(self.workload.kind, self.workload.preset.untold(self.engine))
        return parse_objective(self.objective, self.limits, limits)

    @property
    def fixed(self) -> Settings:
        """The settings that the load decides."""
        return {"use_direct_reads": True} if self.workload.direct_reads else {}

    @property
    def name(self) -> str:
        """The study's name: the given one, or one made of what defines it."""
        digest = hashlib.sha256(self.identity().encode()).hexdigest()[:8]
        return self.study or f"{self.workload.name}-{digest}"

    def identity(self) -> str:
        """What may not change while a study goes on, as JSON text."""
        return json.dumps(self.lasting(), separators=(",", ":"))

    def lasting(self) -> dict[str, Any]:
        """The settings that may not change: not the budget, nor how often what runs is repeated."""
        return self.model_dump(
            mode="json",
            exclude={
                **dict.fromkeys(BUDGET_KEYS, True),
                "screen": {"replicated": True, "runs": True},
                "sweep": {"repeats": True, "metrics": True, "labels": True},
            },
            # So that a setting that comes with a later version changes no study of before.
            exclude_none=True,
        )

    def knob(self, knob: Knob) -> Knob:
        """The knob as this study has it: a block cache that was given scales with the tree."""
        size = self.cache_bytes
        if knob.name != "cache_size" or size is None:
            return knob
        low, high = size // _CACHE_BELOW, size * _CACHE_ABOVE
        return knob.model_copy(update={"scales": True, "default": size, "low": low, "high": high})

    def space(self, ground: Ground, scale: Fraction | None = None) -> KnobSpace:
        """The knob space on top of the base, at the study's scale or another.

        UserError where the knobs or the memory do not fit.
        """
        factor = float(scale or self.scale_value)
        catalogue = self._catalogue(ground)
        cache: Settings = {} if self.cache_bytes is None else {"cache_size": self.cache_bytes}
        settings = with_families(ground.base.settings, self.workload.column_families)
        selected = catalogue.select(self.knobs)
        load = {k.name: getattr(self.workload, k.name) for k in selected if k.name in _LOAD}
        given = {**settings, **self.begun(ground), **cache}
        base = {**catalogue.scaled(given, factor), **self.fixed, **load}
        chosen = (k for k in selected if k.name not in self.fixed)
        knobs = tuple(self._ranged(knob.scaled(factor), base) for knob in chosen)
        memory = memory_bytes(base) if self.memory is None else parse_size(self.memory, "memory")
        advised = catalogue.advised(self.knobs)
        advice = tuple(catalogue.scaled(start.settings, factor) for start in advised)
        codecs = None if ground.base.codecs is None else frozenset(ground.base.codecs)
        limit = MemoryLimit(memory)
        return KnobSpace(knobs, base, ground.open_files, limit, advice, codecs).fitted()

    def begun(self, ground: Ground) -> Settings:
        """What the preset sets in the base beside or among the knobs; nothing in a user's own."""
        return self._catalogue(ground).begun(self.knobs) if self.base is None else {}

    def load_at(self, config: Config, load: Workload | None = None) -> Workload:
        """The load of a config: the study's own or the given one, unless knobs vary it too.

        Then all clients together write as much as one would.
        """
        load = load or self.workload
        varied: dict[str, Any] = {name: config[name] for name in _LOAD if name in config}
        operations = load.client_operations
        if int(varied.get("threads", 1)) > 1 and operations is not None:
            varied["operations"] = round(operations * load.threads / varied["threads"])
        return Workload.model_validate({**load.model_dump(), **varied}) if varied else load

    def settings_at(self, ground: Ground, config: Config, scale: Fraction) -> Settings:
        """The settings of a config for a tree at another scale: sizes grow, the rest stays.

        What is as the base has it stays so, to the byte. The memory limit of that scale holds
        there too, by default what the base takes at it.
        """
        space, here = self.space(ground, scale), self.space(ground).default()
        grown = self._catalogue(ground).scaled(config, float(scale / self.scale_value))
        kept = {name: space.base[name] for name in config if config[name] == here[name]}
        return without_load(space.settings(space.legalise({**grown, **kept})))

    def _catalogue(self, ground: Ground) -> Catalogue:
        """The knobs that the base has, as this study has them."""
        known = ground.catalogue.restricted(
            with_families(ground.base.settings, self.workload.column_families)
        )
        return replace(known, knobs=tuple(self.knob(knob) for knob in known.knobs))

    def _ranged(self, knob: Knob, base: Settings) -> Knob:
        """The knob with a range around the base, where that is the user's own."""
        own = self.base is not None or self.engine == "tikv"
        return knob.around(base[knob.name]) if own else knob


def catalogue_of(engine: EngineName, load: Workload) -> Catalogue:
    """The knobs of the engine, those of the load's column families among them."""
    return load_catalogue(engine).with_families(load.column_families)


def without_load(settings: Settings) -> Settings:
    """The settings that are the engine's: without parameters of the load that vary with them."""
    return {name: value for name, value in settings.items() if name not in _LOAD}


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
    ("workload", "mix"): Mix,
    ("protocol",): Protocol,
    ("screen",): Screen,
    ("sweep",): Sweep,
    ("online",): Online,
    ("tikv",): Cluster,
}


def _problem(problem: Mapping[str, Any]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        parent = problem["loc"][:-1]
        known = f"; known are {', '.join(_TABLES[parent].model_fields)}"
        return f"{key} is not a setting{known}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{key} = {problem['input']!r}: {message[:1].lower()}{message[1:]}"
