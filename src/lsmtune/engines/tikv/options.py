"""TiKV's options as it tells and takes them: values in its spelling, and its file in TOML.

A file or an answer of the status server is looked at as one level of dotted names, as the knobs
have them: `rocksdb.defaultcf.block-size`.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.tikv_toml import UNITS, Flat, flat, parse_file, size_of
from lsmtune.knobs.types import Knob, Settings, Value

_BY_LEVEL = "compression-per-level"
_OF_STORE = ("rocksdb.", "storage.")
_OF_ROCKSDB = (*_OF_STORE, "raftdb.")
_CACHE = "storage.block-cache.capacity"
_OF_THE_PLACE = (
    "storage.data-dir", "storage.engine", "storage.api-version", "storage.enable-ttl",
    "storage.reserve-space", "storage.reserve-raft-space", "rocksdb.wal-dir",
    "rocksdb.info-log-dir", "rocksdb.titan.", "rocksdb.defaultcf.titan.",
)  # fmt: skip
"""What belongs to the data and the machine of one TiKV, and is no other's to have."""


# --- values


def as_told(knob: Knob, value: Value) -> Any:
    """A value as TiKV is told it: sizes as texts with binary units, a codec for each level."""
    if _is_size(knob) and isinstance(value, int):
        return _size_text(value)
    return str(value).split(":") if knob.name.endswith(_BY_LEVEL) else value


def value_of(knob: Knob, told: Any) -> Value | None:
    """The value that TiKV told; None where it means nothing to the knob.

    null stands for a default of TiKV's own, which is the catalogue's.
    """
    if told is None:
        return knob.default
    if _is_size(knob) and isinstance(told, str):
        return size_of(told)
    if isinstance(told, list):
        return ":".join(map(str, told))
    if told in knob.labels:
        return knob.values[knob.labels.index(told)]
    if isinstance(told, bool) is not (knob.kind == "bool"):
        return None
    return told if isinstance(told, bool | int | float | str) else None


def spelled(told: Any) -> str:
    """A value in one word, as TiKV spells it."""
    if isinstance(told, bool):
        return str(told).lower()
    return ":".join(map(str, told)) if isinstance(told, list) else str(told)


def _is_size(knob: Knob) -> bool:
    return knob.unit in ("bytes", "bytes/s")


def _size_text(size: int) -> str:
    powers = (power for power in reversed(range(1, len(UNITS))) if size % 1024**power == 0)
    power = next(powers, 0) if size else 0
    return f"{size // 1024**power}{UNITS[power]}{'i' if power else ''}B"


# --- documents


def read_settings(catalogue: Catalogue, told: Flat) -> Settings:
    """The value of every knob that is told."""
    known = ((knob.name, value_of(knob, told[knob.name])) for knob in _told(catalogue, told))
    return {name: value for name, value in known if value is not None}


def as_run(catalogue: Catalogue, told: Flat) -> dict[str, str]:
    """Every knob that is told, in TiKV's own spelling."""
    return {knob.name: spelled(told[knob.name]) for knob in _told(catalogue, told)}


def _told(catalogue: Catalogue, told: Flat) -> Iterator[Knob]:
    return (knob for knob in catalogue.knobs if knob.name in told)


def of_rocksdb(told: Flat) -> Flat:
    """What TiKV tells of its databases and the layer above them: all that trials may change."""
    return {name: value for name, value in told.items() if name.startswith(_OF_ROCKSDB)}


def largest_cache(told: Flat) -> int | None:
    """The largest block cache that a running TiKV accepts, in bytes; None where it has no limit.

    TiKV refuses a cache that exceeds memory-usage-limit together with write-buffer-limit.
    """
    limit = size_of(told.get("memory-usage-limit"))
    memtables = size_of(told.get("rocksdb.write-buffer-limit")) or 0
    return None if limit is None else limit - memtables


def cache_fits(settings: Settings, told: Flat) -> bool:
    """Whether a running TiKV accepts the block cache of the settings."""
    most, wanted = largest_cache(told), settings.get(_CACHE)
    return most is None or not isinstance(wanted, int) or wanted <= most


# --- files


def of_store(text: str, where: str) -> str:
    """What a file says of the store, as a file of its own; the rest may hold secrets."""
    kept = _of_store(parse_file(text, where))
    return edited("", kept) if kept else ""


def with_store(text: str, store: str) -> str:
    """A file that says of the store what another says; the rest is as it was, to the byte."""
    have, want = _of_store(parse_file(text, "config")), parse_file(store, "base")
    changes = {name: value for name, value in want.items() if have.get(name, ...) != value}
    return edited(text, changes, have.keys() - want.keys())


def _of_store(told: Flat) -> Flat:
    return {
        name: value
        for name, value in told.items()
        if name.startswith(_OF_STORE) and not name.startswith(_OF_THE_PLACE)
    }


def edited(text: str, changes: Mapping[str, Any], gone: Iterable[str] = ()) -> str:
    """A file with some keys set and some gone, by their dotted names; all else stays to the byte.

    UserError where the file is written in a way that cannot be edited so.
    """
    gone = set(gone)
    kept = {name: value for name, value in flat(tomllib.loads(text)).items() if name not in gone}
    try:
        document = tomlkit.parse(text)
        for name in gone:
            table, key = _place(document, name)
            del table[key]
        for name, value in changes.items():
            table, key = _place(document, name)
            table[key] = value
        written = document.as_string()
        if flat(tomllib.loads(written)) == {**kept, **changes}:
            return written
        reason = "the TOML file has the same [section] several times; write each [section] once"
    except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, KeyError) as error:
        reason = str(error)
    raise UserError(f"tikv.config: cannot edit the file: {reason}")


def _place(document: Any, name: str) -> tuple[Any, str]:
    """The table that a dotted name is in, made where it is missing, and its last word."""
    *tables, key = name.split(".")
    for table in tables:
        if table not in document:
            document[table] = {}
        document = document[table]
    return document, key
