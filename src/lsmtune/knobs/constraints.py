"""Rules between RocksDB's options: what it silently changes, and what it refuses.

A *normalisation* changes settings in advance as RocksDB would, so that no two trials measure the
same config. A *refusal* is the reason why settings cannot run. The rules follow the sources of
RocksDB 6.29 to 11.8, and those of TiKV. A rule is skipped if the settings lack one of its options,
and in versions of RocksDB that do not have the rule.
"""

from functools import lru_cache

from lsmtune.knobs.families import families, lifted, view
from lsmtune.knobs.rules.base import Context, Normalisation, Refusal, applies
from lsmtune.knobs.rules.refused import REFUSALS
from lsmtune.knobs.rules.sanitised import SANITISED
from lsmtune.knobs.rules.silent import SILENT, unmet_conditions
from lsmtune.knobs.rules.tikv import TIKV
from lsmtune.knobs.types import Settings

__all__ = ["NORMALISATIONS", "Context", "broken_rules", "normalise", "refusals"]

NORMALISATIONS: tuple[Normalisation, ...] = (*SILENT, *SANITISED, *TIKV)
"""In the order in which they are applied: later ones see what earlier ones changed."""

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
