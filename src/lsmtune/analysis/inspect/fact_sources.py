"""Readers of facts: each yields what one source of a text says."""

import re
from collections.abc import Iterable, Iterator, Mapping

from lsmtune.analysis.inspect.facts import Fact, Facts
from lsmtune.analysis.inspect.inspection import covered_s
from lsmtune.knobs.defaults import known_options
from lsmtune.metrics.compaction_table import CompactionTable
from lsmtune.metrics.db_bench import BenchmarkResult
from lsmtune.metrics.families import DEFAULT
from lsmtune.metrics.log_dump import StatsDump
from lsmtune.metrics.log_jobs import Job
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.log_stalls import Stall
from lsmtune.metrics.statistics import HistogramSummary
from lsmtune.units import GIB

_TICKERS: Mapping[str, str] = {
    "seeks": "number.db.seek",
    "nexts": "number.db.next",
    "skipped_entries": "number.iter.skip",
    "filter_block_misses": "block.cache.filter.miss",
    "index_block_misses": "block.cache.index.miss",
    "data_block_misses": "block.cache.data.miss",
    "cache_insert_bytes": "block.cache.bytes.write",
    "table_opens": "no.file.opens",
    "keys_written": "number.keys.written",
    "ingest_bytes": "bytes.written",
    "flush_write_bytes": "flush.write.bytes",
    "compact_write_bytes": "compact.write.bytes",
    "compact_read_bytes": "compact.read.bytes",
    "wal_syncs": "wal.synced",
    "wal_writes": "write.wal",
    "iterators_created": "num.iterator.created",
    "iterators_deleted": "num.iterator.deleted",
    "limiter_drains": "number.rate_limiter.drains",
    "auto_resumes": "error.handler.autoresume.success.count",
}
"""Facts that are one ticker (include/rocksdb/statistics.h)."""
_HITS = ("memtable.hit", "l0.hit", "l1.hit", "l2andup.hit")
_PREFIX = ("bloom.filter.prefix.checked", "bloom.filter.prefix.useful",
           "last.level.seek.filtered", "non.last.level.seek.filtered")  # fmt: skip
_FLUSHED = re.compile(r"^Flush\(GB\): cumulative (\d{1,9}[.,]\d+)", re.MULTILINE)
_FAMILY = re.compile(r"\*\* Compaction Stats \[(.*?)\] \*\*")
_READING = re.compile(r"readrandom|readmissing|multireadrandom|readhot")
"""Benchmarks of db_bench whose operations are gets."""
_PENDING = "estimated pending compaction bytes"
_STALLS = {"level-0 files": "stall_l0_s", "immutable memtables": "stall_memtable_s",
           _PENDING: "stall_pending_s"}  # fmt: skip
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?")
_SWITCHES = {"true": 1.0, "false": 0.0}


def facts_of(
    content: LogContent, tables: Mapping[str, CompactionTable], options: Mapping[str, str]
) -> Facts:
    """Return all facts of a text; `options` are those of the store and of its main family."""
    dump = content.dumps[-1].dump if content.dumps else None
    period_s = (dump.uptime_s or None) if dump else None
    tickers = {
        name.removeprefix("rocksdb."): count for name, count in content.statistics.tickers.items()
    }
    jobs_s = None
    if content.first_micros is not None and content.last_micros is not None:
        jobs_s = (content.last_micros - content.first_micros) / 1e6
    return Facts(
        [
            *_of_tickers(tickers, period_s),
            *_of_histograms(content.statistics.histograms, period_s),
            *_of_dump(dump),
            *_of_tables(tables, content.dump_text, period_s),
            *_of_jobs(content.ledger.jobs, jobs_s if content.event_lines else None),
            *_of_stalls(content.stalls.stalls, jobs_s if content.event_lines else None),
            *_of_results(content.results),
            *_of_options(options),
        ]
    )


def _of_tickers(tickers: Mapping[str, int], period_s: float | None) -> Iterator[Fact]:
    def fact(name: str, value: float) -> Fact:
        return Fact(name, value, "ticker", period_s=period_s)

    def total(*names: str) -> int | None:
        known = [tickers[name] for name in names if name in tickers]
        return sum(known) if known else None

    for name, ticker in _TICKERS.items():
        if ticker in tickers:
            yield fact(name, tickers[ticker])
    if "stall.micros" in tickers:
        yield fact("writers_stalled_s", tickers["stall.micros"] / 1e6)
    if (prefixes := total(*_PREFIX)) is not None:
        yield fact("prefix_checks", prefixes)
    if (checks := _filter_checks(tickers)) is not None:
        yield fact("filter_checks", checks)
    for name, kind in (("cache_hit_percent", ""), ("data_cache_hit_percent", "data.")):
        blocks = total(f"block.cache.{kind}hit", f"block.cache.{kind}miss")
        if blocks:
            yield fact(name, 100 * tickers.get(f"block.cache.{kind}hit", 0) / blocks)
    gets = tickers.get("number.keys.read")
    if gets is None:  # each get finds its key in a memtable, or does not
        gets = total("memtable.hit", "memtable.miss")
    yield from _of_operations(tickers.get("number.db.seek"), gets, tickers, period_s)
    if gets is None:
        return
    yield fact("gets", gets)
    if not gets:
        return
    data = total("block.cache.data.hit", "block.cache.data.miss")
    found = total(*_HITS)
    parts = {"get_data_blocks": data, "gets_found_percent": None if found is None else 100 * found}
    for kind in ("filter", "index"):
        parts[f"get_{kind}_bytes"] = tickers.get(f"block.cache.{kind}.bytes.insert")
    yield from (fact(name, part / gets) for name, part in parts.items() if part is not None)


def _of_operations(
    seeks: int | None, gets: int | None, tickers: Mapping[str, int], period_s: float | None
) -> Iterator[Fact]:
    written = tickers.get("number.keys.written")
    reads = (seeks or 0) + (gets or 0)
    if written is not None and (seeks is not None or gets is not None) and reads + written:
        yield Fact("read_percent", 100 * reads / (reads + written), "ticker", period_s=period_s)


def _filter_checks(tickers: Mapping[str, int]) -> int | None:
    """Return how often a filter was asked; None if the tickers do not say.

    RocksDB counts keys that a filter excludes (`useful`), and since 5.16 the others
    (`full.positive`). Filters for a block at a time count only the first.
    """
    useful, positive = (tickers.get(f"bloom.filter.{what}") for what in ("useful", "full.positive"))
    return useful or None if positive is None else (useful or 0) + positive


def _of_histograms(
    histograms: Mapping[str, HistogramSummary], period_s: float | None
) -> Iterator[Fact]:
    def fact(name: str, value: float) -> Fact:
        return Fact(name, value, "histogram", period_s=period_s)

    operands = histograms.get("rocksdb.read.num.merge_operands")
    if operands is not None:
        yield fact("merge_operands_p99", operands.p99)
        if operands.p100 is not None:
            yield fact("merge_operands_max", operands.p100)
    for name, what in (("compaction_s", "micros"), ("compaction_cpu_s", "cpu_micros")):
        times = histograms.get(f"rocksdb.compaction.times.{what}")
        if times is not None and times.sum is not None:
            yield fact(name, times.sum / 1e6)


def _of_dump(dump: StatsDump | None) -> Iterator[Fact]:
    if dump is None:
        return
    numbers = {
        "keys_written": dump.keys_written, "ingest_bytes": dump.ingest_bytes,
        "stall_s": dump.stall_s, "stall_percent": dump.stall_percent,
        "wal_syncs": dump.wal_syncs, "wal_writes": dump.wal_writes,
    }  # fmt: skip
    for name, value in numbers.items():
        if value is not None:
            yield Fact(name, value, "table", period_s=dump.uptime_s)


def _of_tables(
    tables: Mapping[str, CompactionTable], text: str, period_s: float | None
) -> Iterator[Fact]:
    flushed_gb = _flushed_gb(text)
    for family, table in tables.items():
        own = {
            **_of_level_0(table, flushed_gb.get(family)),
            "live_sst_bytes": known_sum(row.size_bytes for row in table.rows),
        }
        for name, value in own.items():
            if value is not None:
                yield Fact(name, value, "table", family, period_s)


def _of_level_0(table: CompactionTable, flushed_gb: float | None) -> dict[str, float | None]:
    """Return what the first row says; RocksDB reads files for level 0 only from level 0."""
    row = next((row for row in table.rows if row.level == "L0"), None)
    if row is None:
        return {}
    if row.read_gb is None or row.write_gb is None or not is_leveled(table):
        return {"l0_files": row.files}
    # Without the line on flushes, a compaction within level 0 writes about what it reads.
    inner = row.read_gb
    if inner and flushed_gb is not None:
        inner = max(0.0, row.write_gb - flushed_gb)
    below = sum(r.write_gb or 0.0 for r in table.rows if r.level != "L0")
    moved = inner + below
    return {
        "l0_files": row.files,
        "l0_intra_read_bytes": row.read_gb * GIB,
        "l0_intra_write_bytes": inner * GIB,
        "l0_intra_percent": 100 * inner / moved if moved else None,
    }


def is_leveled(table: CompactionTable) -> bool:
    """Return whether a table is of leveled compaction: only there levels below 0 have a score."""
    return any(row.score for row in table.rows if row.level != "L0")


def _flushed_gb(text: str) -> dict[str, float]:
    """Read the last sum of the flushes of each family, in GiB."""
    found, family = dict[str, float](), DEFAULT
    for line in text.split("\n"):
        if heading := _FAMILY.search(line):
            family = heading[1]
        elif flushed := _FLUSHED.match(line):
            found[family] = float(flushed[1].replace(",", "."))
    return found


def _of_jobs(jobs: Iterable[Job], period_s: float | None) -> Iterator[Fact]:
    """Yield what the events say; nothing if the text has no events (`period_s` is None)."""
    if period_s is None:
        return
    by_family: dict[str, list[Job]] = {}
    for job in jobs:
        by_family.setdefault(job.family or DEFAULT, []).append(job)
    for family, own in by_family.items():
        compactions = [job for job in own if job.kind == "compaction"]
        written = known_sum(job.written_bytes for job in compactions)
        inner = [job for job in compactions if job.input_levels == (0,) and not job.output_level]
        if not written:
            continue
        inner_bytes = known_sum(job.written_bytes for job in inner) or 0
        yield Fact("l0_intra_write_bytes", inner_bytes, "event", family, period_s)
        yield Fact("l0_intra_percent", 100 * inner_bytes / written, "event", family, period_s)


def _of_stalls(stalls: Iterable[Stall], period_s: float | None) -> Iterator[Fact]:
    """Yield the times of stalls by family and cause, and the most pending bytes.

    Without events (`period_s` is None), the ends of stalls are unknown.
    """
    spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
    pending: dict[str, int] = {}
    for stall in stalls:
        spans.setdefault((stall.family, stall.cause), []).append(
            (stall.begin_micros, stall.end_micros)
        )
        if stall.cause == _PENDING:
            pending[stall.family] = max(pending.get(stall.family, 0), stall.most)
    for family, most in pending.items():
        yield Fact("pending_compaction_bytes", most, "event", family, period_s)
    for (family, cause), held in spans.items() if period_s is not None else ():
        if cause in _STALLS:
            yield Fact(_STALLS[cause], covered_s(held), "event", family, period_s)


def _of_results(results: Mapping[str, BenchmarkResult]) -> Iterator[Fact]:
    """Yield the gets of benchmarks that only read."""
    reading = [found for name, found in results.items() if _READING.match(name)]
    counts = [found.looked_up or found.operations for found in reading]
    if reading and None not in counts:
        yield Fact("gets", sum(count or 0 for count in counts), "result")


def _of_options(options: Mapping[str, str]) -> Iterator[Fact]:
    """Yield the numbers and switches among the options of RocksDB; other keys may be secrets."""
    for name, text in options.items():
        if name not in known_options():
            continue
        value = _SWITCHES.get(text)
        if value is None and _NUMBER.fullmatch(text):
            value = float(text)
        if value is not None:
            yield Fact(name, value, "option")


def known_sum(values: Iterable[int | None]) -> int | None:
    """Return the sum of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
