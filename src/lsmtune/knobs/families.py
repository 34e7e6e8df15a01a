"""Column families: an option of one family is a knob of its own, `family.option`.

The rules between options use plain names. They are applied to one family at a time, on a view of
the settings with the options of this family and those of the whole database.

TiKV has its own names: `rocksdb.writecf.block-size` is an option of the family `rocksdb.writecf`;
`rocksdb.max-background-jobs` and `storage.block-cache.capacity` belong to no family. In a view,
options that RocksDB's rules use have RocksDB's names; all others keep TiKV's names.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TypeVar

from lsmtune.knobs.types import Knob, Value

T = TypeVar("T")

DEFAULT_FAMILY = "default"
ANY_FAMILY = "*"
DATABASE_SECTION = "DBOptions"
"""The section of an OPTIONS file with the options of the whole database."""
FAMILY_SECTIONS = ("CFOptions", "TableOptions/BlockBasedTable")
"""The sections of an OPTIONS file that every column family has of its own."""
_SEPARATOR = "."
_MANY = 64
"""The same few hundred names come by in the same order again and again."""


_TIKV_FAMILY = re.compile(r"(rocksdb\.\w+cf)\.(.+)")
_TIKV_TABLES = ("rocksdb.", "storage.")
_SAME_IN_TIKV = {
    "write-buffer-size": "write_buffer_size",
    "max-write-buffer-number": "max_write_buffer_number",
    "min-write-buffer-number-to-merge": "min_write_buffer_number_to_merge",
    "level0-file-num-compaction-trigger": "level0_file_num_compaction_trigger",
    "level0-slowdown-writes-trigger": "level0_slowdown_writes_trigger",
    "level0-stop-writes-trigger": "level0_stop_writes_trigger",
    "soft-pending-compaction-bytes-limit": "soft_pending_compaction_bytes_limit",
    "hard-pending-compaction-bytes-limit": "hard_pending_compaction_bytes_limit",
    "storage.block-cache.capacity": "cache_size",
}
"""TiKV's names of the options that rules look at, and RocksDB's."""
_TIKV_WORDS = {plain: name for name, plain in _SAME_IN_TIKV.items()}


@cache
def _parts(name: str) -> tuple[str | None, str]:
    """The family of a knob's name, and the plain name of its option."""
    if (own := _TIKV_FAMILY.fullmatch(name)) is not None:
        return own[1], _SAME_IN_TIKV.get(own[2], own[2])
    if name.startswith(_TIKV_TABLES):
        return None, _SAME_IN_TIKV.get(name, name)
    family, _, option = name.rpartition(_SEPARATOR)
    return family or None, option


def option_name(name: str) -> str:
    """The option that a knob sets, without its family."""
    return _parts(name)[1]


def family_of(name: str) -> str | None:
    """The family whose option a knob is; None for one of the whole database."""
    return _parts(name)[0]


def knob_name(family: str, option: str) -> str:
    """The name of a family's option."""
    return f"{family}{_SEPARATOR}{option}"


def families(names: Iterable[str]) -> tuple[str | None, ...]:
    """The families among the names; None alone where options have no families."""
    return _families(tuple(names))


@lru_cache(maxsize=_MANY)
def _families(names: tuple[str, ...]) -> tuple[str | None, ...]:
    found = map(family_of, names)
    return tuple(dict.fromkeys(family for family in found if family)) or (None,)


def view(values: Mapping[str, T], family: str | None) -> dict[str, T]:
    """Return one family's options by their plain names, with those of the database."""
    seen = _seen(tuple(values), family)
    return dict(values) if seen is None else {option: values[name] for name, option in seen}


@lru_cache(maxsize=_MANY)
def _seen(names: tuple[str, ...], family: str | None) -> tuple[tuple[str, str], ...] | None:
    """Return the names that a family sees, each with the plain name of its option.

    None means all names, unchanged. Every decision asks for this thousands of times.
    """
    parts = ((name, *_parts(name)) for name in names)
    seen = tuple((name, option) for name, own, option in parts if own in (None, family))
    return None if seen == tuple(zip(names, names, strict=True)) else seen


def lifted(
    values: Mapping[str, T], family: str | None, known: Mapping[str, object]
) -> dict[str, T]:
    """The way back: plain names become the family's where `known` has them as such."""
    if values.keys() <= known.keys():
        return dict(values)
    names = _lifted_names(tuple(values), family, tuple(known))
    return dict(zip(names, values.values(), strict=True))


@lru_cache(maxsize=_MANY)
def _lifted_names(
    names: tuple[str, ...], family: str | None, known: tuple[str, ...]
) -> tuple[str, ...]:
    places = dict.fromkeys(known)
    return tuple(lifted_name(name, family, places) for name in names)


def lifted_name(name: str, family: str | None, known: Mapping[str, object]) -> str:
    """The family's name of a plain one, where `known` has it."""
    if name in known:
        return name
    return next((full for full in _full_names(name, family) if full in known), name)


@cache
def _full_names(option: str, family: str | None) -> tuple[str, ...]:
    """Return the possible full names: the family's, or TiKV's of the whole database."""
    in_tikv = _TIKV_WORDS.get(option, option)
    if family is None:
        return (in_tikv,)
    return knob_name(family, option), knob_name(family, in_tikv), in_tikv


def viewed(knobs: Iterable[Knob], family: str | None) -> tuple[Knob, ...]:
    """Return one family's knobs under their plain names, with those of the database."""
    return tuple(
        knob.model_copy(update={"name": option_name(knob.name)})
        for knob in knobs
        if family_of(knob.name) in (None, family)
    )


def with_families(values: Mapping[str, Value], names: Iterable[str]) -> dict[str, Value]:
    """The settings with more families, each as the default one has its options."""
    of_default = {n: v for n, v in values.items() if family_of(n) == DEFAULT_FAMILY}
    return dict(values) | {
        knob_name(family, option_name(name)): value
        for family in names
        for name, value in of_default.items()
    }
