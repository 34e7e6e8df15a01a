"""Text of HTML pages: of a folder, or of those that scripts/pages.py renders."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from user_text_sentences import END_LINK, LINK, Text, shown

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
_AROUND = {"a": (LINK, END_LINK), "code": ("`", "`"), "kbd": ("`", "`"), "samp": ("`", "`")}


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
