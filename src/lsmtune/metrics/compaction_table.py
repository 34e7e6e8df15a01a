"""The tables of compaction by level and the write stalls that RocksDB prints below them.

The format is that of `InternalStats::DumpCFStats` and `DumpDBStats` in db/internal_stats.cc, as
found in `rocksdb.stats`, in LOG, and in documents that such a table was pasted into. Columns are
known by the header, because they change between versions (10.4 inserted WPreComp), and every
cell is checked against the number format of its column, because documents lose and move cells.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from lsmtune.errors import ParseError
from lsmtune.metrics.log_events import HIDDEN
from lsmtune.metrics.table_texts import TableText, table_texts

_COLUMN = re.compile(r"[A-Za-z][\w-]*(?:\([^)]*\))?")
_ANY = re.compile(r".*")
_DEFAULT = "default"
_FILES = re.compile(r"(\d{1,15})/(\d{1,15})")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]B)")
_SIZE_UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_COUNT = re.compile(r"(-?\d{1,15})([KMG]?)")
_COUNT_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}

_STALL_SCOPE = re.compile(r"\*\* (DB|Compaction) Stats (?:\[(?P<family>.*?)\] )?\*\*")
_STALL_TIME = re.compile(r"(\d{1,9}):(\d\d):(\d{1,2}(?:\.\d+)?) H:M:S, (\d+(?:\.\d+)?) percent.*")
_STALL_LINES = {
    "Stalls(count)": re.compile(r"(?P<count>\d{1,20}) (?P<cause>\S.*)"),
    "Write Stall (count)": re.compile(r"(?P<cause>\S+): (?P<count>\d{1,20})"),
}

_LONGEST_ITEM = 60
_STALL_TOTALS = ("total-delays", "total-stops")
_STALL_PARTS = ("with_compaction", "with-ongoing-compaction")

_CERTAIN_COLUMNS = (["Level", "Files", "Size"], ["Level", "Files", "Size(MB)"])
_CERTAIN = 3
_CELL_FORMATS = {
    "Files": _FILES,
    "Size": _SIZE,
    "Size(MB)": re.compile(r"\d{1,15}(?:\.\d+)?"),
    "Comp(sec)": re.compile(r"\d+(?:\.\d\d)?"),  # old versions print whole seconds
    "CompMergeCPU(sec)": re.compile(r"\d+\.\d\d"),
    "Comp(cnt)": re.compile(r"\d{1,15}"),
    "Avg(sec)": re.compile(r"\d+\.\d{3}"),
    "KeyIn": _COUNT,
    "KeyDrop": _COUNT,
}
_ONE_DIGIT = re.compile(r"-?\d+\.\d")  # of Score, W-Amp and all columns in GB and MB/s
_ONE_DIGIT_COLUMN = re.compile(r"Score|W-Amp|.+\((?:GB|MB/s)\)")


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One row; None if the header lacks the column or the row lacks the value.

    `size_bytes` is as rounded as the text (two digits in binary units), so are the key counts
    (thousands) and the GB (binary, one digit). `w_amp_table` divides bytes written by bytes
    that came from above, already compressed: it is not the exact write amplification.
    `read_gb` and `write_gb` of the levels below L0 are of compactions, of L0 of flushes. They are
    tables and blob files together.
    """

    level: str
    files: int | None
    files_being_compacted: int | None
    size_bytes: int | None
    score: float | None
    read_gb: float | None
    write_gb: float | None
    moved_gb: float | None
    w_amp_table: float | None
    read_mb_s: float | None
    write_mb_s: float | None
    comp_s: float | None
    comp_cpu_s: float | None
    comp_count: int | None
    keys_in: int | None
    keys_dropped: int | None


@dataclass(frozen=True, slots=True)
class CompactionTable:
    """One table by level, cumulative since the DB was opened; empty levels have no row.

    `incomplete` has a sentence for each row or header that could not be read whole.
    """

    column_family: str
    rows: tuple[LevelRow, ...]
    sum: LevelRow | None
    incomplete: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StallSummary:
    """Time and number of delays and stops of writes since the database was opened.

    `stall_s` and `stall_percent` (of the uptime) are None when the text lacks the line. `counts`,
    over all column families, has RocksDB's names of the causes and is empty without them. Causes
    overlap: `…with_compaction` and `…with-ongoing-compaction` are part of the cause without that
    ending, `total-delays` and `total-stops` sum up the others. `by_family` has the same counts of
    each column family, and those of the database under "".
    """

    stall_s: float | None
    stall_percent: float | None
    counts: Mapping[str, int]
    by_family: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def number_of_stalls(counts: Mapping[str, int]) -> int:
    """Return how often writes were delayed or stopped, each stall counted once."""
    if any(name in counts for name in _STALL_TOTALS):
        return sum(counts.get(name, 0) for name in _STALL_TOTALS)
    return sum(count for cause, count in counts.items() if not cause.endswith(_STALL_PARTS))


def parse_compaction_tables(text: str) -> list[CompactionTable]:
    """Read the tables by level in the order of the text, those by priority left out.

    Header and rows may be wrapped over lines and separated by spaces or tabs. A row with too few
    or unfit cells keeps its level, files and size, has None for the rest and a sentence in
    `incomplete`; a cell that a mail hides is None alone. A table is never refused, for a text may
    hold many and end within one. A word that ends with the text may be cut and is left out. A
    table without a heading counts as one of the family `default`.
    """
    plain = text.replace("\\*", "*").replace("\\_", "_").replace("&nbsp;", " ")
    return [_table(found) for found in table_texts(plain) if found.header[:1] != ["Priority"]]


def parse_stall_summary(text: str, unreadable: list[str] | None = None) -> StallSummary:
    """Read the last cumulative stall time and, for each column family and the DB, the last counts.

    RocksDB up to 8.0 counts in a line `Stalls(count)`, since then in lines `Write Stall (count)`.
    A last line without its line end is left out; a line that is not what its beginning says is a
    ParseError. If there is a list `unreadable`, the error is added to it, and only this line is
    left out.
    """
    stall_s = stall_percent = None
    scope, counts_by_scope = "", dict[str, Counter[str]]()
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        if heading := _STALL_SCOPE.search(line):
            scope = heading["family"] or ""
            continue
        try:
            if "Cumulative stall: " in line:
                words = line.partition("Cumulative stall: ")[2]
                stall_s, stall_percent = _stall_time(words, number)
            elif line.startswith(tuple(_STALL_LINES)):
                counts_by_scope[scope] = _stall_counts(line, number)
        except ParseError as error:
            if unreadable is None:
                raise
            unreadable.append(str(error))
    causes = dict.fromkeys(cause for counts in counts_by_scope.values() for cause in counts)
    total = {cause: sum(counts[cause] for counts in counts_by_scope.values()) for cause in causes}
    return StallSummary(stall_s, stall_percent, total, counts_by_scope)


def _columns(header: list[str]) -> list[str]:
    joined = " ".join(header).replace("CompMerge CPU", "CompMergeCPU").replace(" (", "(")
    return _COLUMN.findall(joined)


def _table(found: TableText) -> CompactionTable:
    family = _DEFAULT if found.family is None else found.family.replace("\n", "\\n")
    place = f"line {found.line}: compaction table of [{found.family or family}]"
    columns = _columns(found.header)
    if columns[:_CERTAIN] not in _CERTAIN_COLUMNS:
        return CompactionTable(family, (), None, (f"{place}: lsmtune cannot parse the header",))
    rows = [cells for cells in found.rows if cells[0] != "Int"]
    read = [_row(columns, cells) for cells in rows]
    levels = tuple(row for row in read if row.level != "Sum")
    sums = [row for row in read if row.level == "Sum"]
    faults = [f"{place}: {lost}" for lost in _lost(found)]
    faults += [f"{place}: {fault}" for cells in rows for fault in _faults(columns, cells)]
    if not sums:
        faults.append(f"{place}: the table has no row Sum")
    return CompactionTable(family, levels, sums[-1] if sums else None, tuple(faults))


def _lost(found: TableText) -> Iterator[str]:
    if found.family is None:
        yield f"the heading with the column family is missing; lsmtune assumes {_DEFAULT}"
    if not found.has_header:
        yield "the header is missing; lsmtune assumes the columns of RocksDB with as many cells"


def _faults(columns: list[str], cells: list[str]) -> Iterator[str]:
    if (fault := _fault(columns, cells)) is not None:
        yield fault
        return
    hidden = [name for name, cell in zip(columns, cells, strict=True) if cell == HIDDEN]
    if hidden:
        yield f"row {cells[0]} has hidden cells ({HIDDEN}), so {', '.join(hidden)} is unknown"


def _fault(columns: list[str], cells: list[str]) -> str | None:
    kept = "lsmtune uses only the columns Files and Size of this row"
    if len(cells) != len(columns):
        return f"row {cells[0]} has {len(cells)} cells for {len(columns)} columns; {kept}"
    for column, cell in zip(columns, cells, strict=True):
        default = _ONE_DIGIT if _ONE_DIGIT_COLUMN.fullmatch(column) else _ANY
        if cell != HIDDEN and not _CELL_FORMATS.get(column, default).fullmatch(cell):
            return f"row {cells[0]} has the invalid cell {cell!r} in column {column}; {kept}"
    return None


def _row(columns: list[str], cells: list[str]) -> LevelRow:
    certain = _CERTAIN if _fault(columns, cells) else len(columns)
    pairs = zip(columns[:certain], cells, strict=False)
    cell = {column: text for column, text in pairs if text != HIDDEN}
    files = _FILES.fullmatch(cell.get("Files", ""))
    return LevelRow(
        level=cells[0],
        files=int(files[1]) if files else None,
        files_being_compacted=int(files[2]) if files else None,
        size_bytes=_size(cell.get("Size") or cell.get("Size(MB)", "") + "MB"),
        score=_decimal(cell.get("Score")),
        read_gb=_with_blobs(cell, "Read(GB)", "Rblob(GB)"),
        write_gb=_with_blobs(cell, "Write(GB)", "Wblob(GB)"),
        moved_gb=_decimal(cell.get("Moved(GB)")),
        w_amp_table=_decimal(cell.get("W-Amp")),
        read_mb_s=_decimal(cell.get("Rd(MB/s)")),
        write_mb_s=_decimal(cell.get("Wr(MB/s)")),
        comp_s=_decimal(cell.get("Comp(sec)")),
        comp_cpu_s=_decimal(cell.get("CompMergeCPU(sec)")),
        comp_count=_count(cell.get("Comp(cnt)")),
        keys_in=_count(cell.get("KeyIn")),
        keys_dropped=_count(cell.get("KeyDrop")),
    )


def _size(cell: str) -> int | None:
    match = _SIZE.fullmatch(cell)
    return round(float(match[1]) * _SIZE_UNITS[match[2]]) if match else None


def _decimal(cell: str | None) -> float | None:
    return None if cell is None else float(cell)


def _with_blobs(cell: Mapping[str, str], tables: str, blobs: str) -> float | None:
    """Return the GB of tables and of blob files, which RocksDB counts in columns of their own."""
    gb = _decimal(cell.get(tables))
    return None if gb is None else round(gb + (_decimal(cell.get(blobs)) or 0.0), 1)


def _count(cell: str | None) -> int | None:
    match = _COUNT.fullmatch(cell or "")
    return int(match[1]) * _COUNT_UNITS[match[2]] if match else None


def _stall_time(words: str, number: int) -> tuple[float, float]:
    match = _STALL_TIME.match(words)
    if match is None:
        raise ParseError(f"line {number}: invalid time of the cumulative stall: {words!r}")
    hours, minutes, seconds, percent = match.groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds), float(percent)


def _stall_counts(line: str, number: int) -> Counter[str]:
    start = next(name for name in _STALL_LINES if line.startswith(name))
    listed = (
        line.removeprefix(start).removeprefix(": ").strip().rstrip(",").split(", ")
    )  # RocksDB 8.1 ends the database's line with one
    wanted = [item for item in listed if not item.startswith("interval ")]
    matches = [_STALL_LINES[start].fullmatch(item) for item in wanted]
    counts = list(takewhile(bool, matches))
    # RocksDB 8.1 has no line end after the counts of a family: the block cache follows. A count
    # after an item that is none shows a damaged line.
    if not counts or any(matches[len(counts) :]):
        wrong = wanted[len(counts)][:_LONGEST_ITEM]
        raise ParseError(f"line {number}: invalid stall count {wrong!r}")
    return Counter({match["cause"]: int(match["count"]) for match in counts if match})
