"""Knobs in RocksDB's OPTIONS files: read their values, and compute the changes to set them.

A file is given as its sections, each with its keys and texts as they are written. Most knobs are
one text (`plain`, or a name out of `label`s), or one field of a struct `{a=1;b=2;}`. Some are not:

codec             `compression`, unless a list of codecs by level overrules it
first_compressed  that list, where it is plain down to a level and one codec from there on
filter_bits       the number in `bloomfilter:10:false` or `ribbonfilter:10:0`, from RocksDB 8 on
                  `{id=ribbonfilter:10:0;bloom_before_level=0;}`; 6.x prints NAMELESS_FILTER
ribbon            which of the two it is
factory           `SkipListFactory`, `{id=VectorRepFactory;count=0;}`: the name alone
prefix            the length in `rocksdb.FixedPrefix.8`
derived           a number, or 0 where it is what RocksDB makes of another option by itself
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

from lsmtune.errors import ParseError
from lsmtune.knobs.families import FAMILY_SECTIONS
from lsmtune.knobs.types import Knob, OptionKey, Settings, Value, value_text
from lsmtune.units import KIB, MIB

Sections = Mapping[str, Mapping[str, str]]
"""The texts of an OPTIONS file by section and key."""

Place = tuple[str, str]
"""Section and key."""

_CF = "CFOptions"
_PLAIN = "kNoCompression"
_ESCAPED = re.compile(r"\\(.)")
_FILTER = re.compile(r"(?P<kind>bloom|ribbon)filter:(?P<bits>\d{1,9})(?:\.0*)?(?P<rest>:.*)?")
NAMELESS_FILTER = "rocksdb.BuiltinBloomFilter"
"""RocksDB 6 prints this for every filter, and reads it as no filter; 7 and newer build none."""
_PREFIX = re.compile(r"rocksdb\.FixedPrefix\.(\d{1,9})")
_FACTORY = re.compile(r"\{id=(\w+);.*\}|(\w+)(?::\d+)?")
_DECIMALS_WRITTEN = 6
_WHOLE = re.compile(r"([+-]?\d{1,20})([kmgt]?)", re.IGNORECASE | re.ASCII)
_POWERS = "kmgt"
_MOST_LEVELS = 100
"""Codecs that are written for single levels; levels below have the last one."""


@dataclass(frozen=True, slots=True)
class _File:
    """The texts of one column family and of the database that it belongs to."""

    sections: Sections
    family: str

    def place(self, option: OptionKey) -> Place:
        family = f' "{self.family}"' if option.section in FAMILY_SECTIONS else ""
        return option.section + family, option.key

    def text(self, option: OptionKey) -> str | None:
        """The whole text of the option's key, unescaped; None where the file lacks it."""
        section, key = self.place(option)
        text = self.sections.get(section, {}).get(key)
        return None if text is None else _ESCAPED.sub(r"\1", text)

    def of_family(self, key: str) -> str | None:
        return self.text(OptionKey(section=_CF, key=key))

    def with_texts(self, texts: Mapping[Place, str]) -> "_File":
        changed = {name: dict(section) for name, section in self.sections.items()}
        for (section, key), text in texts.items():
            changed.setdefault(section, {})[key] = text
        return _File(changed, self.family)


@dataclass(frozen=True, slots=True)
class _Wish:
    """Settings to write into a file; options that they lack stay unchanged."""

    knobs: Mapping[str, Knob]
    settings: Settings

    def value(self, name: str, file: _File) -> Value | None:
        if name in self.settings and name in self.knobs:
            return self.settings[name]
        return _read(self.knobs[name], file) if name in self.knobs else None


def read_value(knob: Knob, sections: Sections, family: str = "default") -> Value | None:
    """Return the knob's value in the file, even if it is outside the knob's range.

    None if the file lacks the key or field, or if its text is not a value of the knob.
    """
    return _read(knob, _File(sections, family))


def statements(
    knobs: Iterable[Knob], settings: Settings, sections: Sections, family: str = "default"
) -> dict[Place, str]:
    """The texts by section and key that must change in the file so that it says the settings.

    Knobs that the settings lack, and those that are only a flag, are left out. A struct that is
    written in another form than `{a=1;b=2;}` is a ParseError.
    """
    known = {knob.name: knob for knob in knobs if knob.option is not None}
    wish = _Wish(known, settings)
    given = _File(sections, family)
    file, changes = given, dict[Place, str]()
    # What RocksDB derives from other options is looked at when those have been set.
    for knob in sorted(known.values(), key=lambda knob: _form(knob) == "derived"):
        if knob.name in settings and _read(knob, file) != settings[knob.name]:
            changes |= _written(knob, wish, file)
            file = given.with_texts(changes)
    return changes


def option_place(knob: Knob, family: str = "default") -> Place:
    """Section and key of a knob that has a place in OPTIONS files."""
    return _File({}, family).place(_option(knob))


def _option(knob: Knob) -> OptionKey:
    if knob.option is None:
        raise ValueError(f"{knob.name} is a flag of db_bench and has no entry in OPTIONS files")
    return knob.option


def _form(knob: Knob) -> str:
    return _option(knob).form


def _read(knob: Knob, file: _File) -> Value | None:
    if knob.option is None:
        return None
    if (reader := _READERS.get(knob.option.form)) is not None:
        return reader(knob, file)
    text = file.text(knob.option)
    if text is not None and knob.option.field is not None:
        text = (struct_fields(text) or {}).get(knob.option.field)
    return None if text is None else _value(knob, text)


def _value(knob: Knob, text: str) -> Value | None:
    """The value that a text of its own spells."""
    if knob.labels:
        return dict(zip(knob.labels, knob.values, strict=True)).get(text)
    if knob.kind == "bool":
        return {"true": True, "false": False, "1": True, "0": False}.get(text.lower())
    if knob.kind == "categorical" and isinstance(knob.choices[0], str):
        return text
    return _number(text, whole=isinstance(knob.default, int))


def _number(text: str, *, whole: bool) -> int | float | None:
    try:
        number = whole_number(text) if whole else round(float(text), _DECIMALS_WRITTEN)
    except ValueError:
        return None
    return number if isfinite(number) else None


def whole_number(text: str) -> int:
    """Return the number that RocksDB or MariaDB reads: `8m` is 8 MiB; ValueError if it is none.

    RocksDB: util/string_util.cc, ParseUint64.
    """
    match = _WHOLE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an integer")
    power = _POWERS.index(match[2].lower()) + 1 if match[2] else 0
    return int(match[1]) << 10 * power


def _written(knob: Knob, wish: _Wish, file: _File) -> dict[Place, str]:
    option = _option(knob)
    if (writer := _WRITERS.get(option.form)) is not None:
        return writer(knob, wish, file)
    text = _text(knob, wish.settings[knob.name])
    if option.field is not None:
        text = with_field(file.text(option) or "{}", option.field, text)
    return {file.place(option): text}


def _text(knob: Knob, value: Value) -> str:
    return knob.labels[knob.values.index(value)] if knob.labels else value_text(value)


# --- structs


def struct_fields(text: str) -> dict[str, str] | None:
    """The fields of a struct text such as `{a=1;b={c=2;};}`; None where it is no struct."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    fields, depth, start = {}, 0, 1
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if (char == ";" and depth == 1) or depth == 0:
            name, equals, value = text[start:at].partition("=")
            if equals:
                fields[name.strip()] = value
            start = at + 1
    return fields


def with_field(text: str, field: str, value: str) -> str:
    """The struct text with one field set, all others as they were; ParseError for another text."""
    fields = struct_fields(text)
    if fields is None:
        raise ParseError(f"cannot set {field} in {text!r}; write the option as {{name=value}}")
    return "{" + "".join(f"{name}={told};" for name, told in {**fields, field: value}.items()) + "}"


# --- codecs: one for all levels, or plain levels above and one codec from a level on


def _codec_and_first(file: _File) -> tuple[str, int] | None:
    """RocksDB's name of the codec and the first level that has it (-1: all)."""
    codec, by_level = file.of_family("compression"), file.of_family("compression_per_level")
    if codec is None or not by_level:
        return None if codec is None else (codec, -1)
    codecs = by_level.split(":")
    first = next((at for at, name in enumerate(codecs) if name != _PLAIN), len(codecs))
    if len(set(codecs[first:])) > 1:
        return None
    return (codecs[first], first or -1) if first < len(codecs) else (_PLAIN, -1)


def _read_codec(knob: Knob, file: _File) -> Value | None:
    found = _codec_and_first(file)
    return None if found is None else _value(knob, found[0])


def _read_first_compressed(_: Knob, file: _File) -> Value | None:
    found = _codec_and_first(file)
    return None if found is None else found[1]


def _write_codecs(_: Knob, wish: _Wish, file: _File) -> dict[Place, str]:
    codec, first = _codec_and_first(file) or (_PLAIN, -1)
    if (wanted := wish.value("compression_type", file)) is not None:
        codec = _text(wish.knobs["compression_type"], wanted)
    first = int(wish.settings.get("min_level_to_compress", first))
    told = wish.value("num_levels", file)
    levels = told or _number(file.of_family("num_levels") or "", whole=True) or 0
    texts = {"compression": codec}
    if first >= 0:
        texts["compression_per_level"] = ":".join(
            [_PLAIN] * first + [codec] * max(min(int(levels), _MOST_LEVELS) - first, 1)
        )
    elif file.of_family("compression_per_level"):
        texts["compression_per_level"] = ""
    changed = {key: text for key, text in texts.items() if file.of_family(key) != text}
    return {file.place(OptionKey(section=_CF, key=key)): text for key, text in changed.items()}


# --- filters


def _filter(knob: Knob, file: _File) -> tuple[int, bool, str] | None:
    """Bits a key (-1: no filter), whether it is a Ribbon filter, and the rest of the text."""
    text = file.text(_option(knob))
    if text == "nullptr":
        return -1, False, ""
    fields = struct_fields(text or "") or {}
    match = _FILTER.fullmatch(fields.get("id", text or ""))
    if match is None:
        return None
    level = fields.get("bloom_before_level")
    rest = match["rest"] or "" if level is None else f":{level}"
    return int(match["bits"]), match["kind"] == "ribbon", rest


def _read_filter_bits(knob: Knob, file: _File) -> Value | None:
    found = _filter(knob, file)
    return None if found is None else found[0]


def _read_ribbon(knob: Knob, file: _File) -> Value | None:
    found = _filter(knob, file)
    return None if found is None else found[1]


def _write_filter(knob: Knob, wish: _Wish, file: _File) -> dict[Place, str]:
    bits, ribbon, rest = _filter(knob, file) or (-1, False, "")
    bits = int(wish.settings.get("bloom_bits", bits))
    wanted = bool(wish.settings.get("use_ribbon_filter", ribbon))
    # The rest of a Ribbon filter is the level below which it is used, of a Bloom filter a flag
    # for the format of very old versions.
    rest = rest if rest and wanted == ribbon else (":0" if wanted else ":false")
    kind = "ribbon" if wanted else "bloom"
    text = "nullptr" if bits <= 0 else f"{kind}filter:{bits}{rest}"
    return {file.place(_option(knob)): text}


# --- names of factories, and the length of prefixes


def _read_factory(knob: Knob, file: _File) -> Value | None:
    match = _FACTORY.fullmatch(file.text(_option(knob)) or "")
    return None if match is None else _value(knob, match[1] or match[2])


def _read_prefix(knob: Knob, file: _File) -> Value | None:
    text = file.text(_option(knob))
    if text == "nullptr":
        return 0
    match = _PREFIX.fullmatch(text or "")
    return None if match is None else int(match[1])


def _write_prefix(knob: Knob, wish: _Wish, file: _File) -> dict[Place, str]:
    length = wish.settings[knob.name]
    text = f"rocksdb.FixedPrefix.{length}" if length else "nullptr"
    return {file.place(_option(knob)): text}


# --- what RocksDB derives by itself (db/column_family.cc, SanitizeOptions)


def derived_arena_block_size(write_buffer_size: int) -> int:
    """An eighth of the memtable up to 1 MiB, in whole pages."""
    page = 4 * KIB
    return -(-min(MIB, write_buffer_size // 8) // page) * page


def derived_max_compaction_bytes(target_file_size_base: int) -> int:
    """25 files."""
    return 25 * target_file_size_base


DERIVED: Mapping[str, tuple[str, Callable[[int], int]]] = {
    "arena_block_size": ("write_buffer_size", derived_arena_block_size),
    "max_compaction_bytes": ("target_file_size_base", derived_max_compaction_bytes),
}
"""For each knob of the form `derived` the option that it follows, and how."""


def derived_settings(settings: Settings) -> dict[str, int]:
    """Return what RocksDB derives when it opens a store, of options that the settings leave to it.

    A running RocksDB does not derive them again: they must be set with the option that they follow.
    """
    return {
        name: derive(int(settings[leader]))
        for name, (leader, derive) in DERIVED.items()
        if settings.get(name) == 0 and leader in settings
    }


def derived_values(name: str, leader: int) -> tuple[int, ...]:
    """Return what versions of RocksDB make of the option, given the option that it follows."""
    values = (DERIVED[name][1](leader),)
    # Versions before 6.21 have an eighth of the memtable, however large.
    return (*values, leader // 8) if name == "arena_block_size" else values


def _read_derived(knob: Knob, file: _File) -> Value | None:
    value = _number(file.text(_option(knob)) or "", whole=True)
    source, derive = DERIVED[knob.name]
    leader = _number(file.of_family(source) or "", whole=True)
    return 0 if value is not None and leader is not None and value == derive(int(leader)) else value


_READERS: Mapping[str, Callable[[Knob, _File], Value | None]] = {
    "codec": _read_codec,
    "first_compressed": _read_first_compressed,
    "filter_bits": _read_filter_bits,
    "ribbon": _read_ribbon,
    "factory": _read_factory,
    "prefix": _read_prefix,
    "derived": _read_derived,
}
_WRITERS: Mapping[str, Callable[[Knob, _Wish, _File], dict[Place, str]]] = {
    "codec": _write_codecs,
    "first_compressed": _write_codecs,
    "filter_bits": _write_filter,
    "ribbon": _write_filter,
    "prefix": _write_prefix,
}
