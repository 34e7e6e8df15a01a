"""Reading a file: a LOG, or what db_bench printed."""

from itertools import chain, islice
from pathlib import Path

from lsmtune.analysis.inspect.assemble import assemble
from lsmtune.analysis.inspect.findings import judged
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.errors import ParseError, UserError
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.db_bench import parse_banner, parse_results
from lsmtune.metrics.frames import without_frames
from lsmtune.metrics.log_dump import parse_stats_dump
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import LogContent, TimedDump, read_log
from lsmtune.metrics.statistics import parse_statistics

_MOST_OUTPUT_LINES = 200_000
_LOG_NAMES = ("LOG.old.*", "LOG")


def inspect_path(path: Path) -> Inspection:
    """What a file says: a LOG, plain or gzip, or an output of db_bench; of a folder its LOGs.

    UserError when it cannot be read or is neither.
    """
    faults: list[str] = []
    parts = _parts(path)
    lines = chain.from_iterable(read_lines(part, faults) for part in parts)
    content = read_log(without_frames(lines))
    kind = "LOG"
    if not content.is_log:
        faults.clear()
        head = islice(without_frames(read_lines(parts[0], faults)), _MOST_OUTPUT_LINES)
        content, kind = _db_bench(path, "\n".join([*head, ""])), "db_bench output"
    content.incomplete += faults
    return judged(assemble(str(path), kind, content))


def _parts(path: Path) -> list[Path]:
    """The file, or the LOGs of a folder from the oldest on."""
    if not path.is_dir():
        return [path]
    parts = [part for name in _LOG_NAMES for part in sorted(path.glob(name))]
    if not parts:
        raise UserError(
            f"{path}: the folder contains no LOG file; name a LOG, or the folder of a database"
        )
    return parts


def _db_bench(path: Path, text: str) -> LogContent:
    """The content of an output of db_bench, which tells nothing of single events."""
    content, dump = LogContent(), parse_stats_dump(text)
    if dump is None and not any(found(text) for found in (_results, parse_compaction_tables)):
        raise UserError(f"{path}: not a RocksDB LOG and not db_bench output")
    try:
        content.statistics = parse_statistics(text)
    except ParseError as error:
        content.incomplete.append(f"cannot read the tickers: {error}")
    content.version = parse_banner(text, "").rocksdb_version
    content.dump_text = text
    content.dumps = [TimedDump(0, dump)] if dump else []
    content.incomplete.append(
        "the output of db_bench contains neither options nor details of single compactions"
    )
    return content


def _results(text: str) -> bool:
    """Whether benchmarks tell their results, be they ever so damaged."""
    try:
        return bool(parse_results(text))
    except ParseError:
        return True
