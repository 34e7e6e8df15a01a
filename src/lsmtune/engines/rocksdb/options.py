"""OPTIONS texts: the base that trials start from, and the file that each one runs with."""

import re
from collections.abc import Mapping

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DEFAULT_FAMILY, FAMILY_SECTIONS
from lsmtune.knobs.option_text import (
    DERIVED,
    Sections,
    derived_arena_block_size,
    derived_max_compaction_bytes,
    read_value,
    statements,
    struct_fields,
)
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import OptionsFile, parse_options, replace_options

_DATABASE = "DBOptions"
_UNDERSTOOD = {
    "table_factory": (re.compile("BlockBasedTable"), "db_bench is run with block-based tables"),
    "prefix_extractor": (
        re.compile(r"nullptr|(rocksdb\.)?(FixedPrefix|CappedPrefix|fixed|capped)[.:]\d+"),
        "it belongs to the application",
    ),
    "memtable_factory": (
        re.compile(r"(SkipListFactory|VectorRepFactory|skip_list|vector)(:\d+)?"),
        "it belongs to the application",
    ),
}
"""What this db_bench understands of options that may name a class, and what others are."""

_NOT_TAKEN = {
    "wal_dir": "trials keep their log beside their data",
    "db_log_dir": "trials keep their log beside their data",
    "db_paths": "trials stay in their own folder",
    "cf_paths": "trials stay in their own folder",
    "env": "only the store itself is run",
    "listeners": "only the store itself is run",
    "wal_filter": "only the store itself is run",
    "comparator": "db_bench orders its keys by their bytes",
    "merge_operator": "db_bench writes no merges",
    "compaction_filter": "it belongs to the application",
    "compaction_filter_factory": "it belongs to the application",
    "sst_partitioner_factory": "it belongs to the application",
    "table_properties_collectors": "it belongs to the application",
    "file_checksum_gen_factory": "it belongs to the application",
    "memtable_insert_with_hint_prefix_extractor": "it belongs to the application",
    "flush_block_policy_factory": "it belongs to the application",
    "block_cache": "its size is given with the study",
    "block_cache_compressed": "only the store itself is run",
    "persistent_cache": "only the store itself is run",
    "row_cache": "its size is a knob of its own",
    "rate_limiter": "its rate is a knob of its own",
    "create_if_missing": "",
    "create_missing_column_families": "",
    "error_if_exists": "",
    "fail_if_options_file_error": "",
    "disable_auto_compactions": "compactions run unless a trial's own knob says otherwise",
}
"""Options of a user's file that a trial must not run with, and why; "" needs no word."""


def own_options(text: str) -> str:
    """db_bench's own OPTIONS without what it had made of itself: values that follow from others.

    RocksDB writes down the arena and the largest compaction as computed from the sizes of
    memtables and files (db/column_family.cc); 0 lets it compute them anew for other sizes. Its
    listener would be there twice, and stays out.
    """
    sections = parse_options(text).sections
    family = f'CFOptions "{DEFAULT_FAMILY}"'
    changes = {(family, key): "0" for key in DERIVED}
    present = {place: "0" for place in changes if place[1] in sections.get(family, {})}
    if "listeners" in sections.get(_DATABASE, {}):
        present[_DATABASE, "listeners"] = "{}"
    return replace_options(text, present)


def merged_options(own: str, given: OptionsFile, family: str) -> tuple[str, list[str]]:
    """db_bench's own OPTIONS with the values of the user's family, and what was not taken.

    UserError when the file has no such family.
    """
    present = parse_options(own).sections
    if f'CFOptions "{family}"' not in given.sections:
        names = [name for name in given.sections if name.startswith("CFOptions ")]
        raise UserError(f"it has no column family {family!r}; it has {', '.join(names)}")
    changes: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    for theirs, ours in _sections(family):
        for key, text in _derived_as_zero(given.sections.get(theirs, {})).items():
            reason = _refusal(key, text, present.get(ours, {}))
            if reason is None:
                changes[ours, key] = _known_fields(text, present[ours][key])
            elif reason and text != present.get(ours, {}).get(key):
                notes.append(f"{key} = {text} is not taken over: {reason}")
    return replace_options(own, changes), notes


def _known_fields(theirs: str, ours: str) -> str:
    """Their text; of a struct only the fields that this RocksDB has, its own for the rest."""
    known, told = struct_fields(ours), struct_fields(theirs)
    if known is None or told is None:
        return theirs
    fields = {name: told.get(name, text) for name, text in known.items()}
    return "{" + "".join(f"{name}={text};" for name, text in fields.items()) + "}"


def _sections(family: str) -> list[tuple[str, str]]:
    """Each section of the user's file, and the section of ours that takes it."""
    families = [(f'{name} "{family}"', f'{name} "{DEFAULT_FAMILY}"') for name in FAMILY_SECTIONS]
    return [(_DATABASE, _DATABASE), *families]


def _refusal(key: str, text: str, present: Mapping[str, str]) -> str | None:
    """Why the option is left out, "" where that needs no word; None where it is taken."""
    if key in _NOT_TAKEN:
        return "" if text in ("", "nullptr", "{}") else _NOT_TAKEN[key]
    if key not in present:
        return "this RocksDB has no such option"
    if key == "format_version" and _int(text) > _int(present[key]):
        return "the tables are written in the format of this RocksDB"
    pattern, reason = _UNDERSTOOD.get(key, (re.compile(".*"), ""))
    return None if pattern.fullmatch(text) else reason


def _derived_as_zero(options: Mapping[str, str]) -> dict[str, str]:
    """The options with 0 for those that RocksDB has computed from others."""
    found = dict(options)
    memtable, target = (_int(found.get(k)) for k in ("write_buffer_size", "target_file_size_base"))
    # Old versions had an eighth of the memtable as it is, however large.
    arenas = (derived_arena_block_size(memtable), memtable // 8)
    if memtable and _int(found.get("arena_block_size")) in arenas:
        found["arena_block_size"] = "0"
    largest = derived_max_compaction_bytes(target)
    if target and _int(found.get("max_compaction_bytes")) == largest:
        found["max_compaction_bytes"] = "0"
    return found


def _int(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0


def read_settings(catalogue: Catalogue, options: str) -> Settings:
    """The value of every knob that the OPTIONS text has, flags at db_bench's defaults."""
    return settings_in(catalogue, parse_options(options).sections)


def settings_in(catalogue: Catalogue, sections: Sections) -> Settings:
    """As `read_settings`, of a text that is parsed."""
    found: Settings = {}
    for knob in catalogue.knobs:
        value = knob.default if knob.option is None else read_value(knob, sections)
        if value is not None:
            found[knob.name] = value
    return found


def rendered_options(
    catalogue: Catalogue, base: str, settings: Settings, *, compactions: bool = True
) -> str:
    """The base's OPTIONS with the settings in it; without compactions for a tree to be read."""
    sections = parse_options(base).sections
    knobs = [knob for knob in catalogue.knobs if knob.name in settings]
    changes = statements(knobs, settings, sections)
    if not compactions:
        changes[f'CFOptions "{DEFAULT_FAMILY}"', "disable_auto_compactions"] = "true"
    return replace_options(base, changes)
