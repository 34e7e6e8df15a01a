"""The rules between options at work: what is silently changed, and what is refused.

A *normalisation* changes settings in advance as the engine would, so that no two trials measure
the same config. A *refusal* is the reason why settings cannot run. RocksDB's rules follow the
sources of RocksDB 6.29 to 11.8; other engines bring their own. A rule is skipped if the settings
lack one of its options, and in versions of RocksDB that do not have the rule.
"""

from functools import lru_cache

from lsmtune.knobs.rules.base import Context, Normalisation, Refusal, Rules, applies
from lsmtune.knobs.rules.refused import REFUSALS
from lsmtune.knobs.rules.sanitised import SANITISED
from lsmtune.knobs.rules.silent import SILENT, unmet_conditions
from lsmtune.knobs.types import Settings

__all__ = ["ROCKSDB_RULES", "Context", "broken_rules", "normalise", "refusals"]

ROCKSDB_RULES = Rules((*SILENT, *SANITISED), REFUSALS)
"""RocksDB's rules."""

_MANY = 64
"""Size of the cache: the same lists of a few hundred names occur again and again."""
_MOST_ROUNDS = 5
"""Maximum number of rounds: a rule may trigger another one; three rounds were always enough."""


def normalise(settings: Settings, context: Context, rules: Rules = ROCKSDB_RULES) -> Settings:
    """Return the settings as the engine will run them; the argument is not changed."""
    normal, names = dict(settings), context.names
    for family in names.families(settings):
        own = _normalised(names.view(normal, family), context.within(family), rules)
        normal |= names.lifted(own, family, normal)
    return normal


def _normalised(settings: Settings, context: Context, rules: Rules) -> Settings:
    normal = dict(settings)
    applying = _normalisations_of(rules, tuple(normal), context.version)
    for _ in range(_MOST_ROUNDS):
        before = dict(normal)
        normal |= unmet_conditions(normal, context)
        for rule in applying:
            normal |= rule.apply(normal, context)
        if normal == before:
            break
    return normal


@lru_cache(maxsize=_MANY)
def _normalisations_of(
    rules: Rules, names: tuple[str, ...], version: str
) -> tuple[Normalisation, ...]:
    return tuple(rule for rule in rules.normalisations if applies(rule, names, version))


@lru_cache(maxsize=_MANY)
def _refusals_of(rules: Rules, names: tuple[str, ...], version: str) -> tuple[Refusal, ...]:
    return tuple(rule for rule in rules.refusals if applies(rule, names, version))


def broken_rules(
    settings: Settings, context: Context, rules: Rules = ROCKSDB_RULES
) -> list[Refusal]:
    """Return the rules by which the engine would refuse the settings."""
    found: dict[tuple[str, ...], Refusal] = {}
    names = context.names
    for family in names.families(settings):
        own, of_family = names.view(settings, family), context.within(family)
        for rule in _refusals_of(rules, tuple(own), context.version):
            if rule.broken(own, of_family):
                here = rule.within(family, settings, names)
                found.setdefault((rule.reason, *here.needs), here)  # the database's come once
    return list(found.values())


def refusals(
    settings: Settings, context: Context | None = None, rules: Rules = ROCKSDB_RULES
) -> list[str]:
    """Return all reasons why the engine would refuse the settings, with options and values."""
    context = context or Context(settings, open_files=0)
    return [rule.told(settings) for rule in broken_rules(settings, context, rules)]
