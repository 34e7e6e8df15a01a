"""The rules between RocksDB's options: what it silently changes, and what it refuses.

A *normalisation* does beforehand what RocksDB (or the tree) would make of the settings anyway,
so that no two trials measure the same thing. A *refusal* says why settings cannot be run.
The sources are those of RocksDB 7.8 and 11.8, and TiKV's for the rules of its own. Settings may
lack options: then the rules about them are skipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from lsmtune.knobs.families import families, lifted, view
from lsmtune.knobs.rules.base import Context, Normalisation, Refusal, applies, number
from lsmtune.knobs.rules.refused import REFUSALS
from lsmtune.knobs.rules.sanitised import SANITISED
from lsmtune.knobs.rules.silent import SILENT, unmet_conditions
from lsmtune.knobs.rules.tikv import TIKV
from lsmtune.knobs.types import Settings, Value
from lsmtune.units import format_bytes

__all__ = ["NORMALISATIONS", "Context", "MemoryLimit", "memory_bytes", "normalise", "refusals"]

NORMALISATIONS: tuple[Normalisation, ...] = (*SILENT, *SANITISED, *TIKV)
"""In the order in which they are applied: later ones see what earlier ones changed."""

_MANY = 64
"""The same few hundred names come by in the same order again and again."""
_MOST_ROUNDS = 5
"""One rule may give another something to do; no settings were seen that take more than three."""


def normalise(settings: Settings, context: Context) -> Settings:
    """The settings as the engine will really run them; the given ones are left alone."""
    normal = dict(settings)
    for family in families(settings):
        own = _normalised(view(normal, family), context.within(family))
        normal |= lifted(own, family, normal)
    return normal


def _normalised(settings: Settings, context: Context) -> Settings:
    normal = dict(settings)
    rules = _normalisations_of(tuple(normal))
    for _ in range(_MOST_ROUNDS):
        before = dict(normal)
        normal |= unmet_conditions(normal, context)
        for rule in rules:
            normal |= rule.apply(normal, context)
        if normal == before:
            break
    return normal


@lru_cache(maxsize=_MANY)
def _normalisations_of(names: tuple[str, ...]) -> tuple[Normalisation, ...]:
    return tuple(rule for rule in NORMALISATIONS if applies(rule, names))


@lru_cache(maxsize=_MANY)
def _refusals_of(names: tuple[str, ...]) -> tuple[Refusal, ...]:
    return tuple(rule for rule in REFUSALS if applies(rule, names))


def broken_rules(settings: Settings, context: Context) -> list[Refusal]:
    """The rules by which RocksDB would refuse the settings."""
    found: dict[tuple[str, ...], Refusal] = {}
    for family in families(settings):
        own, of_family = view(settings, family), context.within(family)
        for rule in _refusals_of(tuple(own)):
            if rule.broken(own, of_family):
                here = rule.within(family, settings)
                found.setdefault((rule.reason, *here.needs), here)  # the database's come once
    return list(found.values())


def refusals(settings: Settings, context: Context | None = None) -> list[str]:
    """Every reason why RocksDB would refuse the settings, each naming the options and values."""
    context = context or Context(settings, open_files=0)
    return [rule.told(settings) for rule in broken_rules(settings, context)]


def memory_bytes(settings: Mapping[str, Value]) -> int:
    """Memory that memtables, block cache and row cache may take together.

    db_write_buffer_size, where it is set, bounds the memtables of all column families; what is
    not told takes nothing.
    """
    memtables = sum(
        _bytes(own, "write_buffer_size") * _bytes(own, "max_write_buffer_number")
        for own in (view(settings, family) for family in families(settings))
    )
    whole = view(settings, None)
    if budget := _bytes(whole, "db_write_buffer_size"):
        memtables = min(memtables, budget)
    return memtables + _bytes(whole, "cache_size") + _bytes(whole, "row_cache_size")


def _bytes(settings: Mapping[str, Value], name: str) -> int:
    return int(number(settings, name)) if name in settings else 0


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memtables + caches <= `limit_bytes`, so that gains are not bought with memory."""

    limit_bytes: int

    def violation(self, settings: Settings) -> str | None:
        """What is wrong with the settings, or None."""
        used = memory_bytes(settings)
        if used <= self.limit_bytes:
            return None
        return (
            f"memtables (write_buffer_size x max_write_buffer_number) and caches take "
            f"{format_bytes(used)}, more than the memory limit of {format_bytes(self.limit_bytes)}"
        )
