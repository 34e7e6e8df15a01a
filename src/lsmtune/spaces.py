"""The knob spaces of a study: its knobs around its baseline, at one scale each."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from lsmtune import workloads
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.existing import existing_rules
from lsmtune.knobs.families import with_families
from lsmtune.knobs.full_size import inexact, scaled_value, small_space
from lsmtune.knobs.memory import MemoryLimit, Records, memtable_limit
from lsmtune.knobs.rules.base import USUAL_VERSION, Rules
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.threads import with_cores
from lsmtune.knobs.types import Config, Knob, Settings, Value
from lsmtune.limits import Limit
from lsmtune.objective import Metrics
from lsmtune.spec import LOAD_KNOBS, Ground, StudySettings, without_load
from lsmtune.spec_defaults import CACHE
from lsmtune.study_keys import VERSION
from lsmtune.trials import SizeRule
from lsmtune.units import format_bytes, parse_size

_CACHE_BELOW, _CACHE_ABOVE = 16, 4
"""The block cache is searched from 1/16 to 4 times the size of the baseline's."""
_ROW_CACHE = "row_cache_size"

MEMORY = "memory_bytes"
"""Metric of the memory of the full-size tree."""
_READERS = "table_readers_bytes"
"""Metric of the index and filter blocks outside the block cache, in the tree of the run."""
_TOLERANCE = 1.02
"""A winner may exceed the limit by 2 %, because the number of live records varies."""


class KnobSpaces:
    """The knob spaces of a study around its baseline; that of each scale is made once."""

    def __init__(self, spec: StudySettings, ground: Ground) -> None:
        self.spec = spec
        self.ground = ground
        self._at: dict[Fraction, KnobSpace] = {}

    def at(self, scale: Fraction | None = None) -> KnobSpace:
        """Return the knob space at a scale, by default the study's.

        Raises UserError if the knobs, the memory limit or the scale do not fit.
        """
        scale = scale or self.spec.scale_value
        if scale not in self._at:
            self._at[scale] = self._made(scale)
        return self._at[scale]

    @cached_property
    def of_versions(self) -> Mapping[str, KnobSpace]:
        """The knob space of each version that an experiment compares, around its baseline.

        Empty if the study does not compare versions. UserError if a version lacks a knob that the
        experiment sets.
        """
        spec, ground, found = self.spec, self.ground, {}
        for version, base in ground.base.versions.items():
            present = with_families(base.settings, spec.workload.column_families)
            for knob in ground.catalogue.select(spec.knobs):
                if knob.name not in present:
                    raise UserError(
                        f"RocksDB {version} does not have the knob {knob.name}, which the "
                        "experiment sets; leave out this version or this knob"
                    )
            found[version] = knob_space(spec, replace(ground, base=base))
        return found

    def of(self, values: Mapping[str, Value]) -> KnobSpace:
        """Return the knob space of the version that the values name, or the only one."""
        return self.of_versions.get(str(values.get(VERSION)), self.at())

    def check(self) -> None:
        """Raise UserError if knobs, memory limit or scale do not fit."""
        _ = self.of_versions
        self.at()

    def _made(self, scale: Fraction) -> KnobSpace:
        catalogue = catalogue_in(self.spec, self.ground)
        if self.ground.rule is None or scale == 1:
            return _space(self.spec, self.ground, catalogue, scale)
        full = self.at(Fraction(1))
        if (problem := _too_small(full.base, catalogue, scale)) is not None:
            raise UserError(f"scale: {problem}")
        return small_space(full, catalogue.knobs, scale)


def knob_space(spec: StudySettings, ground: Ground, scale: Fraction | None = None) -> KnobSpace:
    """Return the knob space at one scale, by default the study's; see `KnobSpaces.at`."""
    return KnobSpaces(spec, ground).at(scale)


def _space(spec: StudySettings, ground: Ground, catalogue: Catalogue, scale: Fraction) -> KnobSpace:
    """Return the space at a scale as if there were no full-size tree."""
    factor = float(scale)
    settings = with_families(ground.base.settings, spec.workload.column_families)
    selected = [k for k in catalogue.select(spec.knobs) if k.name not in spec.fixed]
    if spec.online is not None and (online := ENGINES[spec.engine].online) is not None:
        changeable, settings = online.space(selected, settings, ground.base)
        selected = list(changeable)
    load = {k.name: getattr(spec.workload, k.name) for k in selected if k.name in LOAD_KNOBS}
    started = _started(spec, catalogue, settings)
    base = {**catalogue.scaled(started, factor), **spec.fixed, **load}
    if ground.rule is not None and spec.sweep is None:  # users name the levels of an experiment
        selected = list(with_cores(selected, ground.rule.cores, base, catalogue.names))
    knobs = tuple(_ranged(spec, knob.scaled(factor), base) for knob in selected)
    if not (published := catalogue.is_published(spec.knobs)):
        knobs = tuple(k.with_round_values(base[k.name], factor) for k in knobs)
    starts = catalogue.advised(spec.knobs, sized=ground.rule is not None)
    advice = tuple(catalogue.scaled(start.settings, factor) for start in starts)
    codecs = None if ground.base.codecs is None else frozenset(ground.base.codecs)
    records = None if ground.rule is None else full_records(spec)
    memtables = None if published else _memtable_limit(spec, catalogue, base, factor)
    limit = MemoryLimit(0, memtables, records, catalogue.own_memory)
    limit_bytes = (
        limit.used(base, catalogue.names).total
        if spec.memory is None
        else parse_size(spec.memory, "memory")
    )
    limit = replace(limit, limit_bytes=limit_bytes)
    version = ground.rocksdb_version or USUAL_VERSION
    rules = catalogue.rules if published else _store_rules(spec, ground, catalogue)
    space = KnobSpace(
        knobs, base, ground.open_files, limit, advice, codecs, version,
        names=catalogue.names, rules=rules,
    )  # fmt: skip
    return space.fitted()


def _store_rules(spec: StudySettings, ground: Ground, catalogue: Catalogue) -> Rules:
    """Return the rules of an engine, and those of a store that exists.

    Experiments run the values that the user names. Online tuning opens no store again.
    """
    is_search = not (spec.screen or spec.sweep or spec.online)
    if spec.new_store or not is_search or ground.rule is None:
        return catalogue.rules
    more = existing_rules(one_way=bool(spec.one_way))
    return replace(catalogue.rules, refusals=(*catalogue.rules.refusals, *more))


def with_fitting_scale(spec: StudySettings, ground: Ground) -> tuple[StudySettings, str | None]:
    """Return the settings with a scale at which the baseline is exact, and a remark if it changed.

    UserError if the user gave a smaller scale.
    """
    if ground.rule is None:
        return spec, None
    catalogue = catalogue_in(spec, ground)
    settings = with_families(ground.base.settings, spec.workload.column_families)
    base = _started(spec, catalogue, settings)
    scale = spec.scale_value
    if (problem := _too_small(base, catalogue, scale)) is None:
        return spec, None
    if "scale" in spec.model_fields_set:
        raise UserError(f"scale: {problem}")
    fitting = str(_fitting_scale(base, catalogue, scale))
    return spec.model_copy(update={"scale": fitting}), f"trials run at scale {fitting}: {problem}"


def _too_small(base: Settings, catalogue: Catalogue, scale: Fraction) -> str | None:
    """Return why the baseline cannot be as small as the scale says; None if it can."""
    found = inexact(catalogue.knobs, base, scale)
    if found is None:
        return None
    knob, value = found
    least = format_bytes(knob.least or 1)
    small = format_bytes(float(scaled_value(knob, value, scale)))
    option = catalogue.names.option(knob.name)
    return (
        f"at {scale}, {option} = {value} of the baseline would be {small}, but the smallest "
        f"possible value is {least}; the smallest scale that works is "
        f"{_fitting_scale(base, catalogue, scale)}"
    )


def _fitting_scale(base: Settings, catalogue: Catalogue, scale: Fraction) -> Fraction:
    """Return the smallest power of 1/2 above the scale at which the baseline is exact."""
    fitting = Fraction(1)
    while fitting / 2 > scale and inexact(catalogue.knobs, base, fitting / 2) is None:
        fitting /= 2
    return fitting


def new_rule(spec: StudySettings, cores: int) -> SizeRule | None:
    """Return the rule of a new study; None for a published preset, and for full-size engines."""
    engine = ENGINES[spec.engine]
    is_published = engine.catalogue().is_published(spec.knobs)
    return None if is_published or engine.full_size else SizeRule(cores=cores)


def assumed_cache_bytes(spec: StudySettings, ground: Ground) -> int | None:
    """Return the size of the block cache that stands in for that of the user's OPTIONS file.

    None if the user gave the size, or no such file, or if the study has no rule of sizes.
    """
    if spec.base is None or spec.cache is not None or not ENGINES[spec.engine].assumes_cache:
        return None
    size = ground.base.settings.get(CACHE)
    return None if size is None or ground.rule is None else int(size)


def full_records(spec: StudySettings) -> Records | None:
    """Return the live records of the full-size tree; None if their number is unknown."""
    load = spec.workload
    if not isinstance(load.definition, workloads.Records):
        return None
    distinct = load.num if load.distinct_bytes is None else load.distinct_bytes / load.record_bytes
    count = float(distinct / spec.scale_value)
    return Records(count, load.key_size, load.value_size, load.definition.overwrites)


def catalogue_in(spec: StudySettings, ground: Ground) -> Catalogue:
    """Return the knobs that the baseline has, adapted to the study."""
    known = ground.catalogue.restricted(
        with_families(ground.base.settings, spec.workload.column_families)
    ).limited(ground.base.most)
    if (version := ground.rocksdb_version) is not None:
        known = known.of_version(version)
    return replace(known, knobs=tuple(_of_study(spec, ground, knob) for knob in known.knobs))


def preset_start(spec: StudySettings, ground: Ground) -> Settings:
    """Return the preset's changes to the baseline; none if the user gave a baseline."""
    return _preset_start(spec, catalogue_in(spec, ground))


def _preset_start(spec: StudySettings, catalogue: Catalogue) -> Settings:
    return catalogue.begun(spec.knobs) if spec.base is None else {}


def _started(spec: StudySettings, catalogue: Catalogue, settings: Settings) -> Settings:
    """Return the full-size settings of the baseline: with those of the preset, and the cache."""
    cache: Settings = {} if spec.cache_bytes is None else {CACHE: spec.cache_bytes}
    return {**settings, **_preset_start(spec, catalogue), **cache}


def _of_study(spec: StudySettings, ground: Ground, knob: Knob) -> Knob:
    """Return the knob for a study. Without a rule of sizes, only a given block cache scales."""
    if ground.rule is None and knob.name in (CACHE, _ROW_CACHE):
        knob = knob.model_copy(update={"scales": False})
    size = spec.cache_bytes
    if size is None and ground.rule is not None:
        size = int(ground.base.settings.get(CACHE) or 0)
    if knob.name != CACHE or not size:
        return knob
    low, high = size // _CACHE_BELOW, size * _CACHE_ABOVE
    return knob.model_copy(update={"scales": True, "default": size, "low": low, "high": high})


def _memtable_limit(
    spec: StudySettings, catalogue: Catalogue, base: Settings, scale: float
) -> int | None:
    """Return how many bytes memtables may hold; None for experiments."""
    written = spec.workload.written_bytes
    if written is None or spec.screen or spec.sweep or catalogue.own_memory is not None:
        return None
    return memtable_limit(base, written * scale / float(spec.scale_value), catalogue.names)


def _ranged(spec: StudySettings, knob: Knob, base: Settings) -> Knob:
    """Return the knob, its range widened around the value of a user's baseline."""
    own = spec.base is not None or ENGINES[spec.engine].base_is_users
    return knob.around(base[knob.name]) if own else knob


def full_memory(space: KnobSpace, config: Config, metrics: Metrics, scale: Fraction) -> float:
    """Return the memory of the full-size tree with a config, in bytes.

    A run of the config at that scale gave the metrics. Measured index and filter blocks grow with
    the tree; without a measurement, they are estimated.
    """
    found = space.full_memory(config)
    if _READERS not in metrics:
        return float(found.total)
    return found.memtables + found.caches + metrics[_READERS] / float(scale)


def memory_limits(spec: StudySettings, rule: SizeRule | None) -> tuple[Limit, ...]:
    """Return the limit on the measured memory of a new study; none for experiments."""
    if rule is None or spec.screen or spec.sweep or spec.online:
        return ()
    if spec.memory is None:
        return (Limit(MEMORY, "<=", _TOLERANCE, times_base=True),)
    return (Limit(MEMORY, "<=", _TOLERANCE * parse_size(spec.memory, "memory"), times_base=False),)


def rescaled(spaces: KnobSpaces, config: Config, scale: Fraction) -> Settings:
    """Return the settings of a config at another scale: sizes grow by one factor, the rest stays.

    UserError if a tree of that scale cannot have a value of the config.
    """
    here, there = spaces.at(), spaces.at(scale)
    if spaces.ground.rule is None:
        values = _grown(spaces, config, scale)
    else:
        values = here.at_full_size(config)
        values = values if there.full is None else there.full.down(values)
    known = {knob.name: values.get(knob.name, there.base[knob.name]) for knob in there.knobs}
    for knob in there.knobs:
        _check_possible(knob, known[knob.name], scale)
    return without_load(there.settings(known))


def _grown(spaces: KnobSpaces, config: Config, scale: Fraction) -> Settings:
    """Return the values of a published study's config; what is the baseline's stays so."""
    base, base_there = spaces.at().default(), spaces.at(scale).base
    growth = float(scale / spaces.spec.scale_value)
    grown = catalogue_in(spaces.spec, spaces.ground).scaled(config, growth)
    return {n: base_there[n] if config[n] == base[n] else value for n, value in grown.items()}


def _check_possible(knob: Knob, value: Value, scale: Fraction) -> None:
    """Raise UserError for a value below the least that the engine accepts."""
    if isinstance(value, (bool, str)) or knob.least is None or value in knob.special_values:
        return
    if knob.scales and value < knob.least:
        raise UserError(
            f"scale: {scale} is too small: {knob.name} would be {value}, but the smallest possible "
            f"value is {knob.least:.15g}; use a larger scale"
        )
