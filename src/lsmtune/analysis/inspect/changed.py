"""Which options of a LOG are not at the defaults of its version."""

from collections.abc import Mapping

from lsmtune.analysis.inspect.inspection import ChangedOption
from lsmtune.knobs.defaults import Default, defaults_of, differs, is_address
from lsmtune.knobs.option_text import DERIVED, derived_values

BY_LEVEL = "compression["
"""Codecs by level are printed one a line, `compression[0]` first, instead of `compression`."""

_MOST_DIGITS = 20
_OF_EVERY_PLACE = frozenset({
    "error_if_exists", "create_if_missing", "create_missing_column_families", "wal_dir",
    "db_log_dir", "db_host_id", "statistics", "stats_dump_period_sec",
})  # fmt: skip
"""They say where and how a database is opened, not how it works."""


def changed_options(
    version: str, options: Mapping[str, Mapping[str, str]]
) -> dict[str, ChangedOption]:
    """The changed options by name, `family.name` where column families do not agree."""
    defaults = defaults_of(version)
    families = {name: told for name, told in options.items() if name}
    found = _changed(options.get("", {}), defaults)
    by_family = {name: _changed(told, defaults) for name, told in families.items()}
    for family, changes in by_family.items():
        for name, change in changes.items():
            alike = all(told.get(name) == change for told in by_family.values())
            found[name if alike else f"{family}.{name}"] = change
    return found


def grouped(
    changed: Mapping[str, ChangedOption], options: Mapping[str, Mapping[str, str]]
) -> list[tuple[tuple[str, ...], dict[str, ChangedOption]]]:
    """Return the changed options by the column families that have the same change.

    Options of the database, and of all families, are first, without a family.
    """
    families: dict[tuple[str, ChangedOption], list[str]] = {}
    of_one = set()
    for family, told in options.items():
        for name in (*told, "compression") if family else ():
            key = f"{family}.{name}"
            if key in changed and key not in of_one:
                of_one.add(key)
                families.setdefault((name, changed[key]), []).append(family)
    groups: dict[tuple[str, ...], dict[str, ChangedOption]] = {}
    if common := {name: change for name, change in changed.items() if name not in of_one}:
        groups[()] = common
    for (name, change), names in families.items():
        groups.setdefault(tuple(names), {})[name] = change
    return list(groups.items())


def _changed(told: Mapping[str, str], defaults: Mapping[str, Default]) -> dict[str, ChangedOption]:
    by_level = [told[name] for name in told if name.startswith(BY_LEVEL)]
    if by_level:
        told = {**told, "compression": ":".join(by_level)}
    return {
        name: ChangedOption(text, _text(defaults[name].value))
        for name, text in told.items()
        if name in defaults
        and name not in _OF_EVERY_PLACE
        and not is_address(text)
        and differs(name, text, defaults[name])
        and not _derived(name, text, told)
    }


def _derived(name: str, text: str, told: Mapping[str, str]) -> bool:
    """Whether RocksDB made the value of another option by itself."""
    if name not in DERIVED:
        return False
    leader = told.get(DERIVED[name][0], "")
    is_number = leader.isdecimal() and len(leader) <= _MOST_DIGITS
    return is_number and text in map(str, derived_values(name, int(leader)))


def _text(value: bool | float | str) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
