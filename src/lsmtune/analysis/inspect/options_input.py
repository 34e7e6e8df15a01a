"""Options alone: an OPTIONS file, an options string, a my.cnf or a tikv.toml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.myrocks.options import server_variables
from lsmtune.engines.option_files import file_kind
from lsmtune.engines.tikv.options import parse_file, size_of
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.option_text import struct_fields, whole_number
from lsmtune.metrics.decimal_points import COMMA_NOTE
from lsmtune.metrics.options_file import in_decimal_points, parse_options

_SECTION = re.compile(
    r'(?P<kind>DBOptions|CFOptions|TableOptions/BlockBasedTable)(?: "(?P<of>.*)")?'
)
_STRING = re.compile(r"\s*\{?\s*\w+\s*=[^=\n]*;[\s\S]*")
_FAMILIES_OF_TIKV = {"defaultcf": "default", "writecf": "write", "lockcf": "lock", "raftcf": "raft"}
_OF_DATABASE = ("max_background", "max_open_files", "max_total_wal", "use_direct", "rate_limiter",
                "bytes_per_sync", "wal_", "db_write_buffer", "max_subcompactions")  # fmt: skip
_TABLE = "block_based_table_factory"


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The options of a file: those of the database under "", those of a family under its name."""

    kind: str
    version: str | None
    options: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...] = ()


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
    if _STRING.fullmatch(text):
        return GivenOptions("options string", None, _with_scopes(_fields(text)))
    return None


def _of_options_file(text: str, where: str) -> GivenOptions:
    try:
        file, has_commas = in_decimal_points(parse_options(text))
    except ParseError as error:
        raise UserError(f"{where}: {error}") from error
    options: dict[str, dict[str, str]] = {"": {}}
    for name, statements in file.sections.items():
        if (section := _SECTION.fullmatch(name)) is None:
            continue
        scope = "" if section["kind"] == "DBOptions" else section["of"] or "default"
        options.setdefault(scope, {}).update(statements)
    notes = (COMMA_NOTE,) if has_commas else ()
    return GivenOptions("OPTIONS file", file.rocksdb_version, options, notes)


def _of_my_cnf(text: str) -> GivenOptions:
    options: dict[str, dict[str, str]] = {"": {}, "default": {}}
    for _, name, value in server_variables(text):
        if name == "default_cf_options":
            options["default"].update(_fields(value))
        elif name == "override_cf_options":
            own = struct_fields(f"{{{value}}}") or {}
            options |= {family: _fields(text) for family, text in own.items()}
        else:
            options[""][name] = _plain(value)
    return GivenOptions("my.cnf", None, options)


def _of_tikv(text: str, where: str) -> GivenOptions:
    options: dict[str, dict[str, str]] = {"": {}}
    for name, value in parse_file(text, where).items():
        store, _, rest = name.partition(".")
        family, _, key = rest.partition(".")
        if store == "storage":
            options[""][name] = _in_bytes(value)
        if store != "rocksdb":
            continue
        scope = _FAMILIES_OF_TIKV.get(family, "")
        plain = (key if scope else rest).replace("-", "_")
        options.setdefault(scope, {})[plain] = _in_bytes(value)
    return GivenOptions("tikv.toml", None, options)


def _in_bytes(value: object) -> str:
    """A value as RocksDB has it; TiKV's GB are GiB."""
    if isinstance(value, bool):
        return str(int(value))
    size = size_of(value)
    return str(value) if size is None else str(size)


def _fields(text: str) -> dict[str, str]:
    """The fields of an options string, with the fields of the table among them."""
    body = text.strip()
    fields = struct_fields(body if body.startswith("{") else f"{{{body}}}") or {}
    table = fields.pop(_TABLE, "{}")
    found = {key: _plain(value.strip()) for key, value in fields.items()}
    return found | (_fields(table) if table.strip("{} ") else {})


def _plain(value: str) -> str:
    """A size such as 64m in bytes."""
    try:
        return str(whole_number(value))
    except ValueError:
        return value


def _with_scopes(fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    options: dict[str, dict[str, str]] = {"": {}, "default": {}}
    for key, value in fields.items():
        options["" if key.startswith(_OF_DATABASE) else "default"][key] = value
    return options
