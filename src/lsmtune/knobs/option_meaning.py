"""Meaning of the text of an option: 64MB is 67108864, true is 1, kLZ4Compression is lz4.

The texts are those of OPTIONS files, options strings, LOGs, my.cnf and tikv.toml. RocksDB reads
them in options/options_helper.cc and util/string_util.cc.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from lsmtune.knobs.defaults import bare_name
from lsmtune.knobs.option_names import enumerator
from lsmtune.knobs.option_text import struct_fields

Meaning = Decimal | str
"""A number, or a name in one spelling."""

_ESCAPED = re.compile(r"\\(.)")
_WHOLE = re.compile(r"([+-]?\d{1,20})(?:([kmgt])(?:i?b)?)?", re.IGNORECASE | re.ASCII)
"""RocksDB reads the digits and one letter, and ignores what follows (ParseUint64)."""
_DECIMAL = re.compile(r"[+-]?\d{1,20}\.\d{0,20}(?:e[+-]?\d{1,2})?", re.IGNORECASE | re.ASCII)
_POWERS = "kmgt"
_TRUE, _FALSE = ("true", "on"), ("false", "off")
_NOTHING = frozenset({"(nil)", "none", "nullptr", "null", "unknown", "", "0" * 16})
_NO_OBJECT = "no object"
_CODEC = re.compile(
    r"(?:bottommost_|bottommost_level_|wal_|blob_|blob_file_)?compression(?:_type|_per_level)?"
)
_CODECS = {"none": "no", "": "no", "disable": "disabled"}
_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_IS_ENUMERATOR = re.compile(r"k[A-Z]\w*")
_FILTER = re.compile(
    r"(?:rocksdb\.)?(?:internal\.)?(?P<kind>bloom|ribbon|builtinbloom)_?filter"
    r"(?::(?P<bits>\d{1,9}(?:\.\d{1,9})?))?(?::(?P<rest>[^:]*))?",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:rocksdb\.)?(fixed|capped)(?:prefix)?[.:](\d{1,9})", re.IGNORECASE)
_FACTORIES = {
    "skip_list": "skiplistfactory", "vector": "vectorrepfactory",
    "prefix_hash": "hashskiplistrepfactory", "hash_linkedlist": "hashlinklistrepfactory",
}  # fmt: skip
_TABLE = ("block_based_table_factory", "table_factory")
_COLONS = ("window_bits", "level", "strategy", "max_dict_bytes", "zstd_max_train_bytes",
           "parallel_threads", "enabled", "max_dict_buffer_bytes",
           "use_zstd_dict_trainer")  # fmt: skip
"""Fields of compression options between colons; with six, the last one is `enabled`."""
_FIELDS_OF_6 = (*_COLONS[:5], "enabled")
_COMPRESSION_OPTIONS = re.compile(r"(?:\w+_)?compression_opts")
_OF_LEVEL = re.compile(r"(compression|max_bytes_for_level_multiplier_addtl)\[\d{1,3}\]")
_LISTS = {
    "compression": "compression_per_level",
    "max_bytes_for_level_multiplier_addtl": "max_bytes_for_level_multiplier_additional",
}
_MOST_NESTED = 8
_32_BITS = frozenset({"read_amp_bytes_per_bit"})
"""Some versions print 32 further bits of memory above such an option."""


def is_same(name: str, one: str, other: str) -> bool:
    """Return whether two texts of an option mean the same to RocksDB.

    A filter without its bits, as LOGs print it, is the same as such a filter with any bits.
    """
    option = name.rpartition(".")[2]
    if option == "filter_policy":
        first, second = (_filter(text).split(":") for text in (one, other))
        return first[0] == second[0] and (1 in (len(first), len(second)) or first == second)
    return meaning(option, one) == meaning(option, other)


def meaning(name: str, text: str) -> Meaning:
    """Return what the text of an option means."""
    text = _ESCAPED.sub(r"\1", text.strip()).strip("\"'")
    if name == "filter_policy":
        return _filter(text)
    if name == "prefix_extractor" and (prefix := _PREFIX.fullmatch(text)) is not None:
        return f"{prefix[1].lower()}:{int(prefix[2])}"
    items = _LIST.fullmatch(text)
    if items is not None or (":" in text and name in _LISTS.values()):
        parts = items[1].split(",") if items is not None else text.split(":")
        one = "compression" if _CODEC.fullmatch(name) else name
        return ":".join(str(_single(one, part.strip().strip("\"'"))) for part in parts)
    return _single(name, text)


def expanded(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with one entry per field of a structure, such as `a.b`.

    The fields of the table options have no prefix, as in LOGs. A codec per level, which LOGs
    print in lines, becomes one option.
    """
    found: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    for name, text in options.items():
        if (of_level := _OF_LEVEL.fullmatch(name)) is not None:
            lists.setdefault(_LISTS[of_level[1]], []).append(text)
        else:
            found.update(_fields(name, text))
    return found | {name: ":".join(texts) for name, texts in lists.items()}


def _fields(name: str, text: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    prefix, _, rest = name.partition(".")
    if rest and prefix in _TABLE:
        name = rest
    if name == "filter_policy":
        yield name, text
        return
    if _COMPRESSION_OPTIONS.fullmatch(name) and ":" in text and not text.startswith("{"):
        parts = text.split(":")
        names = _FIELDS_OF_6 if len(parts) == len(_FIELDS_OF_6) else _COLONS
        yield from ((f"{name}.{one}", part) for one, part in zip(names, parts, strict=False))
        return
    fields = struct_fields(text.strip()) if depth < _MOST_NESTED else None
    if not fields:
        if text.strip() != "{}":
            yield name, text
        return
    for field, value in fields.items():
        if field == "id":
            yield name, value
        else:
            inner = field if name in _TABLE else f"{name}.{field}"
            yield from _fields(inner, value, depth + 1)


def _single(name: str, text: str) -> Meaning:
    if _CODEC.fullmatch(name):
        codec = bare_name(enumerator(name, text))
        return _CODECS.get(codec, codec)
    return _plain(name, text)


def _plain(name: str, text: str) -> Meaning:
    lower = text.lower()
    if lower in _NOTHING:
        return _NO_OBJECT
    if (named := enumerator(name, text)) != text or _IS_ENUMERATOR.fullmatch(text):
        return bare_name(named)
    if (number := _number(name, lower)) is not None:
        return number
    if enumerator(name, "0") != "0":
        return bare_name(text)
    if name == "memtable_factory":
        factory = lower.partition(":")[0]
        return _FACTORIES.get(factory, factory)
    return text


def _number(name: str, text: str) -> Decimal | None:
    if text in _TRUE or text in _FALSE:
        return Decimal(text in _TRUE)
    if (whole := _WHOLE.fullmatch(text)) is not None:
        power = _POWERS.index(whole[2]) + 1 if whole[2] else 0
        number = int(whole[1]) << 10 * power
        return Decimal(number % 2**32 if name in _32_BITS else number)
    return Decimal(text) if _DECIMAL.fullmatch(text) is not None else None


def _filter(text: str) -> str:
    """Return the kind of a filter and its bits per key; of a Ribbon filter also its level."""
    text = _ESCAPED.sub(r"\1", text.strip())
    fields = struct_fields(text) or {}
    match = _FILTER.fullmatch(fields.get("id", text))
    if match is None:
        return _NO_OBJECT if text.lower() in _NOTHING else text
    kind = match["kind"].lower().removeprefix("builtin")
    if match["bits"] is None:
        return kind
    bits = f"{float(match['bits']):g}"
    level = fields.get("bloom_before_level", match["rest"] or "0")
    return f"{kind}:{bits}:{level}" if kind == "ribbon" else f"{kind}:{bits}"
