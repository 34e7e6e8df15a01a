"""LOGs of RocksDB, put together from lines in their real form, for one rule each."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

_BEGIN = datetime(2026, 11, 22, 7, 0, 0, tzinfo=UTC)
_MICROS = 1_000_000
FAMILY: dict[str, object] = {
    "comparator": "leveldb.BytewiseComparator",
    "merge_operator": "None",
    "compaction_filter": "None",
    "compaction_filter_factory": "None",
    "table_factory": "BlockBasedTable",
    "write_buffer_size": 64 << 20,
    "max_write_buffer_number": 4,
    "compression": "Snappy",
    "bottommost_compression": "Disabled",
    "prefix_extractor": "nullptr",
    "min_write_buffer_number_to_merge": 1,
    "max_write_buffer_size_to_maintain": 0,
    "level0_file_num_compaction_trigger": 4,
    "level0_slowdown_writes_trigger": 20,
    "level0_stop_writes_trigger": 36,
    "target_file_size_base": 64 << 20,
    "target_file_size_multiplier": 1,
    "max_bytes_for_level_base": 256 << 20,
    "level_compaction_dynamic_level_bytes": 0,
    "arena_block_size": 1 << 20,
    "soft_pending_compaction_bytes_limit": 64 << 30,
    "hard_pending_compaction_bytes_limit": 256 << 30,
    "disable_auto_compactions": 0,
    "compaction_style": "kCompactionStyleLevel",
    "compaction_options_fifo.allow_compaction": 0,
    "ttl": 2592000,
    "periodic_compaction_seconds": 0,
    "optimize_filters_for_hits": 0,
    "enable_blob_files": "false",
    "enable_blob_garbage_collection": "false",
    "blob_garbage_collection_force_threshold": "1.000000",
}
DATABASE: dict[str, object] = {
    "error_if_exists": 0,
    "rate_limiter": "(nil)",
    "max_total_wal_size": 0,
    "db_write_buffer_size": 0,
    "max_background_jobs": 4,
    "max_background_compactions": -1,
    "max_background_flushes": -1,
    "max_subcompactions": 1,
    "max_open_files": -1,
    "compaction_readahead_size": 0,
    "bytes_per_sync": 0,
    "use_direct_reads": 0,
    "use_direct_io_for_flush_and_compaction": 0,
    "delayed_write_rate": 16 << 20,
    "WAL_ttl_seconds": 0,
    "WAL_size_limit_MB": 0,
    "recycle_log_file_num": 0,
}
TABLES: dict[str, object] = {
    "cache_index_and_filter_blocks": 0, "index_type": 0, "partition_filters": 0,
    "block_size": 4096, "filter_policy": "bloomfilter",
}  # fmt: skip
CACHE: dict[str, object] = {"capacity": 32 << 20, "num_shard_bits": 6, "strict_capacity_limit": 0}

Line = tuple[float, str]
"""Seconds after the beginning, and what follows the time and the thread."""
LSM = [1, 0, 0, 0, 0, 0, 0]


def line(at_s: float, text: str) -> str:
    """Return a line of a LOG."""
    moment = _BEGIN + timedelta(seconds=at_s)
    return f"{moment:%Y/%m/%d-%H:%M:%S.%f} 21818 {text}"


def event(at_s: float, name: str, **fields: object) -> Line:
    """Return an event."""
    micros = round((_BEGIN.timestamp() + at_s) * _MICROS)
    return at_s, "EVENT_LOG_v1 " + json.dumps({"time_micros": micros, "event": name, **fields})


def flush(
    at_s: float, job: int, *, reason: str = "Write Buffer Full", family: str = "default",
    entries: int = 1000, deletes: int = 0, data: int = 1 << 20, took_s: float = 0.1,
    blobs: int = 0, **properties: int,
) -> list[Line]:  # fmt: skip
    """Return the events of a flush that makes a table with these properties."""
    end = at_s + took_s
    made = {"num_entries": entries, "num_deletions": deletes, **properties}
    lines = [
        event(at_s, "flush_started", job=job, num_memtables=1, num_entries=entries,
              num_deletes=deletes, total_data_size=data, memory_usage=data, flush_reason=reason),
        event(end, "table_file_creation", cf_name=family, job=job, file_number=job,
              file_size=data // 2, table_properties=made),
    ]  # fmt: skip
    if blobs:
        lines.append(event(end, "blob_file_creation", cf_name=family, job=job, file_number=job,
                           total_blob_count=1, total_blob_bytes=blobs))  # fmt: skip
    return [*lines, event(end, "flush_finished", job=job, lsm_state=LSM, immutable_memtables=0)]


def compaction(
    at_s: float, job: int, *, reason: str = "LevelL0FilesNum", inputs: Sequence[int] = (0, 1),
    output: int = 1, family: str = "default", read: int = 1 << 20, written: int = 1 << 20,
    took_s: float = 1.0, cpu: float = 0.5, parts: int = 1, deletes: int = 0, snapshot: int = -1,
    file: int | None = None, dropped: int = 0,
) -> list[Line]:  # fmt: skip
    """Return the events of a compaction; `cpu` is the share of its time on the CPU.

    `file` is the number of its only input file, `dropped` the number of records that it drops.
    """
    end, micros = at_s + took_s, round(took_s * _MICROS)
    files = {f"files_L{level}": [file or 100 + level] for level in inputs}
    made = {"num_entries": max(deletes, 1000), "num_deletions": deletes}
    return [
        event(at_s, "compaction_started", job=job, cf_name=family, compaction_reason=reason,
              **files, score=1, input_data_size=read, oldest_snapshot_seqno=snapshot),
        event(end, "table_file_creation", cf_name=family, job=job, file_number=job,
              file_size=written, table_properties=made),
        event(end, "compaction_finished", job=job, compaction_time_micros=micros,
              compaction_time_cpu_micros=round(micros * cpu), output_level=output,
              num_output_files=1, total_output_size=written, num_input_records=1000,
              num_output_records=1000 - dropped, num_subcompactions=parts, lsm_state=LSM),
    ]  # fmt: skip


def dump(
    at_s: float, *, stalled_s: float = 0.0, tail: str = "",
    tickers: Mapping[str, int] | None = None, histograms: str = "",
) -> str:  # fmt: skip
    """Return a dump of the statistics; `tail` follows the table of the default family."""
    share = 100 * stalled_s / at_s if at_s else 0.0
    told = tickers or {"block.cache.miss": 0}
    return "\n".join([
        line(at_s, "[db/db_impl/db_impl.cc:1105] ------- DUMPING STATS -------"),
        line(at_s, "[db/db_impl/db_impl.cc:1107] "),
        "** DB Stats **",
        f"Uptime(secs): {at_s:.1f} total, 3.0 interval",
        "Cumulative writes: 10K writes, 10K keys, 10K commit groups, 1.0 writes per commit group, "
        "ingest: 0.01 GB, 1.00 MB/s",
        f"Cumulative stall: 00:00:{stalled_s:06.3f} H:M:S, {share:.1f} percent",
        "",
        "** Compaction Stats [default] **",
        tail,
        line(at_s, "[db/db_impl/db_impl.cc:788] STATISTICS:"),
        *(f"rocksdb.{name} COUNT : {count}" for name, count in told.items()),
        *([histograms] if histograms else []),
        "",
    ])  # fmt: skip


def log(
    *lines: Line | str | list[Line], version: str = "7.8.3", database: Mapping[str, object] = {},
    family: Mapping[str, object] = {}, families: Sequence[str] = ("default",),
    tables: Mapping[str, object] = {}, cache: Mapping[str, object] = {}, opened_s: float = 0.0,
    summary: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return a LOG from the opening of a database on, with changes of the usual options."""
    text = [line(0, f"RocksDB version: {version}"), line(0, "DB SUMMARY")]
    text += [line(0, entry) for entry in summary]
    text += [line(0, f"   Options.{n}: {v}") for n, v in {**DATABASE, **database}.items()]
    text.append(line(0, "[db/version_set.cc:5536] Recovering from manifest file: db/MANIFEST-1"))
    for name in families:
        head = f"[db/column_family.cc:630] --------------- Options for column family [{name}]:"
        text.append(line(0, head))
        for option, value in {**FAMILY, **family}.items():
            text.append(line(0, f"   Options.{option}: {value}"))
            if option == "table_factory":
                text.append(line(0, "  table_factory options:   flush_block_policy_factory: F"))
                text += [f"  {n}: {v}" for n, v in {**TABLES, **tables}.items()]
                text += [f"    {n} : {v}" for n, v in {**CACHE, **cache}.items()]
    recovered = "[db/version_set.cc:5575] Recovered from manifest file:db/MANIFEST-1 succeeded"
    text.append(line(opened_s, recovered))
    for entry in lines:
        if isinstance(entry, str):
            text.append(entry)
        else:
            each = entry if isinstance(entry, list) else [entry]
            text += [line(at_s, told) for at_s, told in each]
    return "\n".join([*text, ""])


def stalls(
    cause: str, *, stop: bool = False, family: str = "default", times: int = 20,
    rate: int = 8 << 20, every_s: float = 1.0,
) -> list[Line]:  # fmt: skip
    """Return warnings, one each `every_s`: `cause` is `36 level-0 files` or alike."""
    verb, end = ("Stopping", "") if stop else ("Stalling", f" rate {rate}")
    text = f"[WARN] [db/column_family.cc:948] [{family}] {verb} writes because {cause}{end}"
    return [(1 + place * every_s, text) for place in range(times)]
