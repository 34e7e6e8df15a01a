"""Checked settings of a study, from a study file or the flags of `tune`.

A new key is a field here or of the class of its table, with its description in study_keys.py. For a
flag, it also needs a type in cli/flags.py, a parameter of the command, and a line in `FLAGS` of
analysis/continuing.py.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from lsmtune.engine_traits import ENGINES, engines_of, refusal, runs
from lsmtune.entries import one_line
from lsmtune.errors import UserError, unknown_word, with_places
from lsmtune.experiment import Sweep
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Config, Settings
from lsmtune.limits import Measure, default_limits
from lsmtune.metrics.options_file import version_of_options
from lsmtune.objective import Objective, parse_objective
from lsmtune.reading import parse_toml, read_text
from lsmtune.spec_defaults import (
    USUAL_RATE,
    check_cache,
    check_measure,
    check_measured,
    compared_versions,
    engine_problems,
    latency_limit,
    with_defaults,
)
from lsmtune.study_keys import DEFAULT_ENGINE, STUDY_KEYS, VERSION
from lsmtune.tables import EngineSettings, Online, Screen, problem_text, study_name
from lsmtune.trials import Base, LatencyLimit, Protocol, Running, SizeRule
from lsmtune.units import (
    VERSION_FORM,
    is_version,
    parse_duration_s,
    parse_rate,
    parse_scale,
    parse_size,
)
from lsmtune.workloads import EngineName, Mix, Workload, whole_numbers

BUDGET_KEYS = frozenset(
    {"study", "trials", "budget", "until", "finalists", "repeats", "simplify", "pairs", "max_pairs"}
)
"""Settings that may change when a study is continued; the name finds the study."""

_MOST_TRIALS = 100_000

ALL_STUDIES = "all"
"""Value of `warm_start` for all suitable earlier studies of the home."""

SMALLEST_SCALE = Fraction(1, 512)
"""RocksDB's smallest memtable is 64 KiB, and no knob may be scaled below the engine's minimum."""

LOAD_KNOBS = ("threads", "compression_ratio")
"""Parameters of the workload that presets of published studies vary."""

MIN_PAIRS = 6
"""Minimum number of pairs of runs for a claim of a gain."""

OWN_TABLE = "[engine]"
"""Name of the engine's table while the settings are checked. Users write the engine's name."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Context of a study: the knobs of the engine (with all column families of the workload), the
    baseline, the number of files that a process may open on this host, and the rule of sizes."""

    catalogue: Catalogue
    base: Base
    open_files: int
    rule: SizeRule | None = None

    @property
    def rocksdb_version(self) -> str | None:
        """The version that wrote the OPTIONS of the baseline; None for engines without such."""
        if not self.catalogue.by_version or not self.base.options:
            return None
        return version_of_options(self.base.options)


class StudySettings(BaseModel):
    """Settings of a study. Texts have the same form as on the command line.

    The search ends at the first of `trials`, `budget` and `until`. A `screen` or `sweep` table
    makes the study an experiment without a search. A study continues only with the settings that it
    started with, except those in `BUDGET_KEYS`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    _whole_numbers = whole_numbers
    study: str | None = Field(default=None, description=STUDY_KEYS["study"])
    engine: EngineName = Field(default=DEFAULT_ENGINE, description=STUDY_KEYS["engine"])
    program: str = Field(default="db_bench", min_length=1, description=STUDY_KEYS["program"])
    rocksdb: str | None = Field(default=None, description=STUDY_KEYS[VERSION])
    library: str | None = Field(default=None, min_length=1, description=STUDY_KEYS["library"])
    libraries: dict[Literal["leveldb", "lmdb"], str] | None = Field(
        default=None, description=STUDY_KEYS["libraries"]
    )
    base: str | None = Field(default=None, description=STUDY_KEYS["base"])
    family: str = Field(default="default", description=STUDY_KEYS["family"])
    cache: str | None = Field(default=None, description=STUDY_KEYS["cache"])
    workload: Workload = Field(
        default=Workload(name="overwrite"), description=STUDY_KEYS["workload"]
    )
    measure: Measure = Field(default="filled", description=STUDY_KEYS["measure"])
    rate: str | None = Field(default=None, description=STUDY_KEYS["rate"])
    capacity: str | None = Field(default=None, description=STUDY_KEYS["capacity"])
    scale: str = Field(default="1/64", description=STUDY_KEYS["scale"])
    knobs: str = Field(default="", description=STUDY_KEYS["knobs"])
    objective: tuple[str, ...] = Field(default=(), description=STUDY_KEYS["objective"])
    limits: tuple[str, ...] = Field(default=(), description=STUDY_KEYS["limits"])
    memory: str | None = Field(default=None, description=STUDY_KEYS["memory"])
    deploy_cores: int | None = Field(
        default=None, ge=1, le=4096, description=STUDY_KEYS["deploy_cores"]
    )
    optimizer: str = Field(default="tpe", description=STUDY_KEYS["optimizer"])
    warm_start: tuple[str, ...] | None = Field(default=None, description=STUDY_KEYS["warm_start"])
    trials: int | None = Field(default=16, ge=1, le=_MOST_TRIALS, description=STUDY_KEYS["trials"])
    budget: str | None = Field(default=None, description=STUDY_KEYS["budget"])
    until: Literal["stable"] | Annotated[int, Field(ge=1, le=_MOST_TRIALS)] | None = Field(
        default=None, description=STUDY_KEYS["until"]
    )
    seed: int = Field(default=1, ge=1, le=2**31 - 1, description=STUDY_KEYS["seed"])
    early_stop: bool = Field(default=True, description=STUDY_KEYS["early_stop"])
    base_runs: int = Field(default=3, ge=1, le=100, description=STUDY_KEYS["base_runs"])
    finalists: int = Field(default=5, ge=1, le=100, description=STUDY_KEYS["finalists"])
    repeats: int = Field(default=2, ge=0, le=100, description=STUDY_KEYS["repeats"])
    new_store: bool | None = Field(default=None, description=STUDY_KEYS["new_store"])
    one_way: bool | None = Field(default=None, description=STUDY_KEYS["one_way"])
    simplify: bool = Field(default=True, description=STUDY_KEYS["simplify"])
    pairs: int = Field(default=MIN_PAIRS, ge=0, le=1000, description=STUDY_KEYS["pairs"])
    max_pairs: int = Field(default=12, ge=0, le=1000, description=STUDY_KEYS["max_pairs"])
    protocol: Protocol = Field(default=Protocol(), description=STUDY_KEYS["protocol"])
    screen: Screen | None = Field(default=None, description=STUDY_KEYS["screen"])
    sweep: Sweep | None = Field(default=None, description=STUDY_KEYS["sweep"])
    online: Online | None = Field(default=None, description=STUDY_KEYS["online"])
    engine_settings: SerializeAsAny[EngineSettings] | None = Field(
        default=None, validation_alias=OWN_TABLE
    )

    @field_validator("study")
    @classmethod
    def _name_is_a_folder_name(cls, name: str | None) -> str | None:
        return None if name is None else study_name(name)

    @field_validator("engine")
    @classmethod
    def _engine_is_known(cls, name: str) -> str:
        if name not in ENGINES:
            raise ValueError(unknown_word("engine", name, ENGINES))
        return name

    @field_validator(VERSION)
    @classmethod
    def _version_has_three_numbers(cls, version: str | None) -> str | None:
        if version is not None and not is_version(version):
            raise ValueError(VERSION_FORM)
        return version

    @field_validator("workload", mode="before")
    @classmethod
    def _workload_by_name(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given

    @field_validator("rate", mode="before")
    @classmethod
    def _rate_as_text(cls, given: Any) -> Any:
        return str(given) if type(given) in (int, float) else given

    @field_validator("objective", "warm_start", mode="before")
    @classmethod
    def _one_by_name(cls, given: Any) -> Any:
        return (given,) if isinstance(given, str) else given

    @field_validator("until", mode="before")
    @classmethod
    def _stable_or_a_number(cls, given: Any) -> Any:
        value = int(given) if isinstance(given, str) and given.isdecimal() else given
        if value in (None, "stable") or (type(value) is int and 0 < value <= _MOST_TRIALS):
            return value
        raise ValueError("use the word stable, or a number of trials >= 1")

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_load(cls, given: Any) -> Any:
        """Fill in engine, program, knobs and objective that suit the workload."""
        return with_own_table(with_defaults(given))

    @field_validator("engine_settings", mode="before")
    @classmethod
    def _table_of_the_engine(cls, given: Any, info: ValidationInfo) -> Any:
        table = ENGINES[info.data["engine"]].settings if "engine" in info.data else None
        return None if table is None or given is None else table.model_validate(given)

    @model_serializer(mode="wrap")
    def _table_by_name(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Give the table of the engine the engine's name, as study files have it."""
        found: dict[str, Any] = dump(self)
        table = found.pop("engine_settings", None)
        return found if table is None else {**found, self.engine: table}

    @field_validator("scale")
    @classmethod
    def _one_text_a_scale(cls, scale: str) -> str:
        return str(parse_scale(scale, "scale"))

    @model_validator(mode="after")
    def _texts_can_be_read(self) -> Self:
        for text in ("scale_value", "parsed_objective", "budget_s", "cache_bytes", "given_rate",
                     "latency_limit"):  # fmt: skip
            getattr(self, text)  # raises UserError if it is wrong
        if self.memory is not None:
            parse_size(self.memory, "memory")
        if not runs(self.engine, self.workload.name):
            raise UserError(
                f"engine: {self.engine!r} cannot run the workload {self.workload.name}; "
                f"available: {', '.join(engines_of(self.workload.name))}"
            )
        if (reason := refusal(self.engine, self.workload)) is not None:
            raise UserError(reason)
        check_measure(self, ENGINES[self.engine])
        check_measured(self.engine, self.parsed_objective)
        tables = [name for name in ("screen", "sweep", "online") if getattr(self, name) is not None]
        if tables and self.warm_start is not None:
            raise UserError(f"warm_start: not allowed with [{tables[0]}]; remove warm_start")
        if len(tables) > 1:
            raise UserError(f"[{tables[1]}]: not allowed with [{tables[0]}]; remove one table")
        if 0 < self.pairs < MIN_PAIRS:
            raise UserError(
                f"pairs: {self.pairs} pairs of runs are too few; use 0 (none) or >= {MIN_PAIRS}"
            )
        return self

    def __copy__(self) -> Self:
        """Copy the fields, not what was computed from them: `model_copy` changes fields."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @cached_property
    def scale_value(self) -> Fraction:
        """Scale of the tree as a fraction of 1."""
        scale = parse_scale(self.scale, "scale")
        if scale < SMALLEST_SCALE:
            raise UserError(f"scale: {self.scale} is too small; use {SMALLEST_SCALE} to 1")
        return scale

    @cached_property
    def budget_s(self) -> float | None:
        """Time limit of the search in seconds."""
        return None if self.budget is None else parse_duration_s(self.budget, "budget")

    @property
    def is_running(self) -> bool:
        """Whether trials measure a running store at a fixed rate."""
        return self.measure == "running"

    @property
    def steps(self) -> Running | None:
        """The steps of a trial of a running store, without a rate; None if trials fill a store."""
        if not self.is_running:
            return None
        usual = Running(rate=None)
        window_s = self.protocol.window_s or usual.window_s
        changes = {"window_s": window_s, "new_store": bool(self.new_store)}
        return usual.model_copy(update={**changes, "within": self.latency_limit})

    @cached_property
    def latency_limit(self) -> LatencyLimit | None:
        """The latency that the capacity of a running store keeps."""
        return None if self.capacity is None else latency_limit(self.capacity, self.workload)

    @property
    def clocked_s(self) -> float:
        """The time of a trial that the clock ends, whatever the config."""
        steps = self.steps
        return float(self.workload.duration_s or 0) if steps is None else steps.timed_s

    @cached_property
    def given_rate(self) -> tuple[float, bool]:
        """The rate of a running store, and whether it is a share of what the baseline can take."""
        return parse_rate(self.rate or USUAL_RATE, "rate")

    @cached_property
    def versions(self) -> tuple[str, ...]:
        """Versions of RocksDB that an experiment compares, the baseline's first; else empty."""
        return compared_versions(self.sweep, self.rocksdb)

    @property
    def number_of_trials(self) -> int:
        """Number of trials of a study that must have one; UserError without one."""
        if self.trials is None:
            raise UserError("trials: missing; set the number of trials")
        return self.trials

    @cached_property
    def cache_bytes(self) -> int | None:
        """Size of the baseline's block cache at scale 1, if given."""
        return None if self.cache is None else parse_size(self.cache, "cache")

    @cached_property
    def parsed_objective(self) -> Objective:
        """Objective with the limits of a new study."""
        limits = default_limits(self.workload, ENGINES[self.engine], self.measure)
        reads = bool(self.workload.definition.read_shares)
        return parse_objective(
            self.objective, self.limits, limits, measure=self.measure, reads=reads
        )

    @property
    def fixed(self) -> Settings:
        """Settings that follow from the workload."""
        return {"use_direct_reads": True} if self.workload.direct_reads else {}

    @cached_property
    def name(self) -> str:
        """Name of the study: the given one, or one derived from its settings."""
        digest = hashlib.sha256(self.identity().encode()).hexdigest()[:8]
        return self.study or f"{self.workload.name}-{digest}"

    def identity(self) -> str:
        """Return the settings that may not change in a study, as JSON text."""
        return json.dumps(self.lasting(), separators=(",", ":"))

    def lasting(self) -> dict[str, Any]:
        """Return the settings that may not change: all but the budget and numbers of repeats.

        They give a study its name. So the default of a new key must be None, or the key must be
        left out here: else stored studies get other names.
        """
        return self.model_dump(
            mode="json",
            exclude={
                **dict.fromkeys(BUDGET_KEYS, True),
                "screen": {"replicated": True, "runs": True},
                "sweep": {"repeats": True, "metrics": True, "labels": True},
            },
            exclude_none=True,  # a setting that is added later changes no name of a study
        )

    def changed_since(self, before: "StudySettings") -> list[str]:
        """Return the settings that differ, of those that may not change in a study."""
        then, now = before.lasting(), self.lasting()
        return [key for key in dict.fromkeys((*then, *now)) if then.get(key) != now.get(key)]


def catalogue_of(engine: EngineName, load: Workload) -> Catalogue:
    """Return the knobs of the engine, with all column families of the workload."""
    return ENGINES[engine].catalogue().with_families(load.column_families)


def load_at(load: Workload, config: Config) -> Workload:
    """Return the workload of a config; knobs of published studies may vary it.

    Then all clients together write as much as one would.
    """
    varied: dict[str, Any] = {name: config[name] for name in LOAD_KNOBS if name in config}
    operations = load.client_operations
    if int(varied.get("threads", 1)) > 1 and operations is not None:
        varied["operations"] = round(operations * load.threads / varied["threads"])
    return Workload.model_validate({**load.model_dump(), **varied}) if varied else load


def without_load(settings: Settings) -> Settings:
    """Return the settings without parameters of the workload."""
    return {name: value for name, value in settings.items() if name not in LOAD_KNOBS}


def make_spec(
    given: Mapping[str, Any],
    where: str,
    flags: Mapping[str, str] | None = None,
) -> StudySettings:
    """Return the checked settings; UserError with place, key, value and what is allowed.

    `flags` has the flag of each key that the command line gave; a message about the key names it.
    """
    try:
        found = _checked(given)
    except Exception as error:  # the package of an engine may raise anything
        engine = given.get("engine")
        if not isinstance(engine, str) or engine in ENGINES.built_in:
            raise
        found = [f"engine: the package of {engine!r} failed: {one_line(error)}"]
    if isinstance(found, StudySettings):
        return found
    raise UserError(with_places(found, where, flags or {}))


def _checked(given: Mapping[str, Any]) -> StudySettings | list[str]:
    """Return the checked settings, or what is wrong with them."""
    try:
        spec = StudySettings.model_validate(given)
        check_cache(spec.cache, spec.engine)
        return list(engine_problems(spec)) or spec  # it may load a catalogue
    except ValidationError as error:
        return _in_words(error, with_defaults(given).get("engine"))
    except UserError as error:
        return [error.message]


def read_study_file(path: Path) -> dict[str, Any]:
    """Return the keys and values of a study file; UserError if it is not TOML."""
    return parse_toml(read_text(path, str(path)), str(path))


def _in_words(error: ValidationError, engine: object) -> list[str]:
    return [_problem(dict(problem), str(engine)) for problem in error.errors()]


def _problem(problem: dict[str, Any], engine: str) -> str:
    place = problem["loc"]
    if len(place) == 1 and problem["type"] == "extra_forbidden":
        return unknown_key(str(place[0]))
    if OWN_TABLE not in place:
        return problem_text(problem, _TABLES.get(place[:-1]))
    table = ENGINES[engine].settings if place[:-1] == (OWN_TABLE,) else None
    return problem_text({**problem, "loc": (engine, *place[1:])}, table)


_TABLES: dict[tuple[int | str, ...], type[BaseModel]] = {
    ("workload",): Workload,
    ("workload", "mix"): Mix,
    ("protocol",): Protocol,
    ("screen",): Screen,
    ("sweep",): Sweep,
    ("online",): Online,
}


def all_keys() -> tuple[str, ...]:
    """Return the keys at the top of a study file, with the tables of engines."""
    return (*STUDY_KEYS, *own_tables())


def unknown_key(key: str) -> str:
    """Return the message for a key at the top of a study file that no study has."""
    return f"{key}: {unknown_word('setting', key, all_keys())}"


def own_tables() -> dict[str, type[EngineSettings]]:
    """Return the classes of the tables of engines, by the name of the engine."""
    found = {entry.name: entry.settings for entry in ENGINES.usable()}
    return {name: one for name, one in found.items() if one is not None and one.model_fields}


def with_own_table(given: Any) -> Any:
    """Return the settings with the table of their engine where the model expects it.

    UserError for the table of another engine.
    """
    if not isinstance(given, Mapping):
        return given
    if OWN_TABLE in given:  # what asks the user before it starts commands does not know this name
        raise UserError(unknown_key(OWN_TABLE))
    engine, rest = given.get("engine"), dict(given)
    for name in [n for n in ENGINES if n in rest and n not in STUDY_KEYS]:
        table = rest.pop(name)
        if not isinstance(engine, str) or engine not in ENGINES:
            continue
        if name != engine or ENGINES[name].settings is None:
            raise UserError(
                f"[{name}]: the engine {engine} does not use this table; remove the table"
            )
        rest[OWN_TABLE] = table
    return rest
