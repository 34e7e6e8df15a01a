"""Options strings: `write_buffer_size=64M;compression=kZSTD`, alone or as a value in a file.

RocksDB reads such a text with GetOptionsFromString (options/options_helper.cc, StringToMap):
options are separated by semicolons, and a value with several parts is in braces. Ceph also takes
commas and line feeds. A program's file has such a text as the value of a key, for example
`bluestore_rocksdb_options = "..."`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lsmtune.errors import UserError
from lsmtune.knobs.option_names import SECTIONS, STRUCTS, section_of

TABLE_FACTORIES = ("block_based_table_factory", "table_factory")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*", re.ASCII)
_SIZE = re.compile(r"(\d{1,18})([kmgt])(?:i?b)?", re.IGNORECASE | re.ASCII)
"""RocksDB (util/string_util.cc, ParseUint64) does not look at what follows the letter."""
_POWERS = "kmgt"
_HOLDER = re.compile(
    r"""\s*(?:--)?["']?(?P<key>[A-Za-z][\w. -]{0,99}?)["']?"""
    r"""(?:\s*[=:]|(?<=rocksdb\.options)\s)\s*(?P<body>\S.*)""", re.ASCII
)  # fmt: skip
"""A line that gives a key of a program its options string; ardb.conf has a space after the key."""
_CONTINUED = re.compile(r"\\\r?\n[ \t]*")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*|^\s*;\s.*")
_QUOTES = "\"'"
_CLASS = "id"
_ALIASES = {"memtable": "memtable_factory"}
"""Names of options strings that OPTIONS files do not have."""
_SEPARATORS = ";,\n"
_PROGRAMS = {"rocksdb.options": " in Ardb's ardb.conf", "bluestore_rocksdb_options": " of Ceph"}
_OF_CEPH = ("compaction_threads", "flusher_threads", "compact_on_mount", "disableWAL")
"""Keys of Ceph's own in its options string (src/kv/RocksDBStore.cc)."""

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class OptionsString:
    """The options of a text, by section of an OPTIONS file; fields of structs as `option.field`.

    `unknown` are the keys that no version of RocksDB has. `holders` are the keys of a program's
    file that have an options string as their value.
    """

    sections: Mapping[str, Mapping[str, str]]
    unknown: Mapping[str, str]
    holders: tuple[str, ...] = field(default=(), compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """A remark on the unknown keys."""
        return unknown_notes(self.unknown)

    @property
    def places(self) -> tuple[str, ...]:
        """Remarks on where a program has the options."""
        return tuple(
            f"the options are the value of {key}{_PROGRAMS.get(key, '')}: change them there, and "
            "restart the program"
            for key in self.holders
        )


def parse_options_string(text: str) -> OptionsString | None:
    """Return the options of a text that is an options string, or that gives one to a key.

    None if the text is something else: at least half of its keys must be options of RocksDB or
    keys of Ceph. UserError if two keys of a program's file set an option to different values.
    """
    text = _CONTINUED.sub("", text)
    lines = [_COMMENT.sub("", line) for line in text.splitlines()]
    if held := _held(lines):
        found = of_pairs([(name, value) for name, (_, value) in held.items()])
        return replace(found, holders=tuple(dict.fromkeys(key for key, _ in held.values())))
    pairs = _pairs(_unquoted("\n".join(lines)))
    return of_pairs(pairs) if pairs and _are_options(pairs) else None


def of_pairs(pairs: Iterable[tuple[str, str]]) -> OptionsString:
    """Return keys and values by section; of a key that comes twice, the last value counts."""
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    unknown: dict[str, str] = {}
    for name, value in _flat(pairs):
        section = section_of(name)
        (unknown if section is None else sections[section])[name] = value
    return OptionsString(sections, unknown)


def fields_of(text: str) -> OptionsString | None:
    """Return the options of the value of one variable; None if the text is no options string."""
    pairs = _pairs(_unquoted(text))
    return None if pairs is None else of_pairs(pairs)


def as_options_file(given: OptionsString) -> str:
    """Return an OPTIONS file that sets these options of the database and the family `default`."""
    lines = []
    for section in SECTIONS:
        lines.append(f"[{section}]" if section == SECTIONS[0] else f'[{section} "default"]')
        lines += [f"  {key}={value}" for key, value in _with_structs(given.sections[section])]
    return "\n".join([*lines, ""])


def unknown_notes(unknown: Iterable[str]) -> tuple[str, ...]:
    """Return a remark on keys that RocksDB does not have; none if there is no such key."""
    names = list(unknown)
    ceph, others = ([n for n in names if (n in _OF_CEPH) == own] for own in (True, False))
    notes = []
    if others:
        notes.append(
            f"no version of RocksDB has an option {', '.join(others)}; correct the spelling, or "
            f"remove {'the option' if len(others) == 1 else 'the options'}"
        )
    if ceph:
        which = "this key" if len(ceph) == 1 else "these keys"
        notes.append(f"Ceph, not RocksDB, reads {', '.join(ceph)}; lsmtune ignores {which}")
    return tuple(notes)


def in_bytes(value: str) -> str:
    """Return a size such as 64m, 2MB or 1GiB in bytes, and every other text as it is.

    RocksDB's letters are powers of 1024.
    """
    if (match := _SIZE.fullmatch(value)) is None:
        return value
    return str(int(match[1]) << 10 * (_POWERS.index(match[2].lower()) + 1))


def _held(lines: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return key and value by option, of lines that give a key of a program an options string."""
    found: dict[str, tuple[str, str]] = {}
    for line in lines:
        match = _HOLDER.fullmatch(line) if "=" in line or '{"' in line else None
        if match is None:
            continue
        key = re.sub(r"[ -]", "_", match["key"])
        if section_of(key) is not None or key.partition(".")[0] in TABLE_FACTORIES:
            continue  # the line is an option of RocksDB itself
        pairs = _body_pairs(match["body"])
        if not pairs or not _are_options(pairs):
            continue
        for name, value in pairs:
            other, earlier = found.get(name, (key, value))
            if other != key and earlier != value:
                raise UserError(
                    f"options string: {other} and {key} set {name} to {earlier} and {value}: the "
                    "file has the options of several stores; use a file with one of them"
                )
            found[name] = key, value
    return found


def _are_options(pairs: Pairs) -> bool:
    """Return whether at least half of the names are options of RocksDB or keys of Ceph."""
    names = [name for name, _ in _flat(pairs)]
    known = sum(section_of(name) is not None or name in _OF_CEPH for name in names)
    return 0 < len(names) <= 2 * known


def _body_pairs(body: str) -> Pairs | None:
    """Return the options of the value of a key: quoted or not, or an object of JSON."""
    body = body.strip().rstrip(",").strip()
    if body.startswith('{"'):
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            return None
        return [(name, str(value)) for name, value in told.items()]
    return _pairs(_unquoted(body)) if "=" in body else None


def _unquoted(text: str) -> str:
    """Return the text without the quotes or the braces around all of it."""
    text = text.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] == text[0]:
        text = text[1:-1].strip()
    if text.startswith("{") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closing(text: str) -> int:
    """Return the place of the brace that closes the first one; -1 if there is none."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if not depth:
            return at
    return -1


def _pairs(text: str) -> Pairs | None:
    """Return names and values as they are written; None if a part of the text is no pair.

    A comma that no pair follows belongs to the value before it.
    """
    if text.count("{") != text.count("}"):
        return None
    pairs: Pairs = []
    for separator, piece in _pieces(text):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if equals and _NAME.fullmatch(name):
            pairs.append((name, value.strip(_QUOTES)))
        elif pairs and separator == "," and piece.strip():
            last, before = pairs[-1]
            pairs[-1] = last, f"{before},{piece.strip()}"
        elif piece.strip():
            return None
    return pairs


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts between separators outside braces, each with the separator before it."""
    depth, start, separator = 0, 0, ""
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0 and char in _SEPARATORS:
            yield separator, text[start:at]
            start, separator = at + 1, char
    yield separator, text[start:]


def _flat(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the options with those of tables among them, and the fields of structs."""
    for name, value in pairs:
        first, _, rest = name.partition(".")
        nested = _pairs(_unquoted(value)) if value.startswith("{") else None
        if first in TABLE_FACTORIES and rest:
            yield rest, in_bytes(value)
        elif first in TABLE_FACTORIES and nested is not None:
            yield from ((own, in_bytes(told)) for own, told in nested if own != _CLASS)
        elif first in STRUCTS and not rest and nested is not None:
            yield from ((f"{name}.{field}", in_bytes(told)) for field, told in nested)
        else:
            yield name, in_bytes(value)


def _with_structs(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the options as an OPTIONS file has them, with the fields of a struct in one text."""
    structs: dict[str, str] = {}
    for name, value in options.items():
        option, _, field = name.partition(".")
        option = _ALIASES.get(option, option)
        if field:
            structs[option] = f"{structs.get(option, '')}{field}={value};"
        else:
            yield option, value.replace("#", "\\#")
    yield from ((option, f"{{{fields}}}") for option, fields in structs.items())
