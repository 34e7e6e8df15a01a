"""Reading a file: a LOG, a statistics dump, or what db_bench or another program printed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from lsmtune.analysis.inspect.assemble import assemble, of_options
from lsmtune.analysis.inspect.bench_runs import REPORT, last_results, only_version, read_runs
from lsmtune.analysis.inspect.findings import NOTICES, judged
from lsmtune.analysis.inspect.inspection import Inspection, Verdict
from lsmtune.analysis.inspect.notes import no_parts_note, unread_note
from lsmtune.analysis.inspect.options_input import GivenOptions, read_options
from lsmtune.errors import Argument, ParseError, UserError
from lsmtune.knobs.defaults import known_options
from lsmtune.knobs.option_files import foreign_kind
from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.db_bench import BenchmarkResult, parse_banner, parse_results
from lsmtune.metrics.db_bench_runs import has_means
from lsmtune.metrics.families import check_known, narrow
from lsmtune.metrics.frames import without_frames
from lsmtune.metrics.log_dump import parse_stats_dump
from lsmtune.metrics.log_lines import STANDARD_INPUT, read_lines
from lsmtune.metrics.log_reader import LogContent, TimedDump, read_log
from lsmtune.metrics.options_file import dump_with_points
from lsmtune.metrics.report_tsv import is_report
from lsmtune.metrics.statistics import parse_statistics

_MOST_OUTPUT_LINES, _MOST_OUTPUT_LENGTH = 100_000, 8_000_000
"""An output of db_bench or a file of options has fewer lines and characters."""
_HEAD_LINES = 1000
_DUMP = "statistics dump"
_OF_FAMILY = ("delete_percent", "range_deletes", "key_bytes", "value_bytes", "compressed_to",
              "filter_bits", "from_empty")  # fmt: skip
"""What events say of the load of one column family."""
_MYROCKS = re.compile(r"^(?:STATISTICS\trocksdb|\s*Type: (?:STATISTICS|DBSTATS|CF_COMPACTION))",
                      re.MULTILINE)  # fmt: skip
_LOG = "LOG"
_LOG_NAME = re.compile(
    r"(?P<store>(?:.*[._])?LOG|rocksdb\.info)(?P<old>\.old(?:\.(?P<end>.{1,40}?))?)?(?:\.gz)?"
)
"""A LOG in the folder of the database, in `db_log_dir`, and of TiKV, or an older one."""
_LEVELDB = re.compile(
    r"^\d{4}/\d\d/\d\d-[\d:.]+ \w+ (?:Recovering log #|Level-0 table #|Compacting \d+@|"
    r"compacted to: files\[|Delete type=)", re.MULTILINE
)  # fmt: skip
_READ = (
    "a LOG of RocksDB, a statistics dump, output of db_bench, status and INFORMATION_SCHEMA of "
    "MyRocks, Kvrocks' INFO, Prometheus metrics of RocksDB, PerfContext, report.tsv of RocksDB's "
    "benchmark.sh, an OPTIONS file, an options string, my.cnf, tikv.toml and arangod.conf"
)
"""All kinds of input."""


def inspect_rolled(
    paths: Sequence[Path], family: str | None = None, *, force: bool = False
) -> Inspection:
    """What the parts of one LOG say together, of all column families or of one.

    They may be named in any order. There is no diagnosis if too many lines cannot be read, unless
    `force` is given. UserError when one of them cannot be read or is no LOG.
    """
    faults: list[str] = []
    begins = {path: _first_micros(path) for path in paths}
    parts = sorted(paths, key=lambda path: begins[path])
    lines = chain.from_iterable(without_frames(read_lines(part, faults)) for part in parts)
    content = read_log(lines, NOTICES)
    content.incomplete += faults
    return _inspected(", ".join(map(str, parts)), _LOG, content, family, force=force)


def _first_micros(path: Path) -> int:
    """The time of the first lines, in µs."""
    if path == STANDARD_INPUT:
        raise UserError(
            Argument("path", flag="--rolled"), ": standard input can be read only once; name files"
        )
    content = read_log(without_frames(islice(read_lines(path, []), _HEAD_LINES)))
    if content.first_micros is None:
        raise UserError(Argument("path", flag="--rolled"), f": {path} is not a RocksDB LOG")
    return content.first_micros


def inspect_path(path: Path, family: str | None = None, *, force: bool = False) -> Inspection:
    """What a file says: a LOG, a statistics dump, an output of db_bench or of MyRocks' SHOW ENGINE
    ROCKSDB STATUS, plain or gzip; of a folder its LOGs. It is what they say of all column families,
    or of one. There is no diagnosis if too many lines cannot be read, unless `force` is given.

    UserError when it cannot be read or is none of these, or lacks the family.
    """
    faults: list[str] = []
    head: list[str] = []
    lines = chain.from_iterable(
        without_frames(_with_head(read_lines(part, faults), head)) for part in _parts(path)
    )
    content = read_log(lines, NOTICES)
    kind = _LOG
    if content.is_log:
        if any("micros/op" in line for line in head):
            text = "\n".join(head)
            content.runs = read_runs(text, content.incomplete)
            content.results = _results(text, content.runs)
    else:
        text = "\n".join([*head, ""])
        if (given := read_options(path, text)) is not None:
            return judged(of_options(str(path), _of_one(given, family)))
        text = dump_with_points("\n".join([*without_frames(head), ""]))
        content, kind = _output(path, text, content)
    content.incomplete += faults
    return _inspected(str(path), kind, content, family, force=force)


def _of_one(given: GivenOptions, family: str | None) -> GivenOptions:
    """Return the options of the database and of one column family."""
    if family is None:
        return given
    check_known(family, [name for name in given.options if name])
    kept = {name: told for name, told in given.options.items() if name in ("", family)}
    return replace(given, options=kept)


def _inspected(
    name: str, kind: str, content: LogContent, family: str | None, *, force: bool
) -> Inspection:
    content.options.repair(known_options())
    if (unread := unread_note(content)) is not None:
        if not force:
            empty = assemble(name, kind, LogContent(incomplete=[unread]))
            return replace(empty, incomplete=(unread,), unread=unread)
        content.incomplete.insert(0, unread)
    whole = judged(assemble(name, kind, content))
    if unread is not None:
        whole = replace(whole, unread=unread, is_forced=True)
    if family is None:
        return whole
    check_known(family, names := [one.name for one in whole.family_sums])
    return whole if names == [family] else _narrowed(whole, content, family)


def _narrowed(whole: Inspection, content: LogContent, family: str) -> Inspection:
    """Return what a LOG says of one column family; rates are those of the whole database.

    Findings that concern the whole database are among its findings.
    """
    narrow(content, family)
    own = judged(assemble(whole.name, whole.kind, content))
    codes = {finding.code for finding in own.findings}
    shared = (f for f in whole.findings if f.family in (None, family) and f.code not in codes)
    findings = tuple(sorted((*own.findings, *shared), key=lambda finding: -finding.weight))
    sizes = {name: getattr(own.load, name) for name in _OF_FAMILY}
    note = (
        f"only the column family {family} is shown; rates of writes and reads are of the whole "
        "database"
    )
    verdict: Verdict = "insufficient_data" if whole.needed else "no_findings"
    return replace(
        own, main_family=family, findings=findings, verdict="findings" if findings else verdict,
        load=replace(whole.load, **sizes), needed=whole.needed, needed_here=whole.needed_here,
        incomplete=(note, *whole.incomplete), family_sums=whole.family_sums,
    )  # fmt: skip


def _with_head(lines: Iterable[str], head: list[str]) -> Iterator[str]:
    """Yield the lines, and keep the first of them."""
    following, length = iter(lines), 0
    for line in islice(following, max(0, _MOST_OUTPUT_LINES - len(head))):
        head.append(line)
        yield line
        length += len(line)
        if length > _MOST_OUTPUT_LENGTH:
            break
    yield from following


def _parts(path: Path) -> list[Path]:
    """The file, or the LOGs of a folder from the oldest on."""
    if path == STANDARD_INPUT or not path.is_dir():
        return [path]
    stores: dict[str, list[tuple[tuple[int, int, str], Path]]] = {}
    for part in path.iterdir():
        if (name := _LOG_NAME.fullmatch(part.name)) is not None and part.is_file():
            stores.setdefault(name["store"], []).append((_age(name), part))
    if not stores:
        raise UserError(
            f"{path}: the folder contains no LOG file; name a LOG, or the folder of a database"
        )
    if len(stores) > 1:
        names = ", ".join(sorted(stores))
        raise UserError(f"{path}: the folder contains LOGs of several stores: {names}; name one")
    (parts,) = stores.values()
    return [part for _, part in sorted(parts)]


def _age(name: re.Match[str]) -> tuple[int, int, str]:
    """Return the place of a LOG among those of its store, by the end of its name."""
    if name["old"] is None:
        return 2, 0, ""
    end = name["end"] or ""
    return (0, int(end), "") if end.isdecimal() else (1, 0, end)


def _output(path: Path, text: str, content: LogContent) -> tuple[LogContent, str]:
    """Complete the content of a text without the times of a LOG; return it with its kind."""
    dump, statistics = parse_stats_dump(text), parse_statistics(text, leave_out=True)
    has_dump = dump is not None or statistics.tickers or parse_compaction_tables(text)
    kind = _kind(text)
    runs = read_runs(text, noted := [*statistics.incomplete])
    if kind == _DUMP and not has_dump:
        if content.has_messages:
            return content, _LOG
        return _status(str(path), text)
    content.incomplete, content.statistics, content.runs = noted, statistics, runs
    content.results = _results(text, runs)
    banner = parse_banner(text, "")
    content.version = banner.rocksdb_version or only_version(runs) or content.version
    content.incomplete += [
        f"db_bench warns: {warning.removeprefix('WARNING: ')}" for warning in banner.warnings
    ]
    content.dump_text = text
    content.dumps = [TimedDump(0, dump)] if dump else []
    if kind == REPORT:
        content.incomplete.append(
            "a report contains results only; compare it with another report: --compare"
        )
    elif (note := no_parts_note(kind, content)) is not None:
        content.incomplete.append(note)
    return content, kind


def _status(where: str, text: str) -> tuple[LogContent, str]:
    """Return what a text says in the names of another program, with its kind."""
    from lsmtune.metrics.status_texts.reader import read_status  # noqa: PLC0415 - seldom needed

    try:
        status = read_status(text)
    except ParseError as error:
        raise UserError(where, ": ", error.message) from error
    if status is None:
        raise UserError(refusal(where, text))
    return status.content(), status.kind


def _kind(text: str) -> str:
    if _MYROCKS.search(text):
        return "MyRocks status"
    if is_report(text):
        return REPORT
    has_results = ("micros/op" in text and "ops/sec" in text) or has_means(text)
    return "db_bench output" if has_results else _DUMP


def _results(text: str, runs: tuple[BenchmarkRun, ...]) -> Mapping[str, BenchmarkResult]:
    """The last result of each benchmark; `read_runs` names those that are damaged."""
    return parse_results(text, []) or last_results(runs)


def refusal(where: str, text: str) -> str:
    """Return the message for a text that is none of the kinds of input."""
    if (told := foreign_kind(text)) is not None:
        return f"{where}: {told}"
    if _LEVELDB.search(text):
        return f"{where}: this file is a LOG of LevelDB; inspect reads the LOG of RocksDB"
    return f"{where}: unknown kind of file; inspect reads {_READ}"
