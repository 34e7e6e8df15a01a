"""What the simulator models: values of options, and versions that were compared with real runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.constraints import refusals
from lsmtune.knobs.defaults import nearest_of
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


@dataclass(frozen=True, slots=True)
class Compared:
    """A version, and the median relative error of the predicted write amplification."""

    version: str
    write_amp_error: float


COMPARED = (Compared("7.8.3", 0.042), Compared("11.8.1", 0.064))
"""The errors are from benchmarks/results/simulator.json. A test compares them."""

RUNNING_COMPARED: tuple[Compared, ...] = ()
"""The same for trials of a running store, by benchmarks/running_simulator.py. Empty: none were
compared, so the simulator does not lead a search on running stores by default."""


def nearest_compared(version: str, compared: Sequence[Compared] = COMPARED) -> Compared:
    """Return the version that is nearest to a version and was compared with real runs."""
    nearest = nearest_of(version, [each.version for each in compared])
    return next(each for each in compared if each.version == nearest)


def modelled_text(version: str) -> str:
    """Return a text: the version of a prediction, and the nearest version that was compared."""
    nearest = nearest_compared(version).version
    text = f"the simulator models RocksDB {version}"
    if nearest == version:
        return text
    return f"{text}; the nearest version that was compared with real runs is {nearest}"
