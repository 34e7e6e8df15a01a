"""RocksDB OPTIONS files: reading them, and changing values without touching anything else.

The format is that of options/options_parser.cc: sections in brackets, `key=value` statements,
comments from an unescaped `#` to the end of the line. Values are kept as they are written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lsmtune.errors import ParseError

_BLANK = " \t\r\v\f"
_COMMENT = re.compile(r"(?<!\\)#")
_SECTION = re.compile(r"\[(?P<section>.*)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
"""Names of families and values are escaped (EscapeOptionString, util/string_util.cc)."""
_STATEMENT = re.compile(
    r"(?P<key>[^=\s](?:[^=]*[^=\s])?)(?P<equals>\s*=\s*)(?P<value>.*)", re.DOTALL | re.ASCII
)
_DEFAULT_INDENT = "  "
COMMA_NOTE = "numbers such as 0,75 have a decimal comma; lsmtune reads them as 0.75"
"""What a user is told where a text has decimal commas."""

_COMMA = re.compile(r"(?<![\w.,])(-?\d+),(\d+)(?![\d.,])")
_OF_A_DUMP = re.compile(r"^(?:Uptime\(secs\): \d+,\d|.* P50 : \d+,\d)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OptionsFile:
    """The statements of a file by section; a section's name is all that its brackets hold.

    In it, the name of a column family is unescaped.

    `rocksdb_version` is that of the writer, None when the file does not tell it.
    """

    rocksdb_version: str | None
    sections: Mapping[str, Mapping[str, str]]

    def get(self, section: str, key: str) -> str | None:
        """The value as written, or None when the file does not have it."""
        return self.sections.get(section, {}).get(key)


def parse_options(text: str) -> OptionsFile:
    """Read an OPTIONS file; of a key that a section has twice the first counts, as in RocksDB.

    A line that is neither section, statement nor comment, a statement before the first section,
    a section that comes twice, and a text without any section are ParseErrors.
    """
    sections: dict[str, dict[str, str]] = {}
    for line in _lines(text):
        if line.key is None:
            sections[line.section] = {}
        else:
            sections[line.section].setdefault(line.key, line.value)
    if not sections:
        raise ParseError("OPTIONS file: the file has no section such as [DBOptions]")
    return OptionsFile(sections.get("Version", {}).get("rocksdb_version"), sections)


def family_names(sections: Iterable[str]) -> list[str]:
    """Return the names of the column families of an OPTIONS file, from its sections."""
    heads = (name.partition(" ") for name in sections)
    return [rest.strip('"') for head, _, rest in heads if head == "CFOptions"]


def family_sections(family: str) -> tuple[str, str]:
    """Return the names of the two sections of a column family."""
    return f'CFOptions "{family}"', f'TableOptions/BlockBasedTable "{family}"'


def with_family_like(text: str, like: str, name: str) -> str:
    """Return an OPTIONS file with one more column family, which has the options of `like`.

    All other bytes stay as they are.
    """
    sections = parse_options(text).sections
    lines = [text.rstrip("\n"), ""]
    for source, target in zip(family_sections(like), family_sections(name), strict=True):
        if source in sections:
            lines += [f"[{target}]", *(f"  {k}={v}" for k, v in sections[source].items()), ""]
    return "\n".join(lines)


def families_in(text: str | None, tuned: str) -> tuple[str, ...]:
    """Return the column families of an OPTIONS file, the tuned one first.

    It is empty for other files, and for files without the tuned family.
    """
    try:
        names = [] if text is None else family_names(parse_options(text).sections)
    except ParseError:
        return ()
    return (tuned, *(name for name in names if name != tuned)) if tuned in names else ()


def family_document(families: Sequence[str]) -> dict[str, Any] | None:
    """Return the tuned family and the others as JSON; None if there are no families."""
    return {"tuned": families[0], "others": list(families[1:])} if families else None


@lru_cache(maxsize=16)
def version_of_options(text: str) -> str | None:
    """Return the version of RocksDB that wrote an OPTIONS file; None if the file has none.

    It is kept, because each knob space of a study asks for it.
    """
    return parse_options(text).rocksdb_version


def in_decimal_points(file: OptionsFile) -> tuple[OptionsFile, bool]:
    """Return the file with points for decimal commas, and whether it had such commas."""
    sections = {
        name: {key: with_points(value) for key, value in options.items()}
        for name, options in file.sections.items()
    }
    return OptionsFile(file.rocksdb_version, sections), sections != file.sections


def replace_options(text: str, changes: Mapping[tuple[str, str], str]) -> str:
    """Change the values of (section, key), and leave every other byte as it is.

    A key that its section lacks is added behind the section's last statement, indented like it.
    A section that the file lacks, and a value that cannot stand in such a file, are ParseErrors.
    """
    present = parse_options(text).sections
    for section, key in changes:
        if section not in present:
            raise ParseError(
                f"OPTIONS file: the section [{section}] is missing; add this section to set {key}"
            )
    pieces = text.split("\n")
    replaced: set[tuple[str, str]] = set()
    ends: dict[str, _Line] = {}
    for line in _lines(text):
        ends[line.section] = line
        place = (line.section, line.key or "")
        if line.key is not None and place in changes and place not in replaced:
            pieces[line.at] = _written(line, line.key, changes[place])
            replaced.add(place)
    for (section, key), value in changes.items():
        if (section, key) not in replaced:
            pieces[ends[section].at] += "\n" + _added(ends[section], key, value)
    return "\n".join(pieces)


@dataclass(frozen=True, slots=True)
class _Line:
    """A section's head (key None) or a statement, and the text around its value."""

    at: int
    section: str
    key: str | None
    value: str
    before: str
    after: str

    @property
    def indent(self) -> str:
        return _DEFAULT_INDENT if self.key is None else _cut(self.before)[0]


def _lines(text: str) -> Iterator[_Line]:
    section = None
    seen: set[str] = set()
    for at, content in enumerate(text.split("\n")):
        indent, body, rest = _cut(content)
        if head := _SECTION.fullmatch(body):
            section = unescaped(head["section"])
            if section in seen:
                raise ParseError(
                    f"OPTIONS file: line {at + 1}: the section [{section}] appears a second time"
                )
            seen.add(section)
            yield _Line(at, section, None, "", indent + body, rest)
        elif body:
            statement = _STATEMENT.fullmatch(body)
            if section is None or statement is None:
                raise ParseError(
                    f"OPTIONS file: line {at + 1}: write key=value instead of {content!r}"
                )
            before = indent + statement["key"] + statement["equals"]
            yield _Line(at, section, statement["key"], statement["value"], before, rest)


def unescaped(text: str) -> str:
    """The text that a value or a name of the file stands for."""
    return _ESCAPED.sub(lambda match: {"n": "\n", "r": "\r"}.get(match[1], match[1]), text)


def _cut(content: str) -> tuple[str, str, str]:
    """Split a line into its indentation, what it says, and the blanks and comment behind."""
    comment = _COMMENT.search(content)
    told = content[: comment.start()] if comment else content
    indent = len(told) - len(told.lstrip(_BLANK))
    end = max(indent, len(told.rstrip(_BLANK)))
    return content[:indent], content[indent:end], content[end:]


def _written(line: _Line, key: str, value: str) -> str:
    return _checked(f"{line.before}{value}{line.after}", key, value)


def _added(line: _Line, key: str, value: str) -> str:
    carriage_return = "\r" if line.after.endswith("\r") else ""
    return _checked(f"{line.indent}{key}={value}{carriage_return}", key, value)


def _checked(content: str, key: str, value: str) -> str:
    """Refuse a line that would not be read back as this key with this value."""
    _, body, _ = _cut(content)
    statement = None if _SECTION.fullmatch(body) else _STATEMENT.fullmatch(body)
    if "\n" in content or not statement or (statement["key"], statement["value"]) != (key, value):
        raise ParseError(
            f"OPTIONS file: {key}={value!r}: an OPTIONS file cannot contain this value"
        )
    return content


def with_points(text: str) -> str:
    """Return the text of an option with points for decimal commas."""
    return _COMMA.sub(r"\1.\2", text) if "," in text else text


def dump_with_points(text: str) -> str:
    """Return a statistics dump with points, if the numbers of its uptime or tickers have commas."""
    return with_points(text) if _OF_A_DUMP.search(text) else text
