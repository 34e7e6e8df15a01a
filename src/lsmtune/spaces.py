"""The knob space of a study: its knobs around its baseline, at one scale."""

from dataclasses import replace
from fractions import Fraction

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.constraints import MemoryLimit, memory_bytes, memtable_limit
from lsmtune.knobs.families import with_families
from lsmtune.knobs.rules.base import USUAL_VERSION
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Knob, Settings
from lsmtune.spec import LOAD_KNOBS, Ground, StudySpec
from lsmtune.spec_defaults import for_online
from lsmtune.units import parse_size
from lsmtune.workloads.operations import written_bytes

_CACHE_BELOW, _CACHE_ABOVE = 16, 4
"""The block cache is searched from 1/16 to 4 times the given size."""


def knob_space(spec: StudySpec, ground: Ground, scale: Fraction | None = None) -> KnobSpace:
    """Return the knob space around the baseline, at the study's scale or another.

    Raises UserError if the knobs or the memory limit do not fit.
    """
    factor, catalogue = float(scale or spec.scale_value), catalogue_in(spec, ground)
    cache: Settings = {} if spec.cache_bytes is None else {"cache_size": spec.cache_bytes}
    settings = with_families(ground.base.settings, spec.workload.column_families)
    selected = [k for k in catalogue.select(spec.knobs) if k.name not in spec.fixed]
    if spec.online is not None and spec.engine == "rocksdb":
        selected, settings = for_online(selected, settings, ground.base)
    load = {k.name: getattr(spec.workload, k.name) for k in selected if k.name in LOAD_KNOBS}
    scaled = catalogue.scaled({**settings, **preset_start(spec, ground), **cache}, factor)
    base = {**scaled, **spec.fixed, **load}
    knobs = tuple(_ranged(spec, knob.scaled(factor), base) for knob in selected)
    if not (published := catalogue.is_published(spec.knobs)):
        knobs = tuple(k.with_round_values(base[k.name], factor) for k in knobs)
    memory = memory_bytes(base) if spec.memory is None else parse_size(spec.memory, "memory")
    starts = catalogue.advised(spec.knobs)
    advice = tuple(catalogue.scaled(start.settings, factor) for start in starts)
    codecs = None if ground.base.codecs is None else frozenset(ground.base.codecs)
    limit = MemoryLimit(memory, None if published else _memtable_limit(spec, base, factor))
    version = ground.rocksdb_version or USUAL_VERSION
    space = KnobSpace(knobs, base, ground.open_files, limit, advice, codecs, version)
    return space.fitted()


def catalogue_in(spec: StudySpec, ground: Ground) -> Catalogue:
    """Return the knobs that the baseline has, adapted to the study."""
    known = ground.catalogue.restricted(
        with_families(ground.base.settings, spec.workload.column_families)
    ).limited(ground.base.most)
    if (version := ground.rocksdb_version) is not None:
        known = known.of_version(version)
    return replace(known, knobs=tuple(_of_study(spec, knob) for knob in known.knobs))


def preset_start(spec: StudySpec, ground: Ground) -> Settings:
    """Return the preset's changes to the baseline; none if the user gave a baseline."""
    return catalogue_in(spec, ground).begun(spec.knobs) if spec.base is None else {}


def _of_study(spec: StudySpec, knob: Knob) -> Knob:
    """Return the knob for a study: a given block cache scales with the tree."""
    if knob.name != "cache_size" or (size := spec.cache_bytes) is None:
        return knob
    low, high = size // _CACHE_BELOW, size * _CACHE_ABOVE
    return knob.model_copy(update={"scales": True, "default": size, "low": low, "high": high})


def _memtable_limit(spec: StudySpec, base: Settings, scale: float) -> int | None:
    """Return how many bytes memtables may hold; None for experiments."""
    written = written_bytes(spec.workload)
    if written is None or spec.screen or spec.sweep:
        return None
    return memtable_limit(base, written * scale / float(spec.scale_value))


def _ranged(spec: StudySpec, knob: Knob, base: Settings) -> Knob:
    """Return the knob, its range widened around the value of a user's baseline."""
    own = spec.base is not None or spec.engine == "tikv"
    return knob.around(base[knob.name]) if own else knob
