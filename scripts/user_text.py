#!/usr/bin/env python3
"""Collects the text that users read, counts how long its sentences are, and samples it.

    scripts/user_text.py counts [--list] [--check]
    scripts/user_text.py sample docs --seed 1 -n 40
    scripts/user_text.py dump FOLDER

The text has three groups: `docs` (README.md and docs/), `messages` (messages and help in the
source, texts of the catalogue) and `pages` (HTML pages, from --pages or scripts/pages.py).
"""
# ruff: noqa: RUF001 - users read typographic characters

import argparse
import ast
import html
import math
import random
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ("docs", "messages", "pages")
MAX_MEDIAN, MAX_WORDS, MIN_SHARE = 16, 25, 0.95
_MIN_PROSE_WORDS = 8
"""Text without a full stop counts as prose from this length on; shorter text is a label."""
_MIN_MESSAGE_WORDS = 3
_MIN_SAMPLE_WORDS = 5

# Marks inside a text: characters of a private range, removed before text is shown.
_LINK, _END_LINK, _PLACEHOLDER = "\ue000", "\ue001", "\ue002"
_SHIFT = 0xE100
"""The name of a placeholder follows its mark, moved to a private range of characters."""
_NAME = "[\ue100-\ue1ff]"


def _placeholder(name: str) -> str:
    return _PLACEHOLDER + "".join(chr(_SHIFT + ord(c)) for c in name if c.isascii())


def _placeholder_text(found: re.Match[str]) -> str:
    name = "".join(chr(ord(c) - _SHIFT) for c in found[1])
    return f"<{name}>" if name else "…"


@dataclass(frozen=True)
class Text:
    """A paragraph, a list item, a table cell or a message."""

    path: str
    line: int
    heading: str
    text: str
    complete: bool = True
    """Whether it is understandable alone; False for a part of a longer message."""


@dataclass(frozen=True)
class Sentence(Text):
    """One sentence of a text."""

    @property
    def shown(self) -> str:
        """The sentence without marks, on one line."""
        return shown(self.text)


def shown(text: str) -> str:
    """Return the text as a reader sees it, on one line."""
    text = re.sub(f"[{_LINK}{_END_LINK}]", "", text)
    text = re.sub(f"{_PLACEHOLDER}({_NAME}*)", _placeholder_text, text)
    return " ".join(text.split())


# --- Sentences and words ---

_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.\s?g|i\.\s?e|vs|cf|approx|ca|resp|incl|al|[Ff]ig|[Ss]ec|No|p|pp|\d+|[A-Z])$"
)
_STOP = re.compile(rf"[.!?]+[\"'”’)\]{_END_LINK}]*(?=\s)")
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)


def split_sentences(text: str) -> list[tuple[int, str]]:
    """Split a text; return each sentence with its offset."""
    masked = _CODE.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    starts = [0]
    for stop in _STOP.finditer(masked):
        before = masked[starts[-1] : stop.start()].lstrip()
        following = masked[stop.end() :].lstrip()
        dotted = stop[0].startswith(".")
        if not following or (dotted and _is_abbreviation(before, following)):
            continue
        if not dotted or not stop[0].startswith("..") or not following[0].islower():
            starts.append(stop.end())
    ends = [*starts[1:], len(text)]
    pieces = [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]
    return [(start + len(s) - len(s.lstrip()), s.strip()) for start, s in pieces if s.strip()]


def _is_abbreviation(before: str, following: str) -> bool:
    found = _ABBREVIATION.search(before)
    if found is None:
        return False
    last = found[0].lstrip(" \n\t([\"'")
    if last.isdigit():  # "1. First" at the start is an item; "… in level 0. Then" is a stop
        return before.strip() == last
    if last.isupper():  # an initial, but also "phase A. The next"
        return following[:1].islower()
    return True


def count_words(text: str) -> int:
    """Count tokens with a letter; a code span, an address or a placeholder is one word."""
    return sum(
        any(c.isalpha() or c == _PLACEHOLDER for c in token)
        for token in _CODE.sub(" code ", text).split()
    )


def count_semicolons(text: str) -> int:
    """Count semicolons outside code."""
    return _CODE.sub("", text).count(";")


_NUMBER = rf"(?:\d[\d.,]*|[{_PLACEHOLDER}…]{_NAME}*)"
_UNIT = (
    r"(?:%|×|x|[KMGT]i?B|B|[nµum]?s|min|h|d|bytes?|seconds?|minutes?|hours?|days?|ops)(?![A-Za-z])"
)
_EXEMPT = re.compile(
    rf"`|[{_LINK}]|https?://"
    rf"|{_NUMBER}\s*(?:–|-|\.\.|to)\s*[-−]?{_NUMBER}"  # an interval
    rf"|{_NUMBER}\s*{_UNIT}"  # a number with a unit
    r"|(?:^|\s)--?[a-z]|\w_\w|\w+=|\w\.(?:toml|md|cnf|py|json|html|txt|c)\b"  # code
    r"|^[\d.,\s+−-]*$"  # a number
)


def count_brackets(text: str) -> int:
    """Count pairs of brackets, except those with an interval, a quantity, a link or code."""
    text = _CODE.sub("`code`", text)
    count, opened = 0, list[int]()
    for place, character in enumerate(text):
        if character in "([":
            opened.append(place)
        elif character in ")]" and opened:
            start = opened.pop()
            content = text[start + 1 : place]
            attached = start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_^")
            single = text[start] == "[" and " " not in content.strip()  # [online], [16]
            count += not (attached or single or _EXEMPT.search(content))
    return count


def find_sentences(texts: Iterable[Text], group: str) -> list[Sentence]:
    """Return the sentences of a group, without labels; what is repeated appears once."""
    found: dict[str, Sentence] = {}
    for text in texts:
        for offset, sentence in split_sentences(text.text):
            line = text.line + text.text.count("\n", 0, offset)
            if _is_prose(sentence, group):
                item = Sentence(text.path, line, text.heading, sentence, text.complete)
                found.setdefault(re.sub(r"\d[\d.,]*", "0", item.shown), item)
    return list(found.values())


def _is_prose(sentence: str, group: str) -> bool:
    words = count_words(sentence)
    if group == "messages":
        return words >= _MIN_MESSAGE_WORDS
    return words >= _MIN_PROSE_WORDS or (words > 1 and _ends(sentence, ".!?:"))


def _ends(sentence: str, stops: str) -> bool:
    return sentence.rstrip(f"\"'”’)]{_END_LINK}").endswith(tuple(stops))


# --- Documentation ---

_HIDDEN = re.compile(
    r"^(?P<fence>[ >]*(?:`{3,}|~{3,})).*?^(?P=fence)[ ]*$|<!--.*?-->|\A---\n.*?^---$",
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(
    r"(?P<code>(?P<tick>`+).+?(?P=tick))|</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>", re.DOTALL
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?")
_BOX = re.compile(r"\s*(?:!!!|\?\?\?\+?|===)\s")
_CODE_INDENT = 4
_LABEL = re.compile(r"\*\*([^*]+?)(?:[.:]\*\*|\*\*[.:])")
"""Bold words at the start of a paragraph, e.g. `**Time:** …`."""
_FENCE = "\ue003"
"""Mark of a block of code that was removed."""


def docs_texts(root: Path) -> Iterator[Text]:
    """Yield the prose of README.md and docs/."""
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if path.is_file():
            name = path.relative_to(root).as_posix()
            yield from markdown_texts(path.read_text(encoding="utf-8"), name)


def markdown_texts(source: str, path: str) -> Iterator[Text]:
    """Yield paragraphs, items, headings and long cells of a Markdown page, without its code.

    The heading of a cell ends with the first cell of the row, that of an item with the sentence
    that introduces the list and the bold label: a reader sees them next to the text.
    """
    source = _HIDDEN.sub(_hidden_lines, source)
    source = _TAG.sub(lambda m: m["code"] or "\n" * m[0].count("\n"), source)
    title = heading = path
    block, first, nested = list[str](), 0, False
    around, columns, intros = "", list[str](), _Introductions()

    def flush() -> Iterator[Text]:
        if block:
            label = _LABEL.match(source_text := "\n".join(block))
            own = f" / {plain_markdown(label[1])}" if label else ""
            text = plain_markdown(source_text)
            yield Text(path, first, heading + around + own, text)
            intros.add(text)
        block.clear()

    for number, line in enumerate(source.split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        content = re.sub(r"^\s*(?:>\s?)+", "", line)
        in_table = content.lstrip().startswith("|")
        columns = columns if in_table else []
        if not content.strip() or re.match(r"\[[^\]]+\]:\s", content):
            yield from flush()
        elif content.strip() == _FENCE:
            yield from flush()
            intros.start_block(indent)
        elif found := re.match(r"(#+)\s+(.*?)\s*#*(?:\s*\{.*\})?$", content):
            yield from flush()
            text = plain_markdown(found[2])
            yield Text(path, number, heading, text)
            title = shown(text) if len(found[1]) == 1 else title
            heading = title if len(found[1]) == 1 else f"{title} / {shown(text)}"
            nested = False
            intros.start_block(0)
        elif _BOX.match(content):
            yield from flush()
            nested = True
        elif in_table:
            yield from flush()
            intros.start_block(indent)
            for row, cell in _row(content, columns):
                yield Text(path, number, heading + row, cell)
        elif not block and indent >= _CODE_INDENT and not nested:
            continue  # an indented block of code
        else:
            if item := _ITEM.match(content):
                yield from flush()
                around = intros.start_item(indent, item.end())
                content, nested = content[item.end() :], True
            elif not block:
                around, nested = intros.start_block(indent), nested and indent > 0
            first = first if block else number
            block.append(content.strip())
    yield from flush()


class _Introductions:
    """Sentences that end with a colon and introduce the list that follows."""

    def __init__(self) -> None:
        self._open, self._indent = list[tuple[int, str]](), 0

    def add(self, text: str) -> None:
        """Open the last sentence of a text if it introduces a list."""
        if _ends(text, ":"):
            self._open.append((self._indent, shown(split_sentences(text)[-1][1])))

    def start_block(self, indent: int) -> str:
        """Close the introductions that do not reach a paragraph; return the others."""
        self._open = [opened for opened in self._open if opened[0] < indent]
        self._indent = indent
        return self._path()

    def start_item(self, indent: int, inside: int) -> str:
        """Close the introductions that do not reach an item; return the others.

        `inside` is where the text of the item starts.
        """
        self._open = [opened for opened in self._open if opened[0] <= indent]
        self._indent = inside
        return self._path()

    def _path(self) -> str:
        return "".join(f" / {sentence}" for _, sentence in self._open)


def _hidden_lines(found: re.Match[str]) -> str:
    """Return empty lines, the first one marked in place of a block of code."""
    fence = found["fence"]
    mark = "" if fence is None else fence.rstrip("`~").replace(">", " ") + _FENCE
    return mark + "\n" * found[0].count("\n")


def _row(line: str, columns: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each cell; keep the first row as heads of the columns."""
    cells = [plain_markdown(cell) for cell in _cells(line)]
    if not columns:
        columns += [shown(cell) for cell in cells]
        yield from (("", cell) for cell in cells if cell)
        return
    for place, cell in enumerate(cells):
        head = columns[place] if place < len(columns) else ""
        row = f"{shown(cells[0])}: {head}" if place else head
        if cell:
            yield f" / {row}".removesuffix(": "), cell


def _cells(row: str) -> list[str]:
    if re.fullmatch(r"[\s|:-]+", row):
        return []
    inner = re.sub(r"^\s*\||(?<!\\)\|\s*$", "", row)
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", inner)]


def plain_markdown(text: str) -> str:
    """Return text without Markdown's marks, except code spans; links are marked."""
    parts = re.split(r"(`+[^`]+`+)", text)
    codes = parts[1::2]
    text = "".join(part if i % 2 == 0 else f"`{i // 2}`" for i, part in enumerate(parts))
    text = re.sub(r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])", "", text)
    link = rf"{_LINK}\1{_END_LINK}"
    text = re.sub(r"\[([^\[\]]+)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])", link, text)
    text = re.sub(r"<(https?://[^>]+)>", link, text)
    text = re.sub(r"\*\*|__(?=\w)|(?<=\w)__|(?<![\w*\\])\*(?=\S)|(?<=[^\s\\])\*(?!\w)", "", text)
    text = html.unescape(re.sub(r"\\([\\`*_{}\[\]()#+.!|<>-])", r"\1", text))
    return re.sub(r"`(\d+)`", lambda found: codes[int(found[1])], text)


# --- Messages and help ---

_PAGE_MODULES = ("report/*", "recipes/*/page.py", "recipes/*/plots.py", "recipes/*_section.py",
                 "comparison/page.py", "analysis/*_words.py")  # fmt: skip
_MESSAGE_MODULES = tuple(
    f"report/{name}.py" for name in ("export", "my_cnf", "tikv_toml", "claim_text")
)
_PARSING = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find",
            "removeprefix", "removesuffix", "replace", "index", "count", "compile", "match",
            "search", "fullmatch", "findall", "finditer", "sub", "execute", "executemany",
            "executescript", "encode"}  # fmt: skip
_NO_TEXT = re.compile(
    r"\(\?|\\[sdwSb]|\[\^|\.\*|\)\?|</?[a-z]+[ >]"  # expressions, markup
    r"|\b(?:json_extract|TEXT|INTEGER|REAL)\b.*(?:NOT NULL|--|')|^\|"  # SQL, heads of tables
    r"|^Level\s+Files |^\] |^No space left on device$|^Recovering from manifest file$"
    r"|^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|SET|SHOW|GRANT|FLUSH|BEGIN)\b"
)


# What a user sees around a text of a module. The first start of a path that fits counts.
_TABLES = {
    "_STUDY_WORDS": "", "_WORKLOAD_WORDS": "workload.", "_PROTOCOL_WORDS": "protocol.",
    "_SCREEN_WORDS": "screen.", "_SWEEP_WORDS": "sweep.", "_ONLINE_WORDS": "online.",
    "_TIKV_WORDS": "tikv.", "_MIX_WORDS": "workload.mix.",
}  # fmt: skip
_NAMED = {"workloads/presets.py": "workload", "metrics/definitions.py": "metric"}
_COMMAND_OF = {
    "tuning": "tune", "plan": "tune", "usual_optimizer": "tune", "showing": "show",
    "comparing": "compare", "exporting": "export", "importances": "importance",
    "inspecting": "inspect", "reproducing": "reproduce", "screening": "screen",
    "simulating": "simulate", "sweeping": "sweep", "checks": "doctor", "lists": "knobs",
}  # fmt: skip
_SHARED = {"common", "main", "progress", "program", "tables", "baseline", "knob_values",
           "ranked_knobs", "study_schema"}  # fmt: skip
_ERRORS = {
    "engines/embedded/__init__.py": " of `lsmtune tune`",
    "engines/myrocks/__init__.py": " of `lsmtune tune`",
    "engines/rocksdb/__init__.py": " of `lsmtune tune`",
    "engines/tikv/__init__.py": " of `lsmtune tune` with TiKV",
    "studies/calibration.py": " of `lsmtune doctor --calibrate`",
    "studies/screen.py": " of `lsmtune screen`", "studies/sweep.py": " of `lsmtune sweep`",
    "studies/online.py": " of online tuning",
    "spec.py": " about a study file", "tables.py": " about a study file",
    "experiment.py": " about a study file", "workloads/": " about a study file",
    "objective.py": " about an objective or constraint", "batch.py": " about a batch file",
    "knobs/": " about knobs", "metrics/options_file.py": " about an OPTIONS file",
    "analysis/inspect/": " about a LOG", "metrics/log": " about a LOG",
    "metrics/compaction_table.py": " about a LOG", "store/": " about the folder of studies",
    "simulator/": " of the simulator", "studies/verify.py": " of `lsmtune verify`",
    "studies/": " about a study", "analysis/": " about a study",
    "engines/tikv/": " of a trial with TiKV",
    "engines/myrocks/": " of a trial with MyRocks", "engines/": " of a trial",
    "metrics/statistics.py": " about a statistics dump", "metrics/": " of a trial",
    "system/lock.py": " about two lsmtune processes at the same time",
    "system/server.py": " of `lsmtune dashboard`", "system/workdir.py": " about a work directory",
    "system/": " about a program that lsmtune starts", "optimizers/": " about an optimizer",
    "units.py": " about a number or size", "errors.py": " about an unknown name",
    "cli/knob_values.py": " about the value of a knob", "cli/": " of a command",
    "comparison/": " of `lsmtune compare`",
    "learning/": " of `lsmtune importance`", "recipes/": " of `lsmtune reproduce`",
}  # fmt: skip
_OUTPUT = {
    "cli/baseline.py": "output of `lsmtune tune`: options of your base file",
    "cli/ranked_knobs.py": "output of `lsmtune tune --knobs top:N`: source of the ranking",
    "cli/tables.py": "note below a table of results", "cli/common.py": "output of a command",
    "cli/progress.py": "progress of `lsmtune tune`", "cli/main.py": "lsmtune --help",
    "knobs/rules/refused.py": "rule between options: what RocksDB refuses",
    "knobs/rules/sanitised.py": "rule between options: what RocksDB changes",
    "knobs/rules/": "rule between options: what has no effect",
    "knobs/reference.py": "reference page of the knobs",
    "analysis/inspect/findings.py": "finding of `lsmtune inspect`",
    "analysis/inspect/stall_findings.py": "finding of `lsmtune inspect`",
    "analysis/inspect/study.py": "study file of `lsmtune inspect --to-study`",
    "analysis/inspect/": "note of `lsmtune inspect`", "metrics/log": "note of `lsmtune inspect`",
    "metrics/compaction_table.py": "note of `lsmtune inspect` about a compaction table",
    "metrics/statistics.py": "note of `lsmtune inspect` about a statistics dump",
    "metrics/definitions.py: METRICS": "operation whose latency is a metric",
    "metrics/definitions.py": "description of a metric",
    "knobs/types.py: around": "name of a value of a knob",
    "knobs/constraints.py": "why a config is not allowed",
    "engines/simulated.py: base": "why an option of your OPTIONS file is left out",
    "engines/tikv/__init__.py: base": "note of `lsmtune tune` on the baseline of TiKV",
    "engines/tikv/__init__.py: _not_as_given": "note of `lsmtune tune` on the baseline of TiKV",
    "engines/myrocks/live.py: _TRAITS": "property of the load that online tuning checks",
    "engines/rocksdb/driver/live.py": "property of the load that online tuning checks",
    "engines/rocksdb/options.py: version_notes": "note of `lsmtune tune` on the baseline",
    "engines/rocksdb/options.py": "why an option of your OPTIONS file is left out",
    "engines/myrocks/options.py": "why an option of your my.cnf is left out",
    "trials.py": "status of a trial", "studies/runner.py": "why a trial is disturbed",
    "studies/stopping.py": "why the search ended", "studies/early_stop.py": "why a trial is pruned",
    "studies/calibration.py": "progress of `lsmtune doctor --calibrate`",
    "studies/screen.py: _objection": "why `lsmtune screen` runs one config at a time",
    "studies/screen.py: usable_lines": "error message of `lsmtune screen`",
    "studies/screen.py": "progress of `lsmtune screen`",
    "studies/study.py: _search": "why the search ended",
    "studies/study.py: _end": "why the search ended",
    "studies/study.py: _repeat_finalists": "progress of `lsmtune tune`",
    "studies/online.py: tune_online": "error message of online tuning",
    "studies/online.py": "why an online change was kept or reverted",
    "studies/guard.py": "result of an online change",
    "optimizers/gp_ucb.py: schedule": "allowed values of an option of the optimizer gp-ucb",
    "optimizers/": "output of `lsmtune optimizers`", "report/claim_text.py": "summary of a study",
    "report/export.py": "note in an exported file", "report/tikv_toml.py": "note in a tikv.toml",
    "report/my_cnf.py": "note in a my.cnf", "recipes/": "result of `lsmtune reproduce`",
    "analysis/swept.py": "result of `lsmtune sweep`",
    "analysis/claim.py": "summary of a study", "analysis/read_study.py": "summary of a study",
    "analysis/": "output of `lsmtune show`", "verdict.py": "note on the verification of a winner",
    "system/lock.py: __call__": "progress of `lsmtune tune`",
    "learning/": "output of `lsmtune importance`", "comparison/": "output of `lsmtune compare`",
}  # fmt: skip
_UNSEEN = {"_PLAINER", "_STALL_LINES", "parse_banner", "Judgement"}
"""Names of tables and functions with texts of other programs or codes of JSON documents."""
_CHECKS_INPUT = ("spec.py", "tables.py", "experiment.py", "workloads/")
"""Modules whose ValueErrors pydantic reports; elsewhere a ValueError is a bug, not a message."""


def message_texts(root: Path) -> Iterator[Text]:
    """Yield messages and help of the source, then texts of the catalogue."""
    package = root / "src" / "lsmtune"
    commands = _find_commands(package / "cli" / "main.py")
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        if _is_read(inside):
            name = path.relative_to(root).as_posix()
            of_module = {function for module, function in commands if inside.stem == module}
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from _Messages(name, of_module if inside.parts[0] == "cli" else set()).read(tree)
    for path in sorted((package / "knobs" / "catalogue").rglob("*.toml")):
        yield from _toml_texts(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())


def _is_read(inside: Path) -> bool:
    name = inside.as_posix()
    if name in _MESSAGE_MODULES:
        return True
    return not name.startswith("report/") and not any(inside.match(p) for p in _PAGE_MODULES)


def _find_commands(main: Path) -> set[tuple[str, str]]:
    """Return (module, function) of what main.py registers, e.g. ("tune", "tune")."""
    if not main.is_file():
        return set()
    return {
        (node.value.id, node.attr)
        for node in ast.walk(ast.parse(main.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


class _Messages(ast.NodeVisitor):
    """Collects the string literals of a module that are text."""

    def __init__(self, path: str, commands: set[str]) -> None:
        self._path, self._commands = path, commands
        self._names: list[str] = []
        self._inner = self._raising = 0
        self._key = self._flag = self._argument = ""
        self._texts: list[Text] = []

    def read(self, tree: ast.Module) -> list[Text]:
        self.visit(tree)
        return self._texts

    def _add(self, node: ast.AST, text: str, heading: str = "") -> None:
        line = getattr(node, "lineno", 1)
        complete = not self._inner and bool(re.match(r"[^\s,;.:)\]–]", text))
        complete = complete and not re.search(r"[\s,;(\[]$", text)
        heading = heading or self._heading()
        for part in text.split("\n"):
            if _is_text(part):
                self._texts.append(Text(self._path, line, heading, part.strip(), complete))

    def _heading(self) -> str:
        """Return what a user sees around the text, or the place in the source if unknown."""
        inside = self._path.removeprefix("src/lsmtune/")
        names = self._names
        if self._flag:
            command = names[0] if names and names[0] in self._commands else ""
            return " ".join(filter(None, ["lsmtune", command, self._flag]))
        if names and names[0] in _TABLES:
            return f"study file: {_TABLES[names[0]]}{self._key}"
        if self._key and inside in _NAMED:
            return f"{_NAMED[inside]} {self._key}"
        kind = _kind_of(": ".join([inside, *names[-1:]]), bool(self._raising))
        return kind or ": ".join([self._path.removeprefix("src/"), *names[-1:]])

    def visit_Raise(self, node: ast.Raise) -> None:
        inside = self._path.removeprefix("src/lsmtune/")
        called = node.exc.func if isinstance(node.exc, ast.Call) else None
        is_value_error = isinstance(called, ast.Name) and called.id == "ValueError"
        if is_value_error and not inside.startswith(_CHECKS_INPUT):
            return
        self._raising += 1
        self.generic_visit(node)
        self._raising -= 1

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            before = self._key
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                self.visit(key)
                self._key = key.value
            elif key is not None:
                self.visit(key)
            self.visit(value)
            self._key = before

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorated = any("command" in ast.dump(d) for d in node.decorator_list)
        callback = any("callback" in ast.dump(d) for d in node.decorator_list)
        if not self._names and (node.name in self._commands or decorated or callback):
            command = "" if callback else f" {node.name}"
            for paragraph in re.split(r"\n\s*\n", ast.get_docstring(node) or ""):
                self._add(node, " ".join(paragraph.split()), f"lsmtune{command} --help")
        self._named(node.name, node)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_arg(self, node: ast.arg) -> None:
        self._argument = node.arg
        self.generic_visit(node)
        self._argument = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._named(node.name, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        top = isinstance(target, ast.Name) and not self._names
        self._named(target.id if top and isinstance(target, ast.Name) else "", node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # `Annotated[…]` contains help; other annotations contain names only.
        self._named(node.target.id if isinstance(node.target, ast.Name) else "", node)

    def _named(self, name: str, node: ast.AST) -> None:
        if name in _UNSEEN:
            return
        self._names.extend([name] if name else [])
        self.generic_visit(node)
        if name:
            self._names.pop()

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for part in (node.left, *node.comparators):
            if not isinstance(part, ast.Constant):
                self.visit(part)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("Option", "Argument"):
            self._flag = _flag_of(node, self._argument or "".join(self._names[-1:]))
            self.generic_visit(node)
            self._flag = ""
            return
        first = node.args[0] if node.args else None
        if isinstance(function, ast.Name) and function.id == "Metric":
            before, self._key = self._key, first.value if _is_word(first) else self._key
            self.generic_visit(node)
            self._key = before
            return
        if isinstance(function, ast.Attribute) and function.attr in _PARSING:
            self.visit(function.value)
            for argument in node.args:
                if not _is_string(argument):
                    self.visit(argument)
            return
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._add(node, node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._joined(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Mod) and _is_string(node):
            self._joined(node)
        else:
            self.generic_visit(node)

    def _joined(self, node: ast.expr) -> None:
        values: list[ast.expr] = []
        self._add(
            node,
            re.sub(
                f"({_PLACEHOLDER}{_NAME}*)(?:{_PLACEHOLDER}{_NAME}*)+",
                r"\1",
                _template(node, values),
            ),
        )
        self._inner += 1
        for value in values:
            self.visit(value)
        self._inner -= 1


def _kind_of(place: str, raised: bool) -> str:
    """Return what the texts at a place are, e.g. "progress of `lsmtune tune`"; "" if unknown.

    A text that has no other kind and is not printed by a command is part of an error message.
    """
    inside = place.partition(":")[0]
    command = _COMMAND_OF.get(Path(inside).stem, Path(inside).stem)
    own = inside.startswith("cli/") and command not in _SHARED
    if own and inside != "cli/main.py":
        return f"{'error message' if raised else 'output'} of `lsmtune {command}`"
    for kinds, start in (
        ((_ERRORS, "error message"),) if raised else ((_OUTPUT, ""), (_ERRORS, "error message"))
    ):
        for prefix, kind in kinds.items():
            if place.startswith(prefix):
                return start + kind
    return "error message" if raised else ""


def _flag_of(call: ast.Call, name: str) -> str:
    """Return the flag of an option, e.g. `--dry-run`, or the name of an argument."""
    flags = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    argument = isinstance(call.func, ast.Attribute) and call.func.attr == "Argument"
    word = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name)
    return flags[0] if flags else word.upper() if argument else f"--{word.lower()}"


def _is_word(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_string(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _is_string(node.left) or (isinstance(node.op, ast.Add) and _is_string(node.right))
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _template(node: ast.expr, values: list[ast.expr]) -> str:
    """Return the text of a string expression; what is filled in is added to `values`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part, values) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_string(node):
        return _template(node.left, values) + _template(node.right, values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_string(node):
        values.append(node.right)
        return re.sub(r"%[-+.\d]*[a-z]", _PLACEHOLDER, _template(node.left, values))
    value = node.value if isinstance(node, ast.FormattedValue) else node
    values.append(value)
    return _placeholder(_value_name(value))


def _value_name(node: ast.expr) -> str:
    """Return what a reader sees instead of a value, e.g. "path"; "" if the source has no name."""
    if isinstance(node, ast.Call):
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if method is not None and method.attr != "join":
            return _value_name(method.value)
        return _value_name(node.args[0] if node.args else node.func)
    if isinstance(node, ast.Subscript):
        return _value_name(node.value).removesuffix("s")
    name = node.id if isinstance(node, ast.Name) else ""
    name = node.attr if isinstance(node, ast.Attribute) else name
    return name.strip("_").replace("_", " ") if len(name) > 1 else ""


def _is_text(text: str) -> bool:
    plain = re.findall(
        rf"(?<![\w{_PLACEHOLDER}\ue100-\ue1ff=/-])[\"'(\[]*[A-Za-z][a-z'’-]+(?![\w=/(])", text
    )
    return (
        not _NO_TEXT.search(text)
        and len(plain) >= _MIN_MESSAGE_WORDS
        and count_words(text) <= 2 * len(plain)
    )


_TOML_FIELDS = {
    "trade": "effect", "risk": "risk", "inert": "why it has no effect in trials",
    "title": "content", "source": "source", "reason": "why the parameter is not a knob",
    "notes": "note on the knobs", "defaults_of": "source of the defaults",
}  # fmt: skip


_TOML_KINDS = {
    "knob": "knob ", "preset": "preset of knobs ", "start": "first configs of a search: ",
    "workload_parameter": "parameter of the workload ",
}  # fmt: skip


def _toml_texts(source: str, path: str) -> Iterator[Text]:
    lines = source.split("\n")

    def walk(value: Any, name: str, field: str = "") -> Iterator[Text]:
        if isinstance(value, dict):
            kind = _TOML_KINDS.get(field, "")
            name = f"{kind}{value['name']}" if "name" in value else name
            for key, inner in value.items():
                meaning = f"meaning of the value {value.get('value')}"
                yield from walk(inner, name, meaning if key == "meaning" else key)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner, name, field)
        elif isinstance(value, str) and _is_text(value):
            start = value.strip().split("\n", maxsplit=1)[0]
            line = next((i for i, row in enumerate(lines, 1) if start in row), 1)
            yield Text(path, line, f"{name}: {_TOML_FIELDS.get(field, field)}", value)

    yield from walk(tomllib.loads(source), f"engine {Path(path).parent.name}")


# --- Pages ---

_INLINE = {"a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "label", "mark", "q", "s",
           "samp", "small", "span", "strong", "sub", "sup", "time", "tspan", "u", "var", "wbr",
           "img"}  # fmt: skip
_UNREAD = {"script", "style", "pre", "title", "template"}
_HEADINGS = {"h1", "h2", "h3"}
_CONTAINERS = {"article", "details"}
"""A heading inside one of these ends with it."""
_LONGEST_ROW_HEAD = 60
"""A longer first cell of a row is a text of its own, not a name."""
_INVISIBLE = {0x2060: None, 0xAD: None, 0x200B: None}
"""Characters that only control where a line breaks."""
_AROUND = {"a": (_LINK, _END_LINK), "code": ("`", "`"), "kbd": ("`", "`"), "samp": ("`", "`")}


class _Page(HTMLParser):
    """Collects the visible text of an HTML page, one text per block element.

    The first cell of a table's row, and a term of a list of terms, is part of the heading of
    what follows in the row.
    """

    def __init__(self, path: str) -> None:
        super().__init__(convert_charrefs=True)
        self._path = self._heading = path
        self._row, self._is_row_head = "", False
        self._outer = list[str]()
        self._line, self._parts = 1, list[str]()
        self._unread, self.texts = 0, list[Text]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNREAD:
            self._unread += 1
        if tag not in _INLINE:
            self.flush()
            self._is_row_head = tag == "dt" or (tag == "th" and ("scope", "row") in attrs)
            self._row = "" if self._is_row_head else self._row
            if tag in _CONTAINERS:
                self._outer.append(self._heading)
        elif tag in _AROUND:
            self._parts.append(_AROUND[tag][0])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD:
            self._unread = max(0, self._unread - 1)
        elif tag in _HEADINGS:
            heading = self.flush()
            self._heading = heading or self._heading
        elif tag not in _INLINE:
            text = self.flush()
            if self._is_row_head and tag in ("th", "dt"):
                self._row = text if len(text) <= _LONGEST_ROW_HEAD else ""
            elif tag in ("tr", "dl"):
                self._row = ""
            elif tag in _CONTAINERS and self._outer:
                self._heading = self._outer.pop()
        elif tag in _AROUND:
            self._parts.append(_AROUND[tag][1])

    def handle_data(self, data: str) -> None:
        if not self._unread:
            if not "".join(self._parts).strip():
                self._line = self.getpos()[0] + data[: len(data) - len(data.lstrip())].count("\n")
            self._parts.append(data)

    def flush(self) -> str:
        text = " ".join("".join(self._parts).translate(_INVISIBLE).split())
        self._parts.clear()
        if shown(text):
            heading = f"{self._heading} / {self._row}" if self._row else self._heading
            self.texts.append(Text(self._path, self._line, heading, text))
        return shown(text)


def html_texts(source: str, path: str) -> list[Text]:
    """Return the visible texts of an HTML page."""
    page = _Page(path)
    page.feed(source)
    page.close()
    page.flush()
    return page.texts


def page_texts(root: Path, folder: Path | None) -> Iterator[Text]:
    """Yield the texts of the pages in a folder; without one, render them first."""
    if folder is not None:
        for path in sorted(folder.rglob("*.html")):
            name = path.relative_to(folder).as_posix()
            yield from html_texts(path.read_text(encoding="utf-8"), name)
        return
    script = root / "scripts" / "pages.py"
    if not script.is_file():
        raise LookupError("pages: scripts/pages.py is missing; name a folder with --pages")
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, str(script), name]
        done = subprocess.run(command, cwd=root, check=False, stdout=subprocess.DEVNULL)
        if done.returncode:
            raise LookupError(f"pages: scripts/pages.py failed with exit code {done.returncode}")
        yield from page_texts(root, Path(name))


# --- Commands ---


@dataclass(frozen=True)
class Counts:
    """Lengths of the sentences of a group, and the sentences that break a rule."""

    sentences: int
    median: float
    p95: int
    long: list[Sentence]
    semicolons: list[Sentence]
    brackets: list[Sentence]

    def broken_rules(self) -> list[str]:
        """Return the rules that the group breaks."""
        broken = []
        if self.median > MAX_MEDIAN:
            broken.append(f"median of {self.median:g} words; at most {MAX_MEDIAN}")
        if len(self.long) > (1 - MIN_SHARE) * self.sentences:
            share = len(self.long) / self.sentences
            broken.append(f"{share:.1%} of the sentences have over {MAX_WORDS} words; at most 5 %")
        if self.semicolons:
            broken.append(f"{len(self.semicolons)} sentences with two semicolons")
        if self.brackets:
            broken.append(f"{len(self.brackets)} sentences with two pairs of brackets")
        return broken


def count(sentences: list[Sentence]) -> Counts:
    """Count the words of each sentence."""
    lengths = sorted(count_words(s.text) for s in sentences) or [0]
    return Counts(
        len(sentences),
        statistics.median(lengths),
        lengths[math.ceil(0.95 * len(lengths)) - 1],
        [s for s in sentences if count_words(s.text) > MAX_WORDS],
        [s for s in sentences if count_semicolons(s.text) > 1],
        [s for s in sentences if count_brackets(s.text) > 1],
    )


def sample(sentences: list[Sentence], group: str, seed: int, number: int) -> str:
    """Return random sentences, each below its heading, as Markdown."""
    fit = [s for s in sentences if count_words(s.text) >= _MIN_SAMPLE_WORDS and s.complete]
    if group != "messages":
        fit = [s for s in fit if _ends(s.text, ".!?")]
    chosen = random.Random(seed).sample(fit, min(number, len(fit)))  # noqa: S311
    items = [f"{i}. **{s.heading}**\n   {s.shown}\n" for i, s in enumerate(chosen, 1)]
    return "\n".join([f"# {len(chosen)} sentences of {group}, seed {seed}\n", *items])


def dump(sentences: list[Sentence]) -> str:
    """Return all sentences of a group, below their headings, as Markdown."""
    lines = []
    for heading, found in groupby(sentences, key=lambda s: s.heading):
        lines += [f"## {heading}\n", *(f"{s.shown}\n" for s in found)]
    return "\n".join(lines)


def _print_counts(groups: dict[str, list[Sentence]], listed: bool) -> bool:
    """Print the counts and, if wanted, the offenders; return whether all rules are kept."""
    print(f"{'group':10}sentences  median  95 %  over {MAX_WORDS}  semicolons  brackets")
    found = {group: count(sentences) for group, sentences in groups.items()}
    for group, c in found.items():
        print(
            f"{group:10}{c.sentences:9}{c.median:8g}{c.p95:6}{len(c.long):9}"
            f"{len(c.semicolons):12}{len(c.brackets):10}"
        )
    if listed:
        for c in found.values():
            _print_offenders("words", c.long, lambda s: count_words(s.text))
            _print_offenders("semicolons", c.semicolons, lambda s: count_semicolons(s.text))
            _print_offenders("pairs of brackets", c.brackets, lambda s: count_brackets(s.text))
    broken = [f"{group}: {rule}" for group, c in found.items() for rule in c.broken_rules()]
    print(*broken, sep="\n", end="\n" if broken else "")
    return not broken


def _print_offenders(
    what: str, sentences: list[Sentence], number: Callable[[Sentence], int]
) -> None:
    for s in sorted(sentences, key=number, reverse=True):
        print(f"{s.path}:{s.line}: {number(s)} {what}: {s.shown}")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Collect and count the text that users read.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--root", type=Path, default=ROOT, help="tree to read [this repository]")
    common.add_argument("--pages", type=Path, help="folder of HTML pages [render them]")
    commands = parser.add_subparsers(dest="command", required=True)
    counts = commands.add_parser("counts", parents=[common], help="count words per sentence")
    counts.add_argument("groups", nargs="*", metavar="GROUP", help="groups to count [all]")
    counts.add_argument("--list", action="store_true", help="list sentences that break a rule")
    counts.add_argument("--check", action="store_true", help="exit with 1 if a rule is broken")
    sampled = commands.add_parser("sample", parents=[common], help="print random sentences")
    sampled.add_argument("group", choices=GROUPS)
    sampled.add_argument("--seed", type=int, default=1)
    sampled.add_argument("-n", dest="number", type=int, default=40)
    dumped = commands.add_parser("dump", parents=[common], help="write all sentences to files")
    dumped.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    if unknown := sorted(set(getattr(options, "groups", ())) - set(GROUPS)):
        parser.error(f"unknown group {unknown[0]!r}; available: {', '.join(GROUPS)}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parse(arguments)
    wanted = [options.group] if options.command == "sample" else getattr(options, "groups", [])
    groups: dict[str, list[Sentence]] = {}
    readers: dict[str, Callable[[], Iterator[Text]]] = {
        "docs": lambda: docs_texts(options.root),
        "messages": lambda: message_texts(options.root),
        "pages": lambda: page_texts(options.root, options.pages),
    }
    complete = True
    for group in wanted or GROUPS:
        try:
            groups[group] = find_sentences(readers[group](), group)
        except LookupError as error:
            print(error, file=sys.stderr)
            complete = False
    if options.command == "counts":
        kept = _print_counts(groups, options.list) and complete
        return int(options.check and not kept)
    if options.command == "sample" and complete:
        print(sample(groups[options.group], options.group, options.seed, options.number))
    elif options.command == "dump":
        options.folder.mkdir(parents=True, exist_ok=True)
        for group, sentences in groups.items():
            (options.folder / f"{group}.md").write_text(dump(sentences), encoding="utf-8")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
