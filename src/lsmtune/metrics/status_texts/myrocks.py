"""MyRocks: SHOW GLOBAL STATUS, and the tables ROCKSDB_* of INFORMATION_SCHEMA.

The names and forms are those of a run of MyRocks 6.29 in MariaDB 10.11 and of its client: a table
with bars, lines with tabs (`--batch`), `\\G`, and CSV as other clients export it.
"""

import re
from collections.abc import Iterator

from lsmtune.metrics.containers import csv_row
from lsmtune.metrics.status_texts.names import COLUMNS, PERF_CONTEXT, STALLS, TICKERS
from lsmtune.metrics.status_texts.perf_context import tickers_of
from lsmtune.metrics.status_texts.status import StatusText

KIND = "MyRocks status table"
_MORE = (
    "the LOG in the folder .rocksdb or #rocksdb of the data folder contains options, events and "
    "times too"
)
_WANTED = (
    "use SHOW GLOBAL STATUS, or the tables ROCKSDB_COMPACTION_STATS and ROCKSDB_CF_OPTIONS of "
    "INFORMATION_SCHEMA"
)
_PREFIX = "rocksdb_"
_NAME = re.compile(
    r"\b(?:(?i:rocksdb)_[A-Za-z_0-9]+|BLOCK_READ_COUNT|CompCount|LEVEL0_STOP_WRITES_TRIGGER"
    r"|NUM_IMMUTABLE_MEM_TABLE|DB_BLOCK_CACHE_USAGE|SST_NAME)\b"
)
"""The status variables, and a name of each table."""
_VERTICAL_ROW = re.compile(r"\*{3,} \d+\. row \*{3,}")
_VERTICAL_CELL = re.compile(r"\s*\w+: ?(.*)")
_LEVEL = re.compile(r"L\d{1,2}|Sum")
_COUNT = re.compile(r"\d{1,20}")
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?")
_OPTION = re.compile(r"(?:TABLE_FACTORY::)?([A-Z][A-Z0-9_]*)")
_IS_OPTION = "WRITE_BUFFER_SIZE"
_SYSTEM_FAMILY = "__system__"
_OPTION_NAMES = {"compression_type": "compression", "capacity": "block_cache_capacity"}
_OPTION_VALUES = {"ON": "1", "OFF": "0", "NULL": "nullptr"}
_CELLS_OF_OPTION, _KEYS_OF_LEVEL = 3, 2
"""Cells of a row of ROCKSDB_CF_OPTIONS, and those before name and value in COMPACTION_STATS."""


def read_myrocks(text: str) -> StatusText | None:
    """Return what the text says; None if it is not from MyRocks."""
    if _NAME.search(text) is None:
        return None
    rows = [[cell.strip() for cell in row] for row in _rows(text)]
    if not any(_NAME.fullmatch(cell) for row in rows for cell in row[:-1]):
        return None
    rows = [row for row in rows if len(row) > 1]
    status = StatusText(KIND, _MORE, _WANTED)
    perf: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for *keys, name, value in rows:
        plain = name.lower()
        if plain in PERF_CONTEXT and _COUNT.fullmatch(value):
            sums = perf[bool(keys)]
            sums[plain] = sums.get(plain, 0) + int(value)
        elif not keys and _COUNT.fullmatch(value):
            _take_variable(status, plain, int(value))
        elif len(keys) == _KEYS_OF_LEVEL and name in COLUMNS and _NUMBER.fullmatch(value):
            family, level = keys
            if _LEVEL.fullmatch(level):
                status.set_level(family, level, COLUMNS[name], float(value))
    status.options = _options(rows)
    of_all, of_tables = perf
    status.tickers = {**tickers_of(of_all or of_tables), **status.tickers}
    return status


def _take_variable(status: StatusText, name: str, count: int) -> None:
    plain = name.removeprefix(_PREFIX)
    if name == "uptime":
        status.uptime_s = float(count)
    elif name != plain and plain in TICKERS:
        status.tickers[TICKERS[plain]] = count
    elif name != plain and plain in STALLS:
        status.count_stalls("", STALLS[plain], count)


def _options(rows: list[list[str]]) -> dict[str, dict[str, str]]:
    """Return the options of ROCKSDB_CF_OPTIONS by column family."""
    of_families = [row for row in rows if len(row) == _CELLS_OF_OPTION]
    families = {row[0] for row in of_families if row[1] == _IS_OPTION}
    options: dict[str, dict[str, str]] = {}
    for family, name, value in of_families:
        if family in families and (option := _OPTION.fullmatch(name)) is not None:
            plain = option[1].lower()
            own = options.setdefault(family, {})
            own[_OPTION_NAMES.get(plain, plain)] = _OPTION_VALUES.get(value, value)
    # The first family with options is the main one where no sizes are known.
    return dict(sorted(options.items(), key=lambda item: item[0] == _SYSTEM_FAMILY))


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of each row, in any form that a client prints."""
    vertical: list[str] | None = None
    for line in text.splitlines():
        if _VERTICAL_ROW.search(line):
            if vertical:
                yield vertical
            vertical = []
        elif vertical is not None and (cell := _VERTICAL_CELL.fullmatch(line)) is not None:
            vertical.append(cell[1])
        else:
            yield _cells(line)
    if vertical:
        yield vertical


def _cells(line: str) -> list[str]:
    bare = line.strip()
    if bare.startswith("|"):
        return bare.strip("|").split("|")
    separator = next((one for one in ("\t", ",", ";") if one in bare), None)
    return bare.split() if separator is None else csv_row(bare, separator)
