#!/usr/bin/env python3
"""Checks the text that users read: `python scripts/plain_text.py`; `make check` runs it.

It reads README.md and docs/, and from src/ messages, help and texts of the catalogue. A
sentence of more than 40 words is a fault, and so is a word that this project replaces with a
plainer one. Of each group, at most 2 % of the sentences may have more than 25 words; --long lists
them. Each fault is one line, and the exit code is then 1.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LONG, LONGEST, MOST_LONG = 25, 40, 0.02
PLAINER = {
    r"(?:un|fore)told|foretell\w*": "predicted, missing",
    r"besides?": "next to, in addition to",
    r"anew|thereof|borne|mend(?:s|ed)?": "again, of it, carried, repaired",
    r"(?:hangs?|hung|leans?) on": "depends on",
    r"stands? (?:beside|for|in)|stood still": "is next to, means, is in, was blocked",
    r"comes? to nothing": "fails",
    r"constraints?(?!:)": "limit",
    r"made right": "corrected",
    r"(?:simply|obviously|of course|please)": "nothing: leave it out",
}
"""Words that are not used in texts, as regular expressions, and what is written instead."""

_VALUE = "…"
"""What is written for a value that a message fills in."""
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)
_STOP = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)")  # noqa: RUF001
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|al|[Ff]ig|No|\d+)$")
_FEWEST_WORDS = 3
_NO_TEXT = re.compile(
    r"\(\?|\\[sdwSb]|\[\^|\.\*|</?[a-z]+[ >]|^\||^\] "  # expressions, markup, tables of RocksDB
    r"|^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|SET|SHOW|GRANT|BEGIN)\b"
)
_HIDDEN = re.compile(
    r"^(?P<fence>[ >]*(?:`{3,}|~{3,})).*?^(?P=fence)[ ]*$|<!--.*?-->|\A---\n.*?^---$",
    re.DOTALL | re.MULTILINE,
)
_NEW_TEXT = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#|>|\||!!!|\?\?\?|===)")


class Text(NamedTuple):
    """A paragraph, an item, a cell, a message: where it starts, and its words."""

    path: str
    line: int
    text: str


def docs_texts(root: Path) -> Iterator[Text]:
    """Yield paragraphs, items, headings and cells of README.md and docs/, without their code."""
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if path.is_file():
            name = path.relative_to(root).as_posix()
            for line, text in _blocks(path.read_text(encoding="utf-8")):
                yield Text(name, line, text)


def _blocks(source: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each block of a Markdown page."""
    source = _HIDDEN.sub(lambda found: "\n" * found[0].count("\n"), source)
    first, block = 0, list[str]()
    for number, line in enumerate([*source.split("\n"), ""], 1):
        if block and (not line.strip() or _NEW_TEXT.match(line)):
            yield first, _plain("\n".join(block))
            block.clear()
        if line.lstrip().startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                yield number, _plain(cell.strip())
        elif line.strip():
            first = first if block else number
            block.append(re.sub(r"^\s*(?:[-*+]\s+|\d+[.)]\s+|#+\s+|>\s?|!!!\s+)", "", line))


def _plain(text: str) -> str:
    """Return the text without links and marks of Markdown; code spans stay."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\[\]]+)\](?:\([^()\s]*\)|\[[^\]]*\])", r"\1", text)
    return re.sub(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?!\w)", "", text)


def message_texts(root: Path) -> Iterator[Text]:
    """Yield the texts of the source that users read, then those of the catalogue."""
    sources = root / "src"
    for path in sorted(sources.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        is_command = path.parent.name == "cli" or path.name == "commands.py"
        for line, text in _literals(tree, is_command=is_command):
            yield from (Text(name, line, part) for part in text.split("\n") if _is_text(part))
    for path in sorted(sources.rglob("*.toml")):
        name, source = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        for text in _strings(tomllib.loads(source)):
            line = source[: max(0, source.find(text.strip().split("\n")[0]))].count("\n") + 1
            yield from [Text(name, line, text)] if _is_text(text) else []


def _literals(tree: ast.Module, is_command: bool) -> Iterator[tuple[int, str]]:
    """Yield string literals with their lines; docstrings only of the functions of commands."""
    seen = set[int]()
    for node in ast.walk(tree):  # outer nodes come first
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            seen.add(id(node.value))
        elif is_command and isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            for paragraph in re.split(r"\n\s*\n", ast.get_docstring(node) or ""):
                yield node.lineno, " ".join(paragraph.split())
        elif isinstance(node, ast.JoinedStr):
            seen.update(id(part) for part in node.values)
            parts = (part.value if isinstance(part, ast.Constant) else _VALUE
                     for part in node.values)  # fmt: skip
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and id(node) not in seen:
            yield from [(node.lineno, node.value)] if isinstance(node.value, str) else []


def _is_text(text: str) -> bool:
    """Return whether a string is words for readers, not code."""
    words = re.findall(r"(?<![\w=/-])[\"'(\[]*[A-Za-z][a-z'’-]+(?![\w=/(])", text)  # noqa: RUF001
    return (
        len(words) >= _FEWEST_WORDS
        and count_words(text) <= 2 * len(words)
        and not _NO_TEXT.search(text)
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def split_sentences(text: str) -> list[tuple[int, str]]:
    """Return each sentence with its offset."""
    masked = _CODE.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    starts = [0]
    for stop in _STOP.finditer(masked):
        before = masked[starts[-1] : stop.start()].lstrip()
        short = _ABBREVIATION.search(before)
        # "1. First" is an item, "at level 0. Then" is a stop.
        is_number = short is not None and short[0].strip().isdigit() and short[0] != before
        if stop[0].startswith("..") or (short and not is_number):
            continue
        starts.append(stop.end())
    pieces = [(a, text[a:b]) for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [(a + len(s) - len(s.lstrip()), s.strip()) for a, s in pieces if s.strip()]


def count_words(text: str) -> int:
    """Count tokens with a letter; a code span or a value that is filled in is one word."""
    tokens = _CODE.sub(" code ", text).split()
    return sum(any(c.isalpha() or c == _VALUE for c in token) for token in tokens)


def sentences(texts: Iterator[Text]) -> list[Text]:
    """Return the sentences of texts; what is repeated appears once."""
    found = dict[str, Text]()
    for text in texts:
        for offset, sentence in split_sentences(text.text):
            line = text.line + text.text.count("\n", 0, offset)
            shown = " ".join(sentence.split())
            if count_words(shown) >= _FEWEST_WORDS:
                found.setdefault(shown, Text(text.path, line, shown))
    return list(found.values())


def faults(group: str, found: list[Text]) -> Iterator[str]:
    """Yield a line for each fault of the sentences of a group."""
    for path, line, text in found:
        if (words := count_words(text)) > LONGEST:
            yield f"{path}:{line}: {words} words, at most {LONGEST}: {text}"
        plain = _CODE.sub("``", text)
        for pattern, instead in PLAINER.items():
            if word := re.search(rf"\b(?:{pattern})\b", plain, re.IGNORECASE):
                yield f"{path}:{line}: {word[0]!r}; write {instead}: {text}"
    long = sum(count_words(each.text) > LONG for each in found)
    if long > MOST_LONG * len(found):
        yield f"{group}: {long} of {len(found)} sentences have over {LONG} words; at most 2 %"


def main(arguments: list[str] | None = None) -> int:
    """Print the faults; return the exit code."""
    parser = argparse.ArgumentParser(description="Check the text that users read.")
    parser.add_argument("--root", type=Path, default=ROOT, help="tree to read [this repository]")
    parser.add_argument("--long", action="store_true", help=f"list sentences over {LONG} words")
    options = parser.parse_args(arguments)
    lines = []
    for group, texts in (("docs", docs_texts), ("messages", message_texts)):
        found = sentences(texts(options.root))
        lines += faults(group, found)
        if options.long:
            for path, line, text in found:
                if (words := count_words(text)) > LONG:
                    print(f"{path}:{line}: {words} words: {text}")
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
