"""Options that RocksDB changes without an error."""

from lsmtune.knobs.option_text import struct_fields
from lsmtune.metrics.options_file import parse_options

_CLASS = "id"
"""The field of a struct that names a class; older versions write only the name."""


def silently_changed(given: str, as_run: str) -> tuple[str, ...]:
    """Return each option that runs with another value, as "NAME = VALUE: REASON".

    `given` is the OPTIONS text that RocksDB got, `as_run` the one that it wrote after it opened a
    database.
    """
    ran = parse_options(as_run)
    who = f"RocksDB {ran.rocksdb_version}"
    return tuple(
        f"{key} = {text}: {who} changes this value to {found}"
        for section, options in parse_options(given).sections.items()
        for key, text in options.items()
        if (found := ran.sections.get(section, {}).get(key)) is not None
        and not _is_same(text, found)
    )


def _is_same(given: str, found: str) -> bool:
    """Return whether two texts are the same value. Fields that only one version has are equal."""
    if given == found or _number(given) == _number(found) is not None:
        return True
    wanted, ran = struct_fields(given), struct_fields(found)
    if wanted is None and ran is None:
        return False
    wanted, ran = wanted or {_CLASS: given}, ran or {_CLASS: found}
    return all(_is_same(wanted[name], ran[name]) for name in wanted.keys() & ran.keys())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
