"""Experiment of the recipe sst-size: every file size with every memtable size."""

from dataclasses import dataclass

from lsmtune.analysis.experiment_runs import Experiment
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.workloads import Workload
from lsmtune_reproductions.recipes.base import Asked, Opener
from lsmtune_reproductions.recipes.experiment import experiment_spec, run_experiment
from lsmtune_reproductions.recipes.published import planned, published

FILES, MEMTABLES = "files", "memtables"
_NUM, _FULL_NUM = 100_000, 1_000_000
_OPERATIONS_A_RECORD = 5
"""Gets and overwrites in turn; a run takes about one minute on two cores."""
_FULL_VALUE_BYTES, _FULL_GET_PERCENT = 100, 90
"""db_bench's defaults; the published command did not change them."""


@dataclass(frozen=True, slots=True)
class Results:
    """Data of the page."""

    experiment: Experiment

    @property
    def full(self) -> bool:
        """Whether the runs lasted as long as published."""
        return self.experiment.load.duration_s is not None


def spec(asked: Asked) -> StudySettings:
    """Return the experiment: a fixed number of operations, or the published hour with `full`."""
    sweep = planned(__package__, "sst-size", asked.repeats)
    name = "sst-size-full" if asked.full else "sst-size"
    return experiment_spec(name, _load(asked), sweep, "rocksdb", asked.program)


def _load(asked: Asked) -> Workload:
    name = "readrandomwriterandom"
    if asked.full:
        return Workload(
            name=name,
            num=asked.num or _FULL_NUM,
            value_size=_FULL_VALUE_BYTES,
            get_percent=_FULL_GET_PERCENT,
            duration_s=published(__package__)["duration_s"],
        )
    num = asked.num or _NUM
    return Workload(name=name, num=num, get_percent=50, operations=_OPERATIONS_A_RECORD * num)


def run(asked: Asked, home: Home, opener: Opener) -> Results:
    """Run what is missing of the experiment."""
    return Results(run_experiment(spec(asked), home, opener))
