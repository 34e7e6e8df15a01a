"""From what TiKV has counted to lsmtune's metrics; what it does not tell is no metric."""

from collections.abc import Mapping

from lsmtune.metrics.prometheus import Series

_MICROS = 1e6
_KINDS = ("data", "index", "filter")
_WITH_RECORDS = ("default", "write")
"""The column families that hold the records; others flush for reasons of their own."""


def write_metrics(counted: Series, load_s: float) -> dict[str, float]:
    """What writing cost since the load began: RocksDB's tickers of the database `kv`.

    A load that flushes nothing has no write amplification: all it wrote is still in memory.
    """
    user, logged = (_flow(counted, name) for name in ("bytes_written", "wal_file_bytes"))
    flushed = _flow(counted, "flush_write_bytes")
    read, compacted = (
        counted.total("tikv_engine_compaction_flow_bytes", db="kv", type=f"bytes_{name}")
        for name in ("read", "written")
    )
    flushes = _flushes(counted)
    if flushes is None and flushed is not None:
        flushes = 0.0  # TiKV tells of no event before the first
    tables: list[float | None] = [flushed, compacted] if flushes else [None]
    stalled = counted.total("tikv_engine_stall_micro_seconds", db="kv")
    return _told({
        "write_amp": _ratio(tables, user),
        "wal_inclusive_write_amp": _ratio([*tables, logged], user),
        "flushes": flushes,
        "flush_write_bytes": flushed,
        "compact_write_bytes": compacted,
        "compact_read_bytes": read,
        "stall_s": None if stalled is None else stalled / _MICROS,
        "stall_percent": None if stalled is None else 100 * stalled / _MICROS / load_s,
    })  # fmt: skip


def cpu_metrics(counted: Series) -> dict[str, float]:
    """The CPU time of the process, and of RocksDB's threads for compactions."""
    return _told({
        "compaction_cpu_s": counted.total("tikv_thread_cpu_seconds_total", _compacts),
        "cpu_s": counted.total("process_cpu_seconds_total"),
    })  # fmt: skip


def read_metrics(counted: Series) -> dict[str, float]:
    """What reads cost: blocks read past the cache and spared by filters a read, hits."""
    keys = _flow(counted, "keys_read")
    seeks = counted.total("tikv_engine_locate", db="kv", type="number_db_seek")
    reads = None if keys is None or seeks is None else keys + seeks
    hits = {f"cache_hit_{kind}": _share(_cache(counted, f"{kind}_")) for kind in _KINDS}
    memtables = "tikv_engine_memtable_efficiency"
    return _told({
        "read_amp": _ratio([_cache(counted, "")[1]], reads),
        "bloom_useful": _ratio(
            [counted.total("tikv_engine_bloom_efficiency", db="kv", type="bloom_useful")], reads
        ),
        "memtable_hit": _share([
            counted.total(memtables, db="kv", type=f"memtable_{end}") for end in ("hit", "miss")
        ]),
        **hits,
    })  # fmt: skip


def live_bytes(counted: Series) -> dict[str, float]:
    """The size of the tables: TiKV counts the memtables with them, and tells those apart."""
    size = counted.total("tikv_engine_size_bytes", db="kv")
    memtables = counted.total("tikv_engine_memory_bytes", db="kv", type="mem-tables")
    if size is None or memtables is None:
        return {}
    return {"live_sst_bytes": max(0.0, size - memtables)}


def stalls(counted: Series) -> dict[str, int]:
    """How often writes were slowed or stopped, by cause as TiKV names it."""
    found = counted.by_label("tikv_engine_write_stall_reason", "type", db="kv")
    return {cause: int(count) for cause, count in found.items() if count}


def version(counted: Series) -> str:
    """The version of TiKV; "unknown" where it does not tell."""
    return next(iter(counted.by_label("tikv_server_info", "version")), "unknown")


def records(counted: Series) -> float | None:
    """About how many records the store holds, all column families with data together."""
    found = counted.by_label("tikv_engine_estimate_num_keys", "cf", db="kv")
    counts = [found[family] for family in ("default", "write") if family in found]
    return sum(counts) if counts else None


def transactional(counted: Series) -> float:
    """About how many records of transactions the store holds; 0 where it does not tell."""
    return counted.total("tikv_engine_estimate_num_keys", db="kv", cf="write") or 0.0


def _flushes(counted: Series) -> float | None:
    return counted.total(
        "tikv_engine_event_total",
        lambda labels: labels.get("cf") in _WITH_RECORDS,
        db="kv",
        type="flush",
    )


def _flow(counted: Series, kind: str) -> float | None:
    return counted.total("tikv_engine_flow_bytes", db="kv", type=kind)


def _compacts(labels: Mapping[str, str]) -> bool:
    """Whether a thread is one of RocksDB's for compactions, as AutoTiKV counted them."""
    return labels.get("name", "").startswith("rocksdb:low")


def _cache(counted: Series, kind: str) -> list[float | None]:
    name = "tikv_engine_cache_efficiency"
    return [counted.total(name, db="kv", type=f"block_cache_{kind}{e}") for e in ("hit", "miss")]


def _share(hit_and_miss: list[float | None]) -> float | None:
    hit, miss = hit_and_miss
    if hit is None or miss is None or not hit + miss:
        return None
    return hit / (hit + miss)


def _ratio(parts: list[float | None], whole: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) / whole if whole and len(known) == len(parts) else None


def _told(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}
