"""What is wrong, by rules: each looks at one thing and says nothing where it sees nothing.

A rule's weight is the share of the load that suffers times how likely the options it names are
the cause, so that of several findings the one to act on first comes first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lsmtune.analysis.inspect.inspection import Finding, Inspection, Verdict
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, STALLS, TICKERS, WRITE_AMP, Need
from lsmtune.analysis.inspect.stall_findings import stall_findings
from lsmtune.units import format_bytes

_LEAST_WEIGHT = 0.01
_READS_WORTH_A_WORD = 1000
_BLOCKS_A_GET = 1.3
_THRASHED = 3.0
_HITS_ENOUGH = 0.9
_MANY_DELETES_PERCENT = 20.0
_SKIPS_A_SEEK = 10.0
_MUCH_WRITE_AMP = 15.0
_FORCED_SHARE = 0.3
_FORCED = {
    "WAL Full": ("wal-limit", "max_total_wal_size"),
    "Write Buffer Manager": ("memory-limit", "db_write_buffer_size"),
    "Write Buffer Manager Initiated": ("memory-limit", "db_write_buffer_size"),
}
_L0_FILES_LEFT = 20
_HITS = ("rocksdb.memtable.hit", "rocksdb.l0.hit", "rocksdb.l1.hit", "rocksdb.l2andup.hit")


@dataclass(frozen=True, slots=True)
class Rule:
    """Looks at one thing. Without its data, it can neither find nor exclude anything."""

    find: Callable[[Inspection], Iterator[Finding]]
    needs: tuple[Need, ...]


def judged(log: Inspection) -> Inspection:
    """Return the inspection with its findings, the one to act on first first, and its verdict."""
    found = [finding for rule in _RULES for finding in rule.find(log)]
    found = [finding for finding in found if finding.weight >= _LEAST_WEIGHT]
    needs = dict.fromkeys(need for rule in _RULES for need in rule.needs)
    needed = tuple(need.advice for need in needs if not need.is_there(log))
    verdict: Verdict = "insufficient_data" if needed else "no_findings"
    findings = tuple(sorted(found, key=lambda finding: -finding.weight))
    return replace(
        log, findings=findings, verdict="findings" if findings else verdict, needed=needed
    )


def _errors(log: Inspection) -> Iterator[Finding]:
    if log.troubles:
        yield Finding(
            "errors", "The LOG contains errors: check the errors before any option",
            f"Number of error lines in the LOG: {log.trouble_lines}. The first error line is: "
            f"{log.troubles[0]}",
            (), 1.0,
        )  # fmt: skip


def _no_compaction(log: Inspection) -> Iterator[Finding]:
    last = log.shapes[-1].files[0] if log.shapes and log.shapes[-1].files else 0
    if log.option("disable_auto_compactions") in ("1", "true") and last >= _L0_FILES_LEFT:
        yield Finding(
            "compaction-off", "Automatic compaction is off",
            f"disable_auto_compactions is set, and level 0 has {last} files.",
            ("disable_auto_compactions",), 0.95,
        )  # fmt: skip


def _no_filter(log: Inspection) -> Iterator[Finding]:
    gets = log.ticker("number.keys.read")
    seeks = log.ticker("number.db.seek")
    if gets < max(_READS_WORTH_A_WORD, seeks):
        return  # what blocks were looked at for is not told apart
    if log.option("filter_policy") not in ("nullptr", ""):
        return
    blocks = _data_blocks(log) / gets
    if blocks > _BLOCKS_A_GET or _found_share(log) < 1 / _BLOCKS_A_GET:
        share = (log.load.read_percent or 0) / 100
        found_none = (
            f", and {_percent(1 - _found_share(log))} of the gets found no key"
            if _counts_hits(log)
            else ""
        )
        yield Finding(
            "no-filter", "Gets read files that do not contain the requested key",
            f"The files have no filter, because filter_policy is nullptr. Each of {gets:,} gets "
            f"read {blocks:.2g} data blocks on average{found_none}.",
            ("filter_policy", "memtable_prefix_bloom_size_ratio", "optimize_filters_for_hits"),
            (0.5 + share / 2) * min(1.0, blocks * (1.5 - _found_share(log))),
        )  # fmt: skip


def _small_cache(log: Inspection) -> Iterator[Finding]:
    hits, misses = (log.ticker(f"block.cache.{what}") for what in ("hit", "miss"))
    capacity = log.number("block_cache_capacity")
    inserted = log.ticker("block.cache.bytes.write")
    reads = log.ticker("number.keys.read") + log.ticker("number.db.seek")
    if not capacity or reads < _READS_WORTH_A_WORD or not hits + misses:
        return
    data = _data_blocks(log)
    rate = log.ticker("block.cache.data.hit") / data if data else hits / (hits + misses)
    if inserted >= _THRASHED * capacity and rate < _HITS_ENOUGH:
        share = (log.load.read_percent or 0) / 100
        yield Finding(
            "small-cache", "The block cache is too small for the data that is read",
            f"{_percent(rate)} of the {'data ' if data else ''}blocks that RocksDB read were in "
            "the block "
            f"cache of {format_bytes(capacity)}. RocksDB inserted {format_bytes(inserted)} into "
            "the block cache.",
            ("block_cache", "cache_index_and_filter_blocks", "block_size"),
            (0.5 + share / 2) * (1 - rate) * 0.9,
        )  # fmt: skip


def _tombstones(log: Inspection) -> Iterator[Finding]:
    deletes = log.load.delete_percent or 0.0
    ranges = log.load.range_deletes or 0
    seeks = log.ticker("number.db.seek")
    skipped = log.ticker("number.iter.skip")
    many_skips = bool(seeks) and skipped / seeks > _SKIPS_A_SEEK
    if deletes < _MANY_DELETES_PERCENT and not (ranges and many_skips):
        return
    evidence = f"{deletes:.0f} % of the flushed entries are deletions"
    if ranges:
        evidence += f", and RocksDB flushed {ranges:,} range deletions"
    evidence += "."
    if seeks:
        each = f"{skipped / seeks:.3g} deleted or overwritten entries on average"
        evidence += f" Each of {seeks:,} seeks skipped {each}."
    yield Finding(
        "tombstones", "Scans skip many deleted or overwritten entries" if many_skips
        else "Many deletions: a deleted key stays in the tree until compaction drops the "
        "key", evidence,
        ("periodic_compaction_seconds", "ttl", "compaction_pri",
         "max_sequential_skip_in_iterations"),
        min(1.0, 0.3 + deletes / 100 + (0.3 if many_skips else 0)),
    )  # fmt: skip


def _write_amp(log: Inspection) -> Iterator[Finding]:
    amplification = log.totals.write_amp or 0.0
    if amplification >= _MUCH_WRITE_AMP:
        yield Finding(
            "write-amp", "RocksDB writes every byte many times",
            f"The write amplification is {amplification:.3g}, computed from "
            f"{log.totals.write_amp_from}.",
            ("compaction_style", "max_bytes_for_level_multiplier", "max_bytes_for_level_base",
             "write_buffer_size"),
            min(0.5, amplification / 100),
        )  # fmt: skip


def _forced_flushes(log: Inspection) -> Iterator[Finding]:
    reasons = [job.reason for job in log.jobs if job.kind == "flush" and job.reason]
    for reason in sorted({reason for reason in reasons if reason in _FORCED}):
        code, option = _FORCED[reason]
        share = reasons.count(reason) / len(reasons)
        if share >= _FORCED_SHARE:
            yield Finding(
                code, f"RocksDB flushes memtables that are not full (reason: {reason})",
                f"{_percent(share)} of {len(reasons)} flushes have the reason “{reason}”.",
                (option,), share / 2,
            )  # fmt: skip


def _data_blocks(log: Inspection) -> int:
    return log.ticker("block.cache.data.hit") + log.ticker("block.cache.data.miss")


def _found_share(log: Inspection) -> float:
    """Return the share of gets that found their key; 1 when the tickers for it are missing."""
    gets = log.ticker("number.keys.read")
    if not gets or not _counts_hits(log):
        return 1.0
    return min(1.0, sum(log.tickers.get(name, 0) for name in _HITS) / gets)


def _counts_hits(log: Inspection) -> bool:
    """Return whether the LOG has a ticker of gets that found their key."""
    return any(name in log.tickers for name in _HITS)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


_RULES = (
    Rule(_errors, ()),
    Rule(stall_findings, (STALLS, OPTIONS)),
    Rule(_no_compaction, (OPTIONS, EVENTS)),
    Rule(_no_filter, (OPTIONS, TICKERS)),
    Rule(_small_cache, (OPTIONS, TICKERS)),
    Rule(_tombstones, (EVENTS, TICKERS)),
    Rule(_write_amp, (WRITE_AMP,)),
    Rule(_forced_flushes, (EVENTS,)),
)
