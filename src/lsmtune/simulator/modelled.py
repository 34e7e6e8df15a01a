"""Values of options that the simulator models."""

from collections.abc import Mapping

from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.constraints import refusals
from lsmtune.knobs.possible import down_to_zero
from lsmtune.knobs.types import Knob, Special, Value
from lsmtune.simulator.native import known_knobs

_FROM_ZERO = frozenset({
    "cache_size", "write_buffer_size", "max_write_buffer_number",
    "min_write_buffer_number_to_merge", "num_levels", "level0_file_num_compaction_trigger",
    "level0_slowdown_writes_trigger", "level0_stop_writes_trigger", "max_background_jobs",
    "max_background_compactions", "max_background_flushes", "subcompactions",
    "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit",
})  # fmt: skip
"""Options of which the simulator models all small values: no block cache, and values that RocksDB
changes when it opens a store (`sanitised` and `job_limits` in native/lsmsim/src/options.rs)."""

_ZERO = Special(value=0, meaning="RocksDB's default")
_DEFAULT_AT_ZERO = frozenset({"universal_min_merge_width", "universal_max_merge_width"})
"""Flags of db_bench that leave the option at RocksDB's default if they are 0."""
_CACHE = ("cache_index_and_filter_blocks", "cache_size")


def modelled(knob: Knob) -> Knob:
    """Return the knob that accepts the values that the simulator models."""
    if knob.name in _DEFAULT_AT_ZERO:
        return knob.model_copy(update={"special": (*knob.special, _ZERO)})
    return down_to_zero(knob) if knob.name in _FROM_ZERO else knob


def why_unmodelled(knobs: Mapping[str, Value]) -> str | None:
    """Return why a run with these values of RocksDB's knobs cannot be predicted, or None."""
    catalogue, known = rocksdb_catalogue(), known_knobs()
    for name, value in knobs.items():
        if name not in known:
            continue
        knob = modelled(catalogue.knob(name))
        if not knob.accepts(value):
            return (
                f"knobs.{name}: the simulator does not model the value {value}; it models "
                f"{knob.accepted_text()}"
            )
    refused = refusals({name: knobs[name] for name in _CACHE if name in knobs})
    return f"knobs: {refused[0]}" if refused else None
