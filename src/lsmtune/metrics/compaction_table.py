"""The tables of compaction by level and the write stalls that RocksDB prints below them.

The format is that of `InternalStats::DumpCFStats` and `DumpDBStats` in db/internal_stats.cc, as
found in `rocksdb.stats`, in LOG, and in documents that such a table was pasted into. Columns are
known by the header, because they change between versions (10.4 inserted WPreComp), and every
cell is checked against the number format of its column, because documents lose and move cells.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lsmtune.errors import ParseError

_HEADING = re.compile(r"\*\* Compaction Stats \[([^*]{0,500}?)\] \*\*")
"""The name of a column family may have a line end."""
_TOKEN = re.compile(r"\d+(?:\.\d+)?\s+[KMGT]B(?!\S)|\S+")
_LABEL = re.compile(r"L\d{1,3}|Sum|Int")
_RULE = re.compile(r"-{3,}")
_HEADER_WORD = re.compile(r"[A-Za-z(][\w()/-]*")
_COLUMN = re.compile(r"[A-Za-z][\w-]*(?:\([^)]*\))?")
_ANY = re.compile(r".*")
_CELL = re.compile(r"-?\d+(?:\.\d+)?(?:[KMG]|\s*[KMGT]B)?|\d+/\d+")

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
    `read_gb` and `write_gb` of the levels below L0 are of compactions, of L0 of flushes.
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
    `incomplete`; a table is never refused, for a text may hold many and end within one. A word
    that ends with the text may be cut and is left out.
    """
    plain = text.replace("\\*", "*").replace("\\_", "_")
    tables, line, seen = [], 1, 0
    for heading in _HEADING.finditer(plain):
        line, seen = line + plain.count("\n", seen, heading.start()), heading.start()
        tokens = _TOKEN.finditer(plain, heading.end())
        header, rows = _cut(token[0] for token in tokens if token.end() < len(plain))
        if header[:1] != ["Priority"]:
            place = f"line {line}: compaction table of [{heading[1]}]"
            family = heading[1].replace("\n", "\\n")
            tables.append(_table(family, place, _columns(header), rows))
    return tables


def parse_stall_summary(text: str) -> StallSummary:
    """Read the last cumulative stall time and, for each column family and the DB, the last counts.

    RocksDB up to 8.0 counts in a line `Stalls(count)`, since then in lines `Write Stall (count)`.
    A last line without its line end is left out; a line that is not what its beginning says is a
    ParseError.
    """
    stall_s = stall_percent = None
    scope, counts_by_scope = "", dict[str, Counter[str]]()
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        if heading := _STALL_SCOPE.search(line):
            scope = heading["family"] or ""
        elif "Cumulative stall: " in line:
            stall_s, stall_percent = _stall_time(line.partition("Cumulative stall: ")[2], number)
        elif line.startswith(tuple(_STALL_LINES)):
            counts_by_scope[scope] = _stall_counts(line, number)
    causes = dict.fromkeys(cause for counts in counts_by_scope.values() for cause in counts)
    total = {cause: sum(counts[cause] for counts in counts_by_scope.values()) for cause in causes}
    return StallSummary(stall_s, stall_percent, total, counts_by_scope)


def _cut(tokens: Iterable[str]) -> tuple[list[str], list[list[str]]]:
    """Collect the words of the header and the cells of each row up to what belongs to neither."""
    header: list[str] = []
    rows: list[list[str]] = []
    for token in tokens:
        if _LABEL.fullmatch(token) and header:
            rows.append([token])
        elif rows and _CELL.fullmatch(token):
            rows[-1].append(token)
        elif not rows and _HEADER_WORD.fullmatch(token):
            header.append(token)
        elif not _RULE.fullmatch(token):
            break
    return header, rows


def _columns(header: list[str]) -> list[str]:
    joined = " ".join(header).replace("CompMerge CPU", "CompMergeCPU").replace(" (", "(")
    return _COLUMN.findall(joined)


def _table(family: str, place: str, columns: list[str], rows: list[list[str]]) -> CompactionTable:
    if columns[:_CERTAIN] not in _CERTAIN_COLUMNS:
        return CompactionTable(family, (), None, (f"{place}: lsmtune cannot parse the header",))
    rows = [cells for cells in rows if cells[0] != "Int"]
    read = [_row(columns, cells) for cells in rows]
    levels = tuple(row for row in read if row.level != "Sum")
    sums = [row for row in read if row.level == "Sum"]
    faults = [f"{place}: {_fault(columns, cells)}" for cells in rows if _fault(columns, cells)]
    if not sums:
        faults.append(f"{place}: the table has no row Sum")
    return CompactionTable(family, levels, sums[-1] if sums else None, tuple(faults))


def _fault(columns: list[str], cells: list[str]) -> str | None:
    kept = "lsmtune uses only the columns Files and Size of this row"
    if len(cells) != len(columns):
        return f"row {cells[0]} has {len(cells)} cells for {len(columns)} columns; {kept}"
    for column, cell in zip(columns, cells, strict=True):
        default = _ONE_DIGIT if _ONE_DIGIT_COLUMN.fullmatch(column) else _ANY
        if not _CELL_FORMATS.get(column, default).fullmatch(cell):
            return f"row {cells[0]} has the invalid cell {cell!r} in column {column}; {kept}"
    return None


def _row(columns: list[str], cells: list[str]) -> LevelRow:
    certain = _CERTAIN if _fault(columns, cells) else len(columns)
    cell = dict(zip(columns[:certain], cells, strict=False))
    files = _FILES.fullmatch(cell.get("Files", ""))
    return LevelRow(
        level=cells[0],
        files=int(files[1]) if files else None,
        files_being_compacted=int(files[2]) if files else None,
        size_bytes=_size(cell.get("Size") or cell.get("Size(MB)", "") + "MB"),
        score=_decimal(cell.get("Score")),
        read_gb=_decimal(cell.get("Read(GB)")),
        write_gb=_decimal(cell.get("Write(GB)")),
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
    matches = [match for item in wanted if (match := _STALL_LINES[start].fullmatch(item))]
    if len(matches) < len(wanted):
        raise ParseError(f"line {number}: invalid list of stall counts: {line!r}")
    return Counter({match["cause"]: int(match["count"]) for match in matches})
