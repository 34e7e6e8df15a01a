"""Options alone: an OPTIONS file, an options string, a my.cnf or a tikv.toml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.myrocks.options import server_variables
from lsmtune.engines.tikv.options import parse_file
from lsmtune.errors import UserError
from lsmtune.metrics.options_file import parse_options
from lsmtune.units import parse_size

_SECTION = re.compile(
    r'(?P<kind>DBOptions|CFOptions|TableOptions/BlockBasedTable)(?: "(?P<of>.*)")?'
)
_FIELD = re.compile(r"(?P<key>\w+)=(?P<value>\{[^{}]*\}|[^;{}]*)")
_STRING = re.compile(r"\s*\{?\s*\w+\s*=[^=\n]*;[\s\S]*")
_FAMILIES_OF_TIKV = {"defaultcf": "default", "writecf": "write", "lockcf": "lock", "raftcf": "raft"}
_OF_DATABASE = ("max_background", "max_open_files", "max_total_wal", "use_direct", "rate_limiter",
                "bytes_per_sync", "wal_", "db_write_buffer", "max_subcompactions")  # fmt: skip
_TABLE = "block_based_table_factory"
_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[kKmMgGtT])")
_POWERS = "kmgt"


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The options of a file: those of the database under "", those of a family under its name."""

    kind: str
    version: str | None
    options: Mapping[str, Mapping[str, str]]


def read_options(path: Path, text: str) -> GivenOptions | None:
    """Read a text that has nothing but options; None if it is another kind of text."""
    if re.search(r"^\s*\[(?:DBOptions|CFOptions)", text.replace("\\", ""), re.MULTILINE):
        return _of_options_file(text)
    if re.search(r"^\s*\[(?:mysqld|mariadb|server)", text, re.MULTILINE | re.IGNORECASE):
        return _of_my_cnf(text)
    if re.search(r"^\s*\[(?:rocksdb|storage|raftdb)[.\]]", text, re.MULTILINE):
        return _of_tikv(text, str(path))
    if _STRING.fullmatch(text):
        return GivenOptions("options string", None, _with_scopes(_fields(text)))
    return None


def _of_options_file(text: str) -> GivenOptions:
    file = parse_options(text)
    options: dict[str, dict[str, str]] = {"": {}}
    for name, statements in file.sections.items():
        if (section := _SECTION.fullmatch(name)) is None:
            continue
        scope = "" if section["kind"] == "DBOptions" else section["of"] or "default"
        options.setdefault(scope, {}).update(statements)
    return GivenOptions("OPTIONS file", file.rocksdb_version, options)


def _of_my_cnf(text: str) -> GivenOptions:
    options: dict[str, dict[str, str]] = {"": {}, "default": {}}
    for _, name, value in server_variables(text):
        if name == "default_cf_options":
            options["default"].update(_fields(value))
        elif name == "override_cf_options":
            for family in re.finditer(r"([\w:]+)=\{((?:[^{}]|\{[^{}]*\})*)\}", value):
                options[family[1]] = _fields(family[2])
        else:
            options[""][name] = _plain(value)
    return GivenOptions("my.cnf", None, options)


def _of_tikv(text: str, where: str) -> GivenOptions:
    options: dict[str, dict[str, str]] = {"": {}}
    for name, value in parse_file(text, where).items():
        store, _, rest = name.partition(".")
        family, _, key = rest.partition(".")
        if store != "rocksdb":
            continue
        scope = _FAMILIES_OF_TIKV.get(family, "")
        plain = (key if scope else rest).replace("-", "_")
        options.setdefault(scope, {})[plain] = _in_bytes(value)
    return GivenOptions("tikv.toml", None, options)


def _in_bytes(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    try:
        return str(parse_size(str(value), "size"))
    except UserError:
        return str(value)


def _fields(text: str) -> dict[str, str]:
    """The fields of an options string; those of the table stand beside the others."""
    found: dict[str, str] = {}
    for field in _FIELD.finditer(text):
        if field["key"] == _TABLE:
            found |= _fields(field["value"].strip("{}"))
        else:
            found[field["key"]] = _plain(field["value"].strip())
    return found


def _plain(value: str) -> str:
    """A size such as 64m in bytes."""
    size = _SIZE.fullmatch(value)
    if size is None:
        return value
    return str(int(size["number"]) << 10 * (_POWERS.index(size["unit"].lower()) + 1))


def _with_scopes(fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    options: dict[str, dict[str, str]] = {"": {}, "default": {}}
    for key, value in fields.items():
        options["" if key.startswith(_OF_DATABASE) else "default"][key] = value
    return options
