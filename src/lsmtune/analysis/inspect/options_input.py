"""Options alone: an OPTIONS file, an options string, or a file of MyRocks, TiKV or ArangoDB."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.families import DATABASE_SECTION, DEFAULT_FAMILY
from lsmtune.knobs.my_cnf import server_variables
from lsmtune.knobs.option_files import file_kind
from lsmtune.knobs.option_names import section_of
from lsmtune.knobs.option_text import struct_fields, whole_number
from lsmtune.knobs.options_string import (
    OptionsString,
    fields_of,
    in_bytes,
    parse_options_string,
    unknown_notes,
)
from lsmtune.knobs.tikv_toml import parse_file, size_of
from lsmtune.metrics.options_file import COMMA_NOTE, in_decimal_points, parse_options

_SECTION = re.compile(
    r'(?P<kind>DBOptions|CFOptions|TableOptions/BlockBasedTable)(?: "(?P<of>.*)")?'
)
_FAMILIES_OF_TIKV = {"defaultcf": "default", "writecf": "write", "lockcf": "lock", "raftcf": "raft"}
_WHOLE_NAMES_OF_TIKV = ("storage", "raftstore", "raftdb")
"""Tables of TiKV that are not RocksDB's options of the store: their keys keep their names."""
_OF_ARANGODB = {
    "block_cache_size": "block_cache_capacity",
    "bloom_filter_bits_per_key": "filter_policy",
    "compaction_read_ahead_size": "compaction_readahead_size",
    "dynamic_level_bytes": "level_compaction_dynamic_level_bytes",
    "enforce_block_cache_size_limit": "strict_capacity_limit",
    "level0_compaction_trigger": "level0_file_num_compaction_trigger",
    "level0_slowdown_trigger": "level0_slowdown_writes_trigger",
    "level0_stop_trigger": "level0_stop_writes_trigger",
    "table_block_size": "block_size",
    "total_write_buffer_size": "db_write_buffer_size",
}
"""Keys of ArangoDB's section [rocksdb], with underscores, that RocksDB calls something else."""
_ARANGODB_SECTION = re.compile(r"^[ \t]*\[rocksdb\]([^\[]*)", re.MULTILINE)
_ARANGODB_KEY = re.compile(r"^[ \t]*([a-z][a-z0-9-]*)[ \t]*=[ \t]*([^#\n]*[^#\s])", re.MULTILINE)
_ARANGODB_FAMILIES = ("arangod.conf sets the options of all column families of ArangoDB; lsmtune "
                      "shows them as options of one")  # fmt: skip
_CACHE, _CAPACITY = "block_cache", "block_cache_capacity"

Scopes = dict[str, dict[str, str]]
"""Options by scope: those of the database under "", those of a column family under its name."""


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The options of a file: those of the database under "", those of a family under its name.

    `by_rocksdb`: RocksDB wrote the file, so the file has all column families.
    """

    kind: str
    version: str | None
    options: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...] = ()
    by_rocksdb: bool = False

    @property
    def listed(self) -> dict[str, str]:
        """Each option with its value, as `family.name` if the file has several families."""
        families = [scope for scope in self.options if scope]
        return {
            f"{scope}.{name}" if scope and len(families) > 1 else name: value
            for scope, told in self.options.items()
            for name, value in told.items()
        }


def read_options(path: Path, text: str) -> GivenOptions | None:
    """Read a text that has nothing but options; None if it is another kind of text.

    UserError for a damaged file.
    """
    match file_kind(text):
        case "OPTIONS file":
            return _of_options_file(text, str(path))
        case "my.cnf":
            return _of_my_cnf(text)
        case "tikv.toml":
            return _of_tikv(text, str(path))
        case "arangod.conf":
            return _of_arangodb(text)
        case "options string" if (given := parse_options_string(text)) is not None:
            notes = (*given.notes, *given.places)
            return GivenOptions("options string", None, _with_scopes(given), notes)
    return None


def _of_options_file(text: str, where: str) -> GivenOptions:
    try:
        file, has_commas = in_decimal_points(parse_options(text))
    except ParseError as error:
        raise UserError(where, ": ", error.message) from error
    options: Scopes = {"": {}}
    for name, statements in file.sections.items():
        if (section := _SECTION.fullmatch(name)) is None:
            continue
        scope = "" if section["kind"] == DATABASE_SECTION else section["of"] or DEFAULT_FAMILY
        options.setdefault(scope, {}).update(statements)
    written = "Version" in file.sections
    unknown = () if written else _unknown(name for told in options.values() for name in told)
    notes = ((COMMA_NOTE,) if has_commas else ()) + unknown_notes(unknown)
    return GivenOptions("OPTIONS file", file.rocksdb_version, options, notes, by_rocksdb=written)


def _of_my_cnf(text: str) -> GivenOptions:
    options: Scopes = {"": {}, DEFAULT_FAMILY: {}}
    unknown: dict[str, str] = {}
    for _, name, value in server_variables(text):
        if name == "default_cf_options" and (given := fields_of(value)) is not None:
            options[DEFAULT_FAMILY].update(_of_family(given))
            unknown |= given.unknown
        elif name == "override_cf_options":
            own = struct_fields(f"{{{value}}}") or {}
            for family, told in own.items():
                if (given := fields_of(told)) is not None:
                    options[family] = _of_family(given)
                    unknown |= given.unknown
        else:
            options[""][name] = _plain(value)
    for family in options.keys() - {"", DEFAULT_FAMILY}:
        options[family] = {**options[DEFAULT_FAMILY], **options[family]}
    return GivenOptions("my.cnf", None, options, unknown_notes(unknown))


def _of_tikv(text: str, where: str) -> GivenOptions:
    options: Scopes = {"": {}}
    for name, value in parse_file(text, where).items():
        store, _, rest = name.partition(".")
        family, _, key = rest.partition(".")
        if store in _WHOLE_NAMES_OF_TIKV:
            options[""][name] = _in_bytes(value)
        if store != "rocksdb":
            continue
        scope = _FAMILIES_OF_TIKV.get(family, "")
        plain = (key if scope else rest).replace("-", "_")
        options.setdefault(scope, {})[plain] = _in_bytes(value)
    return GivenOptions("tikv.toml", None, options)


def _of_arangodb(text: str) -> GivenOptions:
    """Read the section [rocksdb] (ArangoDB's RocksDBOptionFeature.cpp)."""
    options: Scopes = {"": {}, DEFAULT_FAMILY: {}}
    bodies = "\n".join(_ARANGODB_SECTION.findall(text))
    for key, told in _ARANGODB_KEY.findall(bodies):
        name, value = key.replace("-", "_"), in_bytes(told)
        if name == "bloom_filter_bits_per_key":
            value = f"bloomfilter:{value}:false"
        name = _OF_ARANGODB.get(name, name)
        is_of_family = section_of(name) not in (DATABASE_SECTION, None) or name == _CAPACITY
        options[DEFAULT_FAMILY if is_of_family else ""][name] = value
    return GivenOptions("arangod.conf", None, options, (_ARANGODB_FAMILIES,))


def _unknown(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if section_of(name) is None))


def _in_bytes(value: object) -> str:
    """A value as RocksDB has it; TiKV's GB are GiB."""
    if isinstance(value, bool):
        return str(int(value))
    size = size_of(value)
    return str(value) if size is None else str(size)


def _plain(value: str) -> str:
    """A size such as 64m in bytes."""
    try:
        return str(whole_number(value))
    except ValueError:
        return value


def _with_scopes(given: OptionsString) -> Scopes:
    return {"": dict(given.sections[DATABASE_SECTION]), DEFAULT_FAMILY: _of_family(given)}


def _of_family(given: OptionsString) -> dict[str, str]:
    """The options of a family with those of its tables, and the size of their block cache."""
    own = {
        name: value
        for section, told in given.sections.items()
        if section != DATABASE_SECTION
        for name, value in told.items()
    }
    if _CACHE in own:
        fields = struct_fields(own[_CACHE]) or {}
        size = in_bytes(fields.get("capacity", own[_CACHE]).strip())
        own |= {_CAPACITY: size} if size.isdecimal() else {}
    return own
