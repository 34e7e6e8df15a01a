"""Text of Markdown pages: README.md and docs/."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from user_text_sentences import END_LINK, LINK, Text, ends_with, shown, split_sentences

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
        if ends_with(text, ":"):
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
    link = rf"{LINK}\1{END_LINK}"
    text = re.sub(r"\[([^\[\]]+)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])", link, text)
    text = re.sub(r"<(https?://[^>]+)>", link, text)
    text = re.sub(r"\*\*|__(?=\w)|(?<=\w)__|(?<![\w*\\])\*(?=\S)|(?<=[^\s\\])\*(?!\w)", "", text)
    text = html.unescape(re.sub(r"\\([\\`*_{}\[\]()#+.!|<>-])", r"\1", text))
    return re.sub(r"`(\d+)`", lambda found: codes[int(found[1])], text)
