"""Experiments: three commands of db_bench with less data, and one workload on four stores."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp
from typing import Any, Literal

from lsmtune.analysis.experiment_runs import Experiment
from lsmtune.engine_traits import ENGINES
from lsmtune.experiment import Told
from lsmtune.spec import SMALLEST_SCALE, StudySettings
from lsmtune.store.home import Home
from lsmtune.workloads import Workload
from lsmtune_reproductions.recipes.base import Asked, Opener
from lsmtune_reproductions.recipes.experiment import experiment_spec, run_experiment
from lsmtune_reproductions.recipes.published import planned, published

Name = Literal["fillseq", "fillrandom", "readrandom", "stores", "myrocks"]
COMMANDS: tuple[Name, ...] = ("fillseq", "fillrandom", "readrandom")
"""Published commands, in their order."""

TREE, COMPRESSION = "tree", "compression"
DEFAULT, PUBLISHED = (0, 0), (1, 1)
"""Cells of a command: db_bench's defaults, and the published options of the long command."""
OPTION_NAMES = ("the defaults", "the published options")

ROCKSDB, LEVELDB, LMDB = (0,), (1,), (2,)
"""Cells of the embedded stores."""
ALIKE = (0,)
"""Cell of MyRocks with the settings of the embedded stores."""

_STUDY = "db-bench-study"
_SMALLER = 64
_SEQUENTIAL, _RECORDS_A_STORE = 1_000_000, 500_000
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
    embedded, myrocks = (
        planned(__package__, name, asked.repeats, metrics=OF_STORES)
        for name in ("stores", "myrocks")
    )
    return {
        **{name: _command(name, asked) for name in COMMANDS},
        "stores": experiment_spec(
            f"{_STUDY}-stores", stores, embedded, "embedded", ENGINES["embedded"].program
        ),
        "myrocks": experiment_spec(
            f"{_STUDY}-myrocks", stores, myrocks, "myrocks", ENGINES["myrocks"].program
        ),
    }


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
    labels = dict.fromkeys((TREE, COMPRESSION), OPTION_NAMES)
    sweep = planned(
        __package__, "commands", asked.repeats, labels=labels, fixed=fixed, metrics=metrics
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


def run(asked: Asked, home: Home, opener: Opener) -> Results:
    """Run what is missing of all experiments."""
    parts: dict[Name, Experiment] = {}
    for name, wanted in specs(asked).items():
        drawn = (DEFAULT, PUBLISHED) if name in COMMANDS else ()
        parts[name] = run_experiment(wanted, home, opener, drawn)
    return Results(parts)
