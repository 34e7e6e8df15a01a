"""The defaults of RocksDB's options, version by version.

The data are read from RocksDB's headers by benchmarks/rocksdb_defaults.py.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from typing import Any

from lsmtune.knobs.option_names import enumerator

_DATA = "rocksdb_defaults.json"
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})")
_ENUMERATOR = re.compile(r"k?(.*?)(?:Compression)?(?:Option)?")
_HALF = frozenset({"read_amp_bytes_per_bit"})
_HALF_BITS = 32
"""Some versions print 32 further bits of memory above such an option of 32 bits."""
_NUMBER = re.compile(r"[0-9]{1,20}")
_SET_BY_CONSTRUCTORS = {
    "compression": [["5.4", "kSnappyCompression"], ["11.5", "kLZ4Compression"]],
    "bottommost_compression": [["5.4", "kDisableCompressionOption"]],
    "memtable_factory": [["5.4", "SkipListFactory"]],
    "block_cache_capacity": [["5.4", 8 << 20], ["8.2", 32 << 20]],
}
"""Not in the headers: ColumnFamilyOptions::ColumnFamilyOptions (options/options.cc), a name that
LOGs shorten, and the block cache that a table factory makes for itself (HISTORY.md)."""

_MINORS = {5: 19, 6: 30, 7: 11, 10: 11}
"""Number of minor versions of a major version; 8 and 9 had 12, and others are taken to have it."""
_USUAL_MINORS = 12

_NO_OBJECT = frozenset({"(nil)", "none", "unknown", "nullptr", "", "0" * 16})
_ADDRESS = re.compile(r"0x[0-9a-f]+.*|(?!0{16})[0-9A-F]{16}")
"""As Linux and as Windows prints it."""
_UNSET = 2**64 - 2
_SANITISED: dict[tuple[str, object], tuple[int, ...]] = {
    ("delayed_write_rate", 0): (16 << 20,),
    ("ttl", _UNSET): (30 * 24 * 3600, 0),
    ("periodic_compaction_seconds", _UNSET): (0, 30 * 24 * 3600),
}
"""What a LOG shows where an option was left at such a default: RocksDB puts in what it goes by
(SanitizeOptions, db/db_impl/db_impl_open.cc and db/column_family.cc)."""

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Default:
    """The default of an option, and all values that a LOG may show for it."""

    value: Value
    shown: frozenset[Value]


@cache
def known_versions() -> tuple[str, str]:
    """The oldest and the newest version whose defaults are known."""
    versions = _data()["versions"]
    return versions["oldest"], versions["newest"]


@cache
def known_options() -> frozenset[str]:
    """The names of all options that some version of RocksDB has."""
    return frozenset({**_data()["options"], **_SET_BY_CONSTRUCTORS})


def nearest_version(version: str) -> str:
    """Return the version, or the nearest one whose defaults are known, such as `5.4`."""
    oldest, newest = known_versions()
    if version_number(version) < version_number(oldest):
        return oldest
    return newest if version_number(version) > version_number(newest) else version


def nearest_of(version: str, versions: Sequence[str]) -> str:
    """Return the one of the versions from which the fewest releases lead to a version.

    Of two that are as near, it is the earlier one of the list.
    """

    def place(text: str) -> int:
        major, minor = version_number(text)
        return sum(_MINORS.get(earlier, _USUAL_MINORS) for earlier in range(major)) + minor

    return min(versions, key=lambda other: abs(place(other) - place(version)))


@cache
def defaults_of(version: str) -> Mapping[str, Default]:
    """The defaults of a version such as `7.8.3`, by the name that a LOG gives an option.

    For versions outside `known_versions` those of `nearest_version`.
    """
    wanted = version_number(nearest_version(version))
    found: dict[str, Default] = {}
    history = {**_data()["options"], **_SET_BY_CONSTRUCTORS}
    for name, changes in history.items():
        valid = [value for since, value in changes if version_number(since) <= wanted]
        if valid and valid[-1] is not None:
            value = valid[-1]
            shown = _SANITISED.get((name, value), ())
            found[name] = Default(shown[0] if shown else value, frozenset({value, *shown}))
    return found


def differs(name: str, text: str, default: Default) -> bool:
    """Return whether a LOG's text for an option differs from the default."""
    if name in _HALF and _NUMBER.fullmatch(text):
        text = str(int(text) % 2**_HALF_BITS)
    return not any(_same(name, text, value) for value in default.shown)


def is_address(text: str) -> bool:
    """Return whether the text is the address of an object, which says nothing about the object."""
    return _ADDRESS.fullmatch(text) is not None


def _same(name: str, text: str, value: Value) -> bool:
    if isinstance(value, bool):
        return text in (("1", "true") if value else ("0", "false"))
    if text == str(value):
        return True
    if value == "nullptr":
        return text.lower() in _NO_OBJECT
    text, told = enumerator(name, text), enumerator(name, str(value))
    try:
        return Decimal(text) == Decimal(told)
    except InvalidOperation:
        return bare_name(text) == bare_name(told)


def bare_name(name: str) -> str:
    """Return the name of a value that `kSnappyCompression` and `Snappy` share."""
    match = _ENUMERATOR.fullmatch(name.split("(", maxsplit=1)[0].strip())
    bare = (match[1] if match else name).lower()
    return "disabled" if bare == "disable" else bare


def version_number(version: str) -> tuple[int, int]:
    """Major and minor number of a version such as `7.8.3`; zeros for what is none."""
    match = _VERSION.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


@cache
def _data() -> Any:
    return json.loads(files("lsmtune").joinpath("data", _DATA).read_text(encoding="utf-8"))
