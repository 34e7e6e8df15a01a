"""Experiments with one factor, the compaction style: one with db_bench, one on MyRocks."""

from dataclasses import dataclass

from lsmtune.analysis.experiment_runs import Experiment
from lsmtune.engine_traits import ENGINES, engines_of
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.workloads import EngineName, Workload
from lsmtune_reproductions.recipes.base import Asked, Opener
from lsmtune_reproductions.recipes.experiment import experiment_spec, run_experiment
from lsmtune_reproductions.recipes.published import planned

LEVEL, UNIVERSAL = 0, 1
STYLES = ("level", "universal")
_NUM, _OPERATIONS_A_RECORD = 100_000, 2
_TRANSACTIONS = 1500


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
    programs: dict[EngineName, str] = {
        "rocksdb": asked.program,
        "myrocks": ENGINES["myrocks"].program,
    }
    loads: dict[EngineName, Workload] = {"rocksdb": records, "myrocks": transactions}
    return {engine: _spec(asked, load, programs[engine]) for engine, load in loads.items()}


def _spec(asked: Asked, load: Workload, program: str) -> StudySettings:
    engine = engines_of(load.name)[0]
    sweep = planned(__package__, engine, asked.repeats)
    return experiment_spec(f"compaction-style-{engine}", load, sweep, engine, program)


def run(asked: Asked, home: Home, opener: Opener) -> Results:
    """Run what is missing of both experiments."""
    parts = (
        Part(engine, TITLES[engine], run_experiment(wanted, home, opener))
        for engine, wanted in specs(asked).items()
    )
    return Results(tuple(parts))
