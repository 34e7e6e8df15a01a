"""Experiments: three commands of db_bench with less data, and one workload on four stores."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp
from typing import Any, Literal

from lsmtune.analysis.experiment_runs import Experiment
from lsmtune.engines.registry import engine_of
from lsmtune.experiment import Sweep, Told
from lsmtune.recipes.base import Asked, Progress
from lsmtune.recipes.experiment import Make, experiment_spec, run_experiment
from lsmtune.recipes.published import published
from lsmtune.spec import SMALLEST_SCALE, StudySettings
from lsmtune.spec_defaults import PROGRAMS
from lsmtune.store.home import Home
from lsmtune.workloads import Workload

Name = Literal["fillseq", "fillrandom", "readrandom", "stores", "myrocks"]
COMMANDS: tuple[Name, ...] = ("fillseq", "fillrandom", "readrandom")
"""Published commands, in their order."""

TREE, COMPRESSION = "tree", "compression"
DEFAULT, PUBLISHED = (0, 0), (1, 1)
"""Cells of a command: db_bench's defaults, and the published options of the long command."""
_OPTIONS: dict[str, dict[str, tuple[Told, ...]]] = {
    TREE: {
        "num_levels": (7, 4),
        "level0_slowdown_writes_trigger": (20, 8),
        "level0_stop_writes_trigger": (36, 12),
        "max_background_compactions": (-1, 32),
    },
    COMPRESSION: {
        "compression_type": ("snappy", "zlib"),
        "min_level_to_compress": (-1, 2),
        "block_size": ("4KiB", "16KiB"),
    },
}
"""Options of the long command that differ from the defaults, in two groups.

-open_files=10000 is left out: there are fewer files."""
OPTION_NAMES = ("the defaults", "the published options")

STORE, MEMTABLE = "store", "memtable"
STORES = {"rocksdb": "RocksDB", "leveldb": "LevelDB", "lmdb": "LMDB"}
ROCKSDB, LEVELDB, LMDB = ((place,) for place in range(len(STORES)))
ALIKE = (0,)
"""Cell of MyRocks with the settings of the embedded stores."""
_LIKE_THE_STORES: dict[str, Told] = {
    "default.target_file_size_base": "2MiB",
    "default.max_bytes_for_level_base": "10MiB",
    "default.level0_file_num_compaction_trigger": 4,
    "default.level0_slowdown_writes_trigger": 8,
    "default.level0_stop_writes_trigger": 12,
    "default.compression_type": "snappy",
    "default.block_size": "4KiB",
    "default.bloom_bits": 10,
    "cache_size": "8MiB",
}

_STUDY = "db-bench-study"
_SMALLER = 64
_SEQUENTIAL, _RECORDS_A_STORE = 1_000_000, 500_000
_REPEATS = 4
_OF_COMMANDS = (
    "throughput_ops_s", "write_amp", "live_sst_bytes", "stall_percent", "total_s",
)  # fmt: skip
_OF_READS = ("throughput_ops_s", "get_p50_us", "get_p99_us", "read_amp", "live_sst_bytes")
OF_STORES = (
    "throughput_ops_s", "total_s", "disk_write_amp", "disk_bytes", "get_p50_us",
    "get_missing_p50_us", "scan_p50_us", "write_p99_us",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Results:
    """Data of the page."""

    parts: Mapping[Name, Experiment]


paper = partial(published, __package__)
"""Function that returns the published numbers."""


def specs(asked: Asked) -> dict[Name, StudySettings]:
    """Return the experiments: the commands on RocksDB, the stores in one driver, and MyRocks."""
    stores = Workload(num=min(asked.num or _RECORDS_A_STORE, _RECORDS_A_STORE), **_record())
    return {
        **{name: _command(name, asked) for name in COMMANDS},
        "stores": experiment_spec(
            f"{_STUDY}-stores", stores,
            Sweep(
                factors={STORE: {"store": tuple(STORES)}},
                labels={STORE: tuple(STORES.values())},
                metrics=OF_STORES,
                repeats=_repeats(asked),
            ),
            "embedded", PROGRAMS["embedded"],
        ),
        "myrocks": experiment_spec(
            f"{_STUDY}-myrocks", stores,
            Sweep(
                factors={MEMTABLE: {"default.write_buffer_size": ("4MiB", "64MiB")}},
                fixed=_LIKE_THE_STORES,
                metrics=OF_STORES,
                repeats=_repeats(asked),
            ),
            "myrocks", PROGRAMS["myrocks"],
        ),
    }  # fmt: skip


def _repeats(asked: Asked) -> int:
    return asked.repeats or _REPEATS


def _record() -> dict[str, Any]:
    return {name: paper()[name] for name in ("key_size", "value_size")}


def _command(name: Name, asked: Asked) -> StudySettings:
    num = asked.num or paper()["records"] // _SMALLER
    scale = max(SMALLEST_SCALE, min(Fraction(1), Fraction(1, round(paper()["records"] / num) or 1)))
    fixed: dict[str, Told] = {}
    if name == "fillseq":
        # The only command that runs at its published size.
        num = min(asked.num or _SEQUENTIAL, _SEQUENTIAL)
        load, scale = Workload(name=name, num=num, **_record()), Fraction(1)
    elif name == "fillrandom":
        load = Workload(name=name, num=num, **_record(), **_tombstones(scale))
    else:
        fixed["cache_size"] = round(paper()["cache_size"] * scale)
        load = Workload(
            name=name,
            num=num,
            present=1 - exp(-1),  # share after as many random writes as keys, as published
            threads=paper()["read_threads"],
            operations=max(100, round(paper()["reads"] * scale)),
            **_record(),
            **_tombstones(scale),
        )
    metrics = _OF_READS if name == "readrandom" else _OF_COMMANDS
    sweep = Sweep(
        factors=_OPTIONS,
        labels=dict.fromkeys(_OPTIONS, OPTION_NAMES),
        fixed=fixed,
        metrics=metrics,
        repeats=_repeats(asked),
    )
    study = f"{_STUDY}-{name}"
    return experiment_spec(study, load, sweep, "rocksdb", asked.program, scale=str(scale))


def _tombstones(scale: Fraction) -> dict[str, int]:
    """Return the published number of tombstones, each over the published share of the keys."""
    return {
        "tombstone_every": max(10, round(paper()["writes_per_range_tombstone"] * scale)),
        "tombstone_width": max(1, round(paper()["range_tombstone_width"] * scale)),
        "tombstones": paper()["max_num_range_tombstones"],
    }


def run(asked: Asked, home: Home, progress: Progress, make: Make = engine_of) -> Results:
    """Run what is missing of all experiments."""
    parts: dict[Name, Experiment] = {}
    for name, wanted in specs(asked).items():
        drawn = (DEFAULT, PUBLISHED) if name in COMMANDS else ()
        parts[name] = run_experiment(wanted, home, progress, make, drawn)
    return Results(parts)
