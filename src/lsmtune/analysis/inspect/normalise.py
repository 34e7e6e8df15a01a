"""Options of files as RocksDB runs them: a LOG has them after these changes, a file before.

The changes are those of SanitizeOptions in db/column_family.cc (in newer versions
SanitizeCfOptions) and in db/db_impl/db_impl_open.cc, and of InitializeOptions in
table/block_based/block_based_table_factory.cc; knobs/rules/sanitised.py names the function of each.
"""

from collections.abc import Mapping
from functools import cache

from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.knobs.knob_files import rocksdb_knobs
from lsmtune.knobs.option_names import SECTIONS, STRUCTS, enumerator
from lsmtune.knobs.option_text import DERIVED, read_value, statements, struct_fields
from lsmtune.knobs.rules.base import Context, applies
from lsmtune.knobs.rules.sanitised import SANITISED
from lsmtune.knobs.types import Knob, Settings

_OF_THE_MACHINE = {"open_files"}
"""Knobs whose value depends on the machine that opens the database."""
_RULES = tuple(rule for rule in SANITISED if not {*rule.needs} & {*_OF_THE_MACHINE, *DERIVED})
_PLAIN = ("plain", "label")
_OF_RULES = frozenset(name for rule in _RULES for name in rule.needs)
_ANY = Context(base={}, open_files=0)


def normalised(
    options: Mapping[str, Mapping[str, str]], version: str | None
) -> dict[str, dict[str, str]]:
    """Return the options of a file as RocksDB changes them when it opens the database.

    Fields of a struct also come as `option.field`, as in a LOG. If the version is unknown, only
    changes that all versions make are made.
    """
    database = options.get("", {})
    found = {scope: _with_fields(told) for scope, told in options.items()}
    for family in [scope for scope in options if scope]:
        own = found[family]
        for name, text in _changes({**database, **own}, version).items():
            scope = found.setdefault("", {}) if name in database and name not in own else own
            scope[name] = text
    return found


def _with_fields(told: Mapping[str, str]) -> dict[str, str]:
    found = dict(told)
    for name in STRUCTS:
        fields = struct_fields(told.get(name, "")) or {}
        found |= {f"{name}.{field}": value for field, value in fields.items()}
    return found


def _changes(told: Mapping[str, str], version: str | None) -> dict[str, str]:
    """Return the options of one family that RocksDB changes, with their new texts."""
    texts = {name: enumerator(name, text) for name, text in told.items()}
    sections = {_place(section): texts for section in SECTIONS}
    before = {
        knob.name: value for knob in _knobs() if (value := read_value(knob, sections)) is not None
    }
    after = dict(before)
    for rule in _RULES:
        if version is None and (rule.since or rule.until):
            continue
        if applies(rule, after, version or ""):
            after |= rule.apply(after, _ANY)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    written = statements(_knobs(), changed, sections)
    return {key: text for (_, key), text in written.items()} | _derived(texts, after)


def _derived(texts: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Return the options that RocksDB computes from others where a file leaves them at 0."""
    return {
        name: str(derive(leader))
        for name, (source, derive) in DERIVED.items()
        if texts.get(name) == "0" and isinstance(leader := settings.get(source), int)
    }


def _place(section: str) -> str:
    return section if section == SECTIONS[0] else f'{section} "{DEFAULT_FAMILY}"'


@cache
def _knobs() -> tuple[Knob, ...]:
    wanted = {*_OF_RULES, *(source for source, _ in DERIVED.values())}
    known = (knob for knob in rocksdb_knobs() if knob.name in wanted)
    return tuple(knob for knob in known if knob.option and knob.option.form in _PLAIN)
