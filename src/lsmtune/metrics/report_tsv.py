"""Reader of the report that RocksDB's tools/benchmark.sh writes: one row per test.

The columns are known by the header, which changed twice: `ops/sec … Test` until RocksDB 6.22
(report.txt, whose header the script only prints), `ops_sec … percentile_99 … test_name` until 7.3,
and `ops_sec … stall% … test … githash` since 7.4. A text may have several headers, as the
summary of tools/benchmark_compare.sh does, and lines of other text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsmtune.metrics.benchmark_run import (
    PART,
    BenchmarkRun,
    Fact,
    bytes_per_operation,
    heading,
    percentile_name,
    threads_of,
)
from lsmtune.units import GIB, KIB, MIB, TIB

_VALUES = {
    "ops_sec": "ops_per_s", "ops/sec": "ops_per_s",
    "usec_op": "micros_per_op", "usec/op": "micros_per_op",
    "mb_sec": "mb_per_s", "mb/sec": "mb_per_s",
    "pmax": "max_us",
    "stall%": "stall_percent", "stall_percent": "stall_percent", "nstall": "stalls",
    "w_amp": "write_amp", "w-amp": "w_amp_table", "write_amplification": "w_amp_table",
    "lsm_sz": "live_sst_bytes", "size-gb": "live_sst_bytes", "total_size_gb": "live_sst_bytes",
    "blob_sz": "blob_bytes",
    "c_wgb": "compaction_write_bytes", "sum_gb": "compaction_write_bytes",
    "c_wsecs": "compaction_s", "c_csecs": "compaction_cpu_s",
    "u_cpu": "user_cpu_s", "s_cpu": "system_cpu_s", "rss": "peak_rss_bytes",
    "uptime": "uptime_s",
}  # fmt: skip
"""The columns with numbers that are used, by their name in lower case.

`w_amp` divides by the bytes of clients, the older columns by the bytes of flushes."""

_UNITS = {
    "size-gb": GIB, "total_size_gb": GIB, "c_wgb": GIB, "sum_gb": GIB, "rss": GIB,
    "u_cpu": 1000, "s_cpu": 1000,
}  # fmt: skip
_SETUP = {"version": "version", "rocksdb_version": "version", "githash": "githash",
          "job_id": "job_id"}  # fmt: skip
_OPS = ("ops_sec", "ops/sec")
_TEST = ("test", "test_name")
_NUMBER_OF_STALLS = "nstall"
_PERCENTILE = re.compile(r"(?:p|percentile_)(\d\d(?:\.\d+)?)")
_NAME = re.compile(r"[A-Za-z][\w.-]*")
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{0,20})?|\.\d{1,20}")
_SIZE = re.compile(r"(\d{1,20}(?:\.\d{1,20})?)([KMGT]?B)")
_SIZE_UNITS = {"B": 1, "KB": KIB, "MB": MIB, "GB": GIB, "TB": TIB}
_UNKNOWN = ("", "na", "nan", "-nan", "inf", "-inf", "-")
_FAILED = "failed"
_FILLS = ("fill", "bulkload")
"""Tests that begin with an empty tree: its size at the end is a result."""
_THREADS = re.compile(r"\.t(\d{1,6})(?=\.|$)")
_VALUE_BYTES = re.compile(r"\.v(\d{1,9})(?=\.|$)")
_DUMP_INTERVAL_S = 60
"""The column `uptime` is the time of the last statistics, which the script prints this often."""
_HASH = re.compile(r"[0-9a-f]{6,40}")


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """The tests of a report in the order of its rows, and a sentence per row that is left out."""

    runs: tuple[BenchmarkRun, ...]
    faults: tuple[str, ...]


class _DamagedRowError(Exception):
    """A row that cannot be read."""


def is_report(text: str) -> bool:
    """Return whether the text has a header of such a report."""
    return any(_header(line) is not None for line in text.splitlines())


def parse_report(text: str) -> BenchmarkReport:
    """Read the rows. A damaged row, or the row of a test that failed, is left out and named."""
    columns: list[str] | None = None
    runs, faults, part = list[BenchmarkRun](), list[str](), dict[str, Fact]()
    for number, line in enumerate(text.splitlines(), start=1):
        if (header := _header(line)) is not None:
            columns = header
        elif columns is not None and _is_row(line):
            try:
                runs.append(_run(_cells(line, columns), part))
            except _DamagedRowError as error:
                faults.append(f"line {number} of the report is left out: {error}")
        elif (found := heading(line)) is not None:
            part = {PART: found}
    return BenchmarkReport(tuple(runs), tuple(faults))


def _header(line: str) -> list[str] | None:
    if not line.lstrip().lower().startswith(_OPS):
        return None
    names = [name.strip().lower() for name in _split(line)]
    return names if any(name in _TEST for name in names) else None


def _split(line: str) -> list[str]:
    """Split at tabs; a text that lost its tabs at blanks."""
    return line.rstrip("\r\n").split("\t") if "\t" in line else line.split()


def _is_row(line: str) -> bool:
    """Return whether a line below a header is a row, and not a comment or other text."""
    first, *others = _split(line) or [""]
    numeric = _NUMBER.fullmatch(first.strip()) is not None or first.strip().lower() in _UNKNOWN
    return bool(others) and (numeric or first.strip() == _FAILED or "\t" in line)


def _cells(line: str, columns: Sequence[str]) -> Mapping[str, str]:
    cells = [cell.strip() for cell in _split(line)]
    at_test = next(at for at, name in enumerate(columns) if name in _TEST)
    if "\t" not in line:
        cells = list(_with_empty_cells(cells, columns, at_test))
    if len(cells) > len(columns) or len(cells) <= at_test:
        raise _DamagedRowError(f"it has {len(cells)} of {len(columns)} fields")
    return dict(zip(columns, cells, strict=False))


def _with_empty_cells(cells: Sequence[str], columns: Sequence[str], at_test: int) -> Iterator[str]:
    """Give the cells with those that are empty: between blanks, an empty cell leaves no trace.

    New versions of RocksDB do not print the line from which the script takes the number of
    stalls, and job_id is the user's.
    """
    named = (at for at, cell in enumerate(cells) if at and _is_name(cell))
    found = next(named, len(cells))
    before, after = list(cells[:found]), list(cells[found:])
    if found == at_test - 1 and _NUMBER_OF_STALLS in columns[:at_test]:
        before.insert(columns.index(_NUMBER_OF_STALLS), "")
    if len(after) == len(columns) - at_test - 1 and columns[-1] == "githash":
        is_hash = _HASH.fullmatch(after[-1]) is not None
        after.insert(len(after) - is_hash, "")
    yield from (*before, *after)


def _is_name(cell: str) -> bool:
    return _NAME.fullmatch(cell) is not None and cell.lower() not in _UNKNOWN


def _run(cells: Mapping[str, str], part: Mapping[str, Fact]) -> BenchmarkRun:
    test = next((cells[name] for name in _TEST if name in cells), "")
    if not _is_name(test):
        raise _DamagedRowError(f"{test!r} is not the name of a test")
    if any(cells.get(name) == _FAILED for name in _OPS):
        raise _DamagedRowError(f"the test {test} failed")
    values = dict(_values(cells))
    if not values.get("ops_per_s"):
        raise _DamagedRowError(f"the test {test} has no operations per second")
    return BenchmarkRun(test, values, {**dict(_setup(test, values, cells)), **part})


def _values(cells: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for column, cell in cells.items():
        percentile = _PERCENTILE.fullmatch(column)
        name = percentile_name(percentile[1]) if percentile else _VALUES.get(column)
        if name is None or cell.lower() in _UNKNOWN:
            continue
        if size := _SIZE.fullmatch(cell):
            yield name, float(size[1]) * _SIZE_UNITS[size[2]]
        elif _NUMBER.fullmatch(cell):
            yield name, float(cell) * _UNITS.get(column, 1)
        else:
            raise _DamagedRowError(f"{column} is {cell!r} and not a number")


def _setup(
    test: str, values: Mapping[str, float], cells: Mapping[str, str]
) -> Iterator[tuple[str, Fact]]:
    """Give how the test ran; the script puts threads and the size of values into its name."""
    ops, micros = values["ops_per_s"], values.get("micros_per_op")
    threads = _THREADS.search(test)
    count = int(threads[1]) if threads else threads_of(ops, micros) if micros else None
    if count is not None:
        yield "threads", count
    if size := _VALUE_BYTES.search(test):
        yield "value_bytes", int(size[1])
    if (size_bytes := bytes_per_operation(ops, values.get("mb_per_s"))) is not None:
        yield "bytes_per_op", size_bytes
    if "live_sst_bytes" in values and not test.startswith(_FILLS):
        yield "tree_bytes", values["live_sst_bytes"]
    if uptime_s := values.get("uptime_s"):
        yield "duration_s", uptime_s
        yield "operations", ops * uptime_s
        yield "duration_error_s", _DUMP_INTERVAL_S
    for column, name in _SETUP.items():
        if (text := cells.get(column, "")).lower() not in _UNKNOWN:
            yield name, text
