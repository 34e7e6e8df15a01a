"""Places and words of the compaction tables in a text.

A table begins at its heading, which names the column family, or at its header, or at a row:
documents and mails lose what is above.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsmtune.metrics.log_events import HIDDEN

_START = re.compile(
    r"\*\* Compaction Stats \[(?P<family>[^*]{0,500}?)\] \*\*"
    r"|(?<!\*\* )\bCompaction Stats \[(?P<bare>[^*\]\n]{1,200})\]"
    r"|(?P<header>\bLevel\s{1,20}Files\s{1,20}Size\b(?!\(MB\)\s{1,20}Time))"
    r"|^[ \t>|]{0,40}(?P<row>L\d{1,3}[ \t|]{1,40}\d{1,15}/\d{1,15}[ \t|]{1,40}"
    r"\d{1,15}(?:\.\d{1,9})?[ \t]{1,9}[KMGT]B\b)",
    re.MULTILINE,
)
"""The name of a column family may have a line end. LevelDB's table has `Time` after the size."""
_TOKEN = re.compile(r"\d+(?:\.\d+)?\s+[KMGT]B(?!\S)|\S+")
_LABEL = re.compile(r"L\d{1,3}|Sum|Int")
_RULE = re.compile(r"(?=[-|>:]*(?:-{3}|[|>]))[-|>:]+")
"""A line below the header, or a mark of a quotation or of a table in Markdown."""
_HEADER_WORD = re.compile(r"[A-Za-z(][\w()/-]*")
_CELL = re.compile(r"-?\d+(?:\.\d+)?(?:[KMG]|\s*[KMGT]B)?|\d+/\d+")
_NEXT_ROW = re.compile(r"[ \t>|]*(?:L\d{1,3}|Sum|Int)[ \t|]+\d+/\d+[ \t|]")
_FIRST_COLUMNS = (
    "Level Files Size Score Read(GB) Rn(GB) Rnp1(GB) Write(GB) {}Wnew(GB) Moved(GB) W-Amp "
    "Rd(MB/s) Wr(MB/s) Comp(sec) {}Comp(cnt) Avg(sec) KeyIn KeyDrop{}"
)
_CPU, _BLOBS, _BEFORE = "CompMergeCPU(sec) ", " Rblob(GB) Wblob(GB)", "WPreComp(GB) "
_LAYOUTS = {
    len(columns.split()): columns.split()
    for columns in (
        _FIRST_COLUMNS.format("", "", ""),
        _FIRST_COLUMNS.format("", _CPU, ""),
        _FIRST_COLUMNS.format("", _CPU, _BLOBS),
        _FIRST_COLUMNS.format(_BEFORE, _CPU, _BLOBS),
    )
}
"""The columns of RocksDB 5 to 11 by their number; the size of a file has its unit."""
_CERTAIN_COLUMNS = ["Level", "Files", "Size"]


@dataclass(frozen=True, slots=True)
class TableText:
    """Words of a table.

    `family` is None without a heading. `header` has its words, also where `has_header` is false:
    then they are those of RocksDB for this number of cells, or the certain ones.
    """

    family: str | None
    line: int
    header: list[str]
    rows: list[list[str]]
    has_header: bool = True


def table_texts(plain: str) -> Iterator[TableText]:
    """Yield the tables in the order of the text, those by priority too.

    A table without a heading has rows.
    """
    line, seen, end = 1, 0, 0
    for start in _START.finditer(plain):
        if start.start() < end:
            continue  # a part of the table before
        line, seen = line + plain.count("\n", seen, start.start()), start.start()
        family = start["bare"] if start["family"] is None else start["family"]
        if start["row"] is not None:
            _, rows, end = _cut(plain, start.start("row"), has_header=False)
            header = _LAYOUTS.get(len(rows[0]), _CERTAIN_COLUMNS) if rows else []
        else:
            begin = start.start("header") if start["header"] is not None else start.end()
            header, rows, end = _cut(plain, begin, has_header=True)
        if rows or family is not None:
            yield TableText(family, line, header, rows, start["row"] is None)


def _cut(plain: str, begin: int, *, has_header: bool) -> tuple[list[str], list[list[str]], int]:
    """Collect the words of the header and the cells of each row up to what belongs to neither.

    A remark behind a row is skipped. A word that ends with the text may be cut and is left out.
    """
    header: list[str] = []
    rows: list[list[str]] = []
    at = begin
    while (token := _TOKEN.search(plain, at)) and token.end() < len(plain):
        word = token[0]
        if _LABEL.fullmatch(word) and (header or not has_header):
            rows.append([word])
        elif rows and (_CELL.fullmatch(word) or word == HIDDEN):
            rows[-1].append(word)
        elif not rows and has_header and _HEADER_WORD.fullmatch(word):
            header.append(word)
        elif not _RULE.fullmatch(word):
            line_end = plain.find("\n", token.start())
            if not rows or line_end < 0 or not _NEXT_ROW.match(plain, line_end + 1):
                break
            at = line_end
            continue
        at = token.end()
    return header, rows, at
