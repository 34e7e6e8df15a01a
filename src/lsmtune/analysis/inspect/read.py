"""Reading a file: a LOG, a statistics dump, or what db_bench or MyRocks printed."""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from lsmtune.analysis.inspect.assemble import assemble, of_options
from lsmtune.analysis.inspect.bench_runs import REPORT, last_results, only_version, read_runs
from lsmtune.analysis.inspect.findings import judged
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.options_input import read_options
from lsmtune.errors import ParseError, UserError
from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.db_bench import BenchmarkResult, parse_banner, parse_results
from lsmtune.metrics.db_bench_runs import has_means
from lsmtune.metrics.decimal_points import dump_with_points
from lsmtune.metrics.frames import without_frames
from lsmtune.metrics.log_dump import parse_stats_dump
from lsmtune.metrics.log_lines import STANDARD_INPUT, read_lines
from lsmtune.metrics.log_reader import LogContent, TimedDump, read_log
from lsmtune.metrics.report_tsv import is_report
from lsmtune.metrics.statistics import parse_statistics

_MOST_OUTPUT_LINES = 100_000
"""An output of db_bench or a file of options has fewer lines."""
_HEAD_LINES = 1000
_DUMP = "statistics dump"
_MYROCKS = re.compile(r"^(?:STATISTICS\trocksdb|\s*Type: (?:STATISTICS|DBSTATS|CF_COMPACTION))",
                      re.MULTILINE)  # fmt: skip
_LOG_NAMES = ("LOG", "*_LOG", "rocksdb.info")
"""A LOG in the folder of the database, in `db_log_dir`, and of TiKV."""
_LEVELDB = re.compile(
    r"^\d{4}/\d\d/\d\d-[\d:.]+ \w+ (?:Recovering log #|Level-0 table #|Compacting \d+@|"
    r"compacted to: files\[|Delete type=)", re.MULTILINE
)  # fmt: skip


def inspect_rolled(paths: Sequence[Path]) -> Inspection:
    """What the parts of one LOG say together; they may be named in any order.

    UserError when one of them cannot be read or is no LOG.
    """
    faults: list[str] = []
    begins = {path: _first_micros(path) for path in paths}
    parts = sorted(paths, key=lambda path: begins[path])
    lines = chain.from_iterable(read_lines(part, faults) for part in parts)
    content = read_log(without_frames(lines))
    content.incomplete += faults
    return judged(assemble(", ".join(map(str, parts)), "LOG", content))


def _first_micros(path: Path) -> int:
    """The time of the first lines, in µs."""
    if path == STANDARD_INPUT:
        raise UserError("--rolled: standard input can be read only once; name files")
    content = read_log(without_frames(islice(read_lines(path, []), _HEAD_LINES)))
    if content.first_micros is None:
        raise UserError(f"--rolled: {path} is not a RocksDB LOG")
    return content.first_micros


def inspect_path(path: Path) -> Inspection:
    """What a file says: a LOG, a statistics dump, an output of db_bench or of MyRocks' SHOW ENGINE
    ROCKSDB STATUS, plain or gzip; of a folder its LOGs.

    UserError when it cannot be read or is none of these.
    """
    faults: list[str] = []
    head: list[str] = []
    lines = chain.from_iterable(read_lines(part, faults) for part in _parts(path))
    content = read_log(without_frames(_with_head(lines, head)))
    kind = "LOG"
    if not content.is_log:
        text = "\n".join([*head, ""])
        if (given := read_options(path, text)) is not None:
            return judged(of_options(str(path), given))
        text = dump_with_points("\n".join([*without_frames(head), ""]))
        content, kind = _output(path, text)
    content.incomplete += faults
    found = judged(assemble(str(path), kind, content))
    return (
        replace(found, needed=(), incomplete=tuple(content.incomplete)) if kind == REPORT else found
    )


def _with_head(lines: Iterable[str], head: list[str]) -> Iterator[str]:
    """Yield the lines, and keep the first of them."""
    for line in lines:
        if len(head) < _MOST_OUTPUT_LINES:
            head.append(line)
        yield line


def _parts(path: Path) -> list[Path]:
    """The file, or the LOGs of a folder from the oldest on."""
    if path == STANDARD_INPUT or not path.is_dir():
        return [path]
    stores = [part for name in _LOG_NAMES for part in sorted(path.glob(name))]
    if not stores:
        raise UserError(
            f"{path}: the folder contains no LOG file; name a LOG, or the folder of a database"
        )
    if len(stores) > 1:
        names = ", ".join(store.name for store in stores)
        raise UserError(f"{path}: the folder contains LOGs of several stores: {names}; name one")
    older = f"{glob.escape(stores[0].name)}.old.*"
    return [*sorted(path.glob(older)), stores[0]]


def _output(path: Path, text: str) -> tuple[LogContent, str]:
    """The content of a text without a LOG's lines, which tells nothing of single events."""
    content, dump = LogContent(), parse_stats_dump(text)
    kind = _kind(text)
    try:
        content.statistics = parse_statistics(text)
    except ParseError as error:
        content.incomplete.append(f"cannot read the tickers: {error}")
    known = dump is not None or content.statistics.tickers or parse_compaction_tables(text)
    content.runs = read_runs(text, content.incomplete)
    if kind == _DUMP and not known:
        if _LEVELDB.search(text):
            raise UserError(f"{path}: this file is a LOG of LevelDB; inspect reads RocksDB's")
        raise UserError(
            f"{path}: not a RocksDB LOG, not a statistics dump, and not db_bench output"
        )
    content.results = _results(text, content.runs)
    content.version = parse_banner(text, "").rocksdb_version or only_version(content.runs)
    content.dump_text = text
    content.dumps = [TimedDump(0, dump)] if dump else []
    content.incomplete.append(
        "a report contains results only; compare it with another report: --compare"
        if kind == REPORT
        else f"a {kind} contains neither options nor single compactions"
    )
    return content, kind


def _kind(text: str) -> str:
    if _MYROCKS.search(text):
        return "MyRocks status"
    if is_report(text):
        return REPORT
    has_results = ("micros/op" in text and "ops/sec" in text) or has_means(text)
    return "db_bench output" if has_results else _DUMP


def _results(text: str, runs: tuple[BenchmarkRun, ...]) -> Mapping[str, BenchmarkResult]:
    """The last result of each benchmark; `read_runs` names those that are damaged."""
    try:
        return parse_results(text) or last_results(runs)
    except ParseError:
        return last_results(runs)
