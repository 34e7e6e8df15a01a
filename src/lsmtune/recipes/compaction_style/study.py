"""Experiments with one factor, the compaction style: one with db_bench, one on MyRocks."""

from dataclasses import dataclass

from lsmtune.analysis.experiment_runs import Experiment
from lsmtune.engines.registry import engine_of
from lsmtune.experiment import Sweep, Told
from lsmtune.knobs.families import DEFAULT_FAMILY, knob_name
from lsmtune.recipes.base import Asked, Progress
from lsmtune.recipes.experiment import Make, experiment_spec, run_experiment
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import PROGRAMS
from lsmtune.store.home import Home
from lsmtune.workloads import EngineName, Workload

LEVEL, UNIVERSAL = 0, 1
STYLES = ("level", "universal")
FACTOR = "style"
_METRICS = (
    "write_amp", "live_sst_bytes", "peak_space_bytes", "compact_write_bytes", "compact_read_bytes",
    "background_jobs", "background_s", "stall_s", "total_s", "throughput_ops_s", "read_amp",
)  # fmt: skip
_REPEATS = 5
_NUM, _OPERATIONS_A_RECORD = 100_000, 2
_TRANSACTIONS = 1500
_MEMTABLE, _LEVEL_1, _MULTIPLIER = "2MiB", "16MiB", 10
"""Values of the course for which the report was written."""
_CACHE = "40MiB"
"""About 30 % of TPC-C's two warehouses, the share of the report's buffer in its ten."""


@dataclass(frozen=True, slots=True)
class Part:
    """Experiment on one engine."""

    engine: EngineName
    title: str
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class Results:
    """Data of the page."""

    parts: tuple[Part, ...]


TITLES: dict[EngineName, str] = {"rocksdb": "db_bench", "myrocks": "TPC-C on MyRocks"}


def specs(asked: Asked) -> dict[EngineName, StudySettings]:
    """Return the experiment of each engine."""
    num = asked.num or _NUM
    records = Workload(
        name="readrandomwriterandom", num=num, get_percent=50, operations=_OPERATIONS_A_RECORD * num
    )
    transactions = Workload(name="tpcc", operations=_TRANSACTIONS)
    programs: dict[EngineName, str] = {**PROGRAMS, "rocksdb": asked.program}
    loads: dict[EngineName, Workload] = {"rocksdb": records, "myrocks": transactions}
    return {engine: _spec(asked, load, programs[engine]) for engine, load in loads.items()}


def _spec(asked: Asked, load: Workload, program: str) -> StudySettings:
    engine = load.preset.engine
    own: dict[str, Told] = {
        "write_buffer_size": _MEMTABLE,
        "max_bytes_for_level_base": _LEVEL_1,
        "max_bytes_for_level_multiplier": _MULTIPLIER,
    }
    fixed: dict[str, Told] = {_knob(engine, name): told for name, told in own.items()}
    if engine == "myrocks":
        fixed["cache_size"] = _CACHE
    style = _knob(engine, "compaction_style")
    sweep = Sweep(
        factors={FACTOR: {style: (LEVEL, UNIVERSAL)}},
        fixed=fixed,
        repeats=asked.repeats or _REPEATS,
        metrics=(*(("tpmc",) if engine == "myrocks" else ()), *_METRICS),
    )
    return experiment_spec(f"compaction-style-{engine}", load, sweep, engine, program)


def _knob(engine: EngineName, option: str) -> str:
    return knob_name(DEFAULT_FAMILY, option) if engine == "myrocks" else option


def run(asked: Asked, home: Home, progress: Progress, make: Make = engine_of) -> Results:
    """Run what is missing of both experiments."""
    parts = (
        Part(engine, TITLES[engine], run_experiment(wanted, home, progress, make))
        for engine, wanted in specs(asked).items()
    )
    return Results(tuple(parts))
