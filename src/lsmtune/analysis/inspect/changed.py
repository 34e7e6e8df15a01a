"""Which options of a LOG are not at the defaults of its version."""

import re
from collections.abc import Mapping

from lsmtune.analysis.inspect.inspection import ChangedOption
from lsmtune.knobs.defaults import Default, defaults_of, differs, is_address
from lsmtune.knobs.option_text import DERIVED, derived_values, struct_fields

BY_LEVEL = "compression["
"""Codecs by level are printed one a line, `compression[0]` first, instead of `compression`."""

_MOST_DIGITS = 20
_OF_EVERY_PLACE = frozenset({
    "error_if_exists", "create_if_missing", "create_missing_column_families", "wal_dir",
    "db_log_dir", "db_host_id", "statistics", "stats_dump_period_sec", "fs",
})  # fmt: skip
"""They say where and how a database is opened, not how it works."""
_NEUTRAL = frozenset({"", "nullptr", "None", "none", "(nil)", "{}", "Unknown", "kUnknown"})
"""Values that set nothing."""
_USUAL_CODEC = {
    "checksum": ("false", "0"), "enabled": ("false", "0"), "level": ("32767",),
    "max_compressed_bytes_per_kb": ("896",), "max_dict_buffer_bytes": ("0",),
    "max_dict_bytes": ("0",), "parallel_threads": ("1",), "strategy": ("0",),
    "use_zstd_dict_trainer": ("true", "1"), "window_bits": ("-14",), "zstd_max_train_bytes": ("0",),
}  # fmt: skip
_USUAL: dict[str, tuple[str, ...]] = {
    **{
        f"{which}_compression_opts.{field}": values
        for which in ("bottommost", "blob")
        for field, values in _USUAL_CODEC.items()
    },
    "allow_os_buffer": ("true", "1"),
    "block_cache_name": ("LRUCache",),
    "block_cache_size": ("8388608",),
    "comparator": ("leveldb.BytewiseComparator",),
    "disableDataSync": ("false", "0"),
    "disable_data_sync": ("false", "0"),
    "high_pri_pool_ratio": ("0.000", "0.500"),
    "info_log_level": ("INFO_LEVEL", "DEBUG_LEVEL"),
    "low_pri_pool_ratio": ("0.000",),
    "min_partial_merge_operands": ("2",),
    "num_shard_bits": ("4", "6", "-1"),
    "skip_table_builder_flush": ("false", "0"),
    "sst_file_manager.rate_bytes_per_sec": ("0",),
    "strict_capacity_limit": ("0", "false"),
    "table_factory": ("BlockBasedTable",),
    "verify_checksums_in_compaction": ("true", "1"),
}
"""Values of a store that sets nothing, of options whose defaults are not in RocksDB's headers."""
_ADDITIONAL = re.compile(r"max_bytes_for_level_multiplier_addtl\[\d+\]|"
                         "max_bytes_for_level_multiplier_additional")  # fmt: skip
_ALL_ONE = re.compile(r"1(?::1)*")
_POLICY = "flush_block_policy_factory"


def changed_options(
    version: str, options: Mapping[str, Mapping[str, str]]
) -> dict[str, ChangedOption]:
    """The changed options by name, `family.name` where column families do not agree.

    Options whose default is unknown are among them, unless they have a value that sets nothing.
    """
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
    told = _with_fields(told, defaults)
    return {
        name: ChangedOption(text, _text(defaults[name].value) if name in defaults else None)
        for name, text in told.items()
        if name not in _OF_EVERY_PLACE
        and not is_address(text)
        and not (_derived(name, text, told) if name in defaults else _sets_nothing(name, text))
        and (name not in defaults or differs(name, text, defaults[name]))
    }


def _with_fields(told: Mapping[str, str], defaults: Mapping[str, Default]) -> dict[str, str]:
    """Return the options with structures as single fields, of those with known defaults."""
    found: dict[str, str] = {}
    for name, text in told.items():
        fields = struct_fields(text) if text.startswith("{") and name not in defaults else None
        if fields is None:
            found[name] = text
            continue
        known = {f"{name}.{field}": value for field, value in fields.items()}
        found |= {field: value for field, value in known.items() if field in defaults}
    return found


def _sets_nothing(name: str, text: str) -> bool:
    """Whether an option without a known default has a value that sets nothing."""
    if text in _NEUTRAL or text in _USUAL.get(name, ()) or name.startswith(BY_LEVEL):
        return True
    if _ADDITIONAL.fullmatch(name):
        return _ALL_ONE.fullmatch(text) is not None
    return name == _POLICY and text.startswith("FlushBlockBySizePolicyFactory")


def _derived(name: str, text: str, told: Mapping[str, str]) -> bool:
    """Whether RocksDB made the value of another option by itself."""
    if name not in DERIVED:
        return False
    leader = told.get(DERIVED[name][0], "")
    is_number = leader.isdecimal() and len(leader) <= _MOST_DIGITS
    return is_number and text in map(str, derived_values(name, int(leader)))


def _text(value: bool | float | str) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
