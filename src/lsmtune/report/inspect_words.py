"""What a LOG says, in words and rows that the terminal and the page share."""

from collections import Counter

from lsmtune.analysis.inspect.inspection import Inspection, LevelLine
from lsmtune.report.words import number, quantity
from lsmtune.units import format_bytes, format_duration

NOT_TOLD = "not told"
LEVEL_HEADS = ("level", "files", "size", "read", "written", "W-Amp")


def heading(log: Inspection) -> str:
    """What was read: `LOG of RocksDB 7.8.3, 8.4 s`."""
    version = f" of RocksDB {log.version}" if log.version else " of an unknown RocksDB"
    span = f", {format_duration(log.span_s)}" if log.span_s else ""
    return f"{log.kind}{version}{span}"


def facts(log: Inspection) -> list[tuple[str, str]]:
    """The load and the totals, a label and a text each."""
    return [*_load_facts(log), *_total_facts(log)]


def _load_facts(log: Inspection) -> list[tuple[str, str]]:
    load = log.load
    return [
        ("writes", _rate(load.writes_s, "writes/s", load.ingest_bytes_s)),
        ("gets", _told(load.gets_s, "gets/s")),
        ("scans", _told(load.seeks_s, "seeks/s")),
        ("reads of all operations", _told(load.read_percent, "%")),
        ("mean key", _told(load.key_bytes, "bytes")),
        ("mean value", _told(load.value_bytes, "bytes")),
        ("deletions of all entries", _told(load.delete_percent, "%")),
        ("flushed tables over their data", _told(load.compressed_to, "ratio")),
    ]


def _total_facts(log: Inspection) -> list[tuple[str, str]]:
    totals = log.totals
    exact = "" if totals.write_amp is None else f" (from {totals.write_amp_from})"
    return [
        ("written by clients", _told(totals.ingest_bytes, "bytes")),
        ("flushed", _told(totals.flush_write_bytes, "bytes")),
        ("compacted", _told(totals.compact_write_bytes, "bytes")),
        ("write amplification", _told(totals.write_amp, "ratio") + exact),
        ("W-Amp of the table", _told(totals.w_amp_table, "ratio")),
        ("stalled", _stalled(log)),
        ("compactions", _compactions(log)),
    ]


def _stalled(log: Inspection) -> str:
    totals = log.totals
    if totals.stall_s is not None and totals.stall_percent is not None:
        return f"{format_duration(totals.stall_s)}, {number(totals.stall_percent)} % of the time"
    if log.stalls:
        held = sum(log.stall_seconds().values())
        return f"up to {format_duration(held)}, by the warnings"
    return NOT_TOLD


def _compactions(log: Inspection) -> str:
    totals = log.totals
    if totals.compactions is None or totals.compaction_s is None:
        return NOT_TOLD
    reasons = Counter(job.reason for job in log.jobs if job.kind == "compaction" and job.reason)
    listed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common(4))
    took = f"{totals.compactions}, {format_duration(totals.compaction_s)} in all"
    return f"{took} ({listed})" if listed else took


def changed_text(log: Inspection, name: str) -> str:
    """What a LOG says of an option that some LOG has changed."""
    if name in log.options_changed:
        return log.options_changed[name].value
    scopes = [log.options.get("", {}), *(log.options[family] for family in log.families)]
    told = any(name.rpartition(".")[2] in scope or name in scope for scope in scopes)
    return "default" if told else NOT_TOLD


def stall_rows(log: Inspection) -> list[tuple[str, str, str]]:
    """What held writes, how long at most, and in what share of the LOG's time."""
    rows = []
    for (kind, cause), seconds in sorted(log.stall_seconds().items(), key=lambda item: -item[1]):
        share = f"{seconds / log.span_s:.1%}" if log.span_s else NOT_TOLD
        rows.append((f"{kind}: {cause}", format_duration(seconds), share))
    return rows


def level_rows(log: Inspection) -> list[list[str]]:
    """A row a level, under LEVEL_HEADS."""
    several = len({level.family for level in log.levels}) > 1
    return [
        [
            f"{level.family} {level.level}" if several else level.level,
            NOT_TOLD if level.files is None else str(level.files),
            *(_told(value, "bytes") for value in _sizes(level)),
            _told(level.w_amp_table, "ratio"),
        ]
        for level in log.levels
    ]


def _sizes(level: LevelLine) -> tuple[int | None, ...]:
    return level.size_bytes, level.read_bytes, level.write_bytes


def _rate(count: float | None, unit: str, size: float | None) -> str:
    if count is None:
        return NOT_TOLD
    told = f"{number(count)} {unit}"
    return told if size is None else f"{told}, {format_bytes(size)}/s"


def _told(value: float | None, unit: str) -> str:
    return NOT_TOLD if value is None else quantity(value, unit)
