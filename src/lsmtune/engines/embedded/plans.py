"""Plans of the driver for embedded stores: the options of each store, and the parts of a trial."""

from collections.abc import Callable
from typing import Any

from lsmtune.engines.rocksdb.driver.plans import measured, reads_after, settled
from lsmtune.knobs.types import Settings
from lsmtune.trials import TrialSpec
from lsmtune.units import GIB, MIB
from lsmtune.workloads import Workload

Json = dict[str, Any]

_LIKE_LEVELDB = {
    "max_write_buffer_number": 2, "max_bytes_for_level_base": 10 * MIB,
    "level_compaction_dynamic_level_bytes": "false",
    "level0_file_num_compaction_trigger": 4, "level0_slowdown_writes_trigger": 8,
    "level0_stop_writes_trigger": 12,
}  # fmt: skip
"""Values that are fixed in LevelDB. With them, RocksDB builds a similar tree."""
_CODECS = {"none": "kNoCompression", "snappy": "kSnappyCompression"}
_MAP_TIMES = 4
"""Size of LMDB's map, relative to all records. A large map costs only addresses."""
_REPORT: Json = {"do": "report"}


def load_plan(spec: TrialSpec) -> Json:
    """Return the plan that writes the records. Only RocksDB has a command that flushes."""
    store = str(spec.settings["store"])
    flush: list[Json] = [{"do": "flush"}] if store == "rocksdb" else []
    phases = [measured(spec.workload, spec.seed), *flush, settled(spec.protocol), _REPORT]
    return {**store_of(spec.settings, spec.workload), "phases": phases}


def settle_plan(spec: TrialSpec) -> Json:
    """Return the plan that opens the store again. This moves the newest writes into tables."""
    plan = store_of(spec.settings, spec.workload)
    return {**plan, "existing": True, "phases": [settled(spec.protocol), _REPORT]}


def probe_plan(spec: TrialSpec) -> Json:
    """Return the plan of the read probe."""
    plan = store_of(spec.settings, spec.workload)
    phases = reads_after(spec.workload, spec.seed, spec.protocol)
    return {**plan, "existing": True, "phases": phases}


def store_of(settings: Settings, load: Workload) -> Json:
    """Return the store with its options. Settings that the store does not have are left out."""
    store = str(settings["store"])
    return {"engine": store, "statistics": False, **_OPTIONS[store](settings, load)}


def _rocksdb(settings: Settings, _: Workload) -> Json:
    bits = settings["bloom_bits"]
    tables = {
        "block_size": settings["block_size"],
        **({"filter_policy": f"bloomfilter:{bits}:false"} if _is_filtered(settings) else {}),
    }
    options = {
        **_LIKE_LEVELDB,
        "write_buffer_size": settings["write_buffer_size"],
        "target_file_size_base": settings["target_file_size_base"],
        "compression": _CODECS[str(settings["compression_type"])],
        "block_based_table_factory": f"{{{_text(tables)}}}",
    }
    return {"options": _text(options), "block_cache": {"bytes": settings["cache_size"]}}


def _leveldb(settings: Settings, _: Workload) -> Json:
    options = {
        "write_buffer_size": settings["write_buffer_size"],
        "max_file_size": settings["target_file_size_base"],
        "block_size": settings["block_size"],
        "compression": settings["compression_type"],
        **({"bloom_bits": settings["bloom_bits"]} if _is_filtered(settings) else {}),
    }
    return {"options": _text(options), "block_cache": {"bytes": settings["cache_size"]}}


def _lmdb(_: Settings, load: Workload) -> Json:
    return {"options": f"map_size={_MAP_TIMES * load.num * load.record_bytes + GIB}"}


def _is_filtered(settings: Settings) -> bool:
    return int(settings["bloom_bits"]) > 0


def _text(options: Json) -> str:
    return ";".join(f"{key}={value}" for key, value in options.items())


_OPTIONS: dict[str, Callable[[Settings, Workload], Json]] = {
    "rocksdb": _rocksdb,
    "leveldb": _leveldb,
    "lmdb": _lmdb,
}
