"""Rules between RocksDB's options: what it silently changes, and what it refuses.

A *normalisation* changes settings in advance as RocksDB would, so that no two trials measure the
same config. A *refusal* is the reason why settings cannot run. The rules follow the sources of
RocksDB 6.29 to 11.8, and those of TiKV. A rule is skipped if the settings lack one of its options,
and in versions of RocksDB that do not have the rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from lsmtune.knobs.families import families, lifted, option_name, view
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

FEWEST_FLUSHES = 8
"""Minimum number of flushes with which write amplification can be measured."""

_MANY = 64
"""Size of the cache: the same lists of a few hundred names occur again and again."""
_MOST_ROUNDS = 5
"""Maximum number of rounds: a rule may trigger another one; three rounds were always enough."""


def normalise(settings: Settings, context: Context) -> Settings:
    """Return the settings as the engine will run them; the argument is not changed."""
    normal = dict(settings)
    for family in families(settings):
        own = _normalised(view(normal, family), context.within(family))
        normal |= lifted(own, family, normal)
    return normal


def _normalised(settings: Settings, context: Context) -> Settings:
    normal = dict(settings)
    rules = _normalisations_of(tuple(normal), context.version)
    for _ in range(_MOST_ROUNDS):
        before = dict(normal)
        normal |= unmet_conditions(normal, context)
        for rule in rules:
            normal |= rule.apply(normal, context)
        if normal == before:
            break
    return normal


@lru_cache(maxsize=_MANY)
def _normalisations_of(names: tuple[str, ...], version: str) -> tuple[Normalisation, ...]:
    return tuple(rule for rule in NORMALISATIONS if applies(rule, names, version))


@lru_cache(maxsize=_MANY)
def _refusals_of(names: tuple[str, ...], version: str) -> tuple[Refusal, ...]:
    return tuple(rule for rule in REFUSALS if applies(rule, names, version))


def broken_rules(settings: Settings, context: Context) -> list[Refusal]:
    """Return the rules by which RocksDB would refuse the settings."""
    found: dict[tuple[str, ...], Refusal] = {}
    for family in families(settings):
        own, of_family = view(settings, family), context.within(family)
        for rule in _refusals_of(tuple(own), context.version):
            if rule.broken(own, of_family):
                here = rule.within(family, settings)
                found.setdefault((rule.reason, *here.needs), here)  # the database's come once
    return list(found.values())


def refusals(settings: Settings, context: Context | None = None) -> list[str]:
    """Return all reasons why RocksDB would refuse the settings, with options and values."""
    context = context or Context(settings, open_files=0)
    return [rule.told(settings) for rule in broken_rules(settings, context)]


def memory_bytes(settings: Mapping[str, Value]) -> int:
    """Return the maximum memory of memtables, block cache and row cache together.

    Missing options take no memory.
    """
    whole = view(_of_memory(settings), None)
    return memtable_bytes(settings) + sum(_bytes(whole, name) for name in _CACHES)


def memtable_bytes(settings: Mapping[str, Value]) -> int:
    """Return the maximum memory of the memtables of all column families.

    db_write_buffer_size, if set, limits them together. Missing options take no memory.
    """
    memory = _of_memory(settings)
    memtables = sum(
        _bytes(own, "write_buffer_size") * _bytes(own, "max_write_buffer_number")
        for own in (view(memory, family) for family in families(settings))
    )
    budget = _bytes(view(memory, None), "db_write_buffer_size")
    return min(memtables, budget) if budget else memtables


def memtable_limit(base: Settings, written_bytes: float) -> int:
    """Return how many bytes the memtables of a config may hold.

    It is 1/8 of the bytes that the workload writes, and at least the memtables of the baseline.
    """
    return max(int(written_bytes / FEWEST_FLUSHES), memtable_bytes(base))


_CACHES = ("cache_size", "row_cache_size")
_MEMORY = (*_CACHES, "write_buffer_size", "max_write_buffer_number", "db_write_buffer_size")


def _of_memory(settings: Mapping[str, Value]) -> Settings:
    """The few options that take memory: a view of all the others would cost most of the time."""
    return {name: settings[name] for name in _memory_names(tuple(settings))}


@lru_cache(maxsize=_MANY)
def _memory_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if option_name(name) in _MEMORY)


def _bytes(settings: Mapping[str, Value], name: str) -> int:
    return int(number(settings, name)) if name in settings else 0


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memory limit: memtables and caches take at most `limit_bytes`.

    `memtables`, if given, limits the memtables alone: if they hold a large part of the written
    bytes, a short run never flushes them, and its write amplification means nothing.
    """

    limit_bytes: int
    memtables: int | None = None

    def excess(self, settings: Settings, option: str) -> int:
        """Return by how many bytes the settings exceed the limits on a memory option."""
        over = memory_bytes(settings) - self.limit_bytes
        if option in _CACHES or self.memtables is None:
            return over
        return max(over, memtable_bytes(settings) - self.memtables)

    def violation(self, settings: Settings) -> str | None:
        """Return the message if the settings exceed a limit, or None."""
        memtables = memtable_bytes(settings)
        if self.memtables is not None and memtables > self.memtables:
            return (
                f"memtables (write_buffer_size x max_write_buffer_number) hold "
                f"{format_bytes(memtables)}, but at most {format_bytes(self.memtables)} are "
                f"allowed: the workload must fill its memtables {FEWEST_FLUSHES} times"
            )
        used = memory_bytes(settings)
        if used <= self.limit_bytes:
            return None
        return (
            f"memtables (write_buffer_size x max_write_buffer_number) and caches need "
            f"{format_bytes(used)}, but the memory limit is {format_bytes(self.limit_bytes)}"
        )
