"""A screening: every config of a design or a batch is measured, some of them again."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lsmtune.batch import BatchLine, read_batch
from lsmtune.errors import UserError
from lsmtune.knobs.design import design_configs
from lsmtune.knobs.types import Config
from lsmtune.spec import Screen
from lsmtune.store.records import StoredTrial
from lsmtune.studies.runner import Task
from lsmtune.studies.study import Study
from lsmtune.trials import Role, Status
from lsmtune.units import format_duration
from lsmtune.workloads import Workload

_FIRST_SEED = 1000
"""Far from the seeds of the base's runs."""
_SEEDS_A_ROUND = 1_000_000


@dataclass(frozen=True, slots=True)
class Point:
    """A config and the load that it is measured under."""

    config: Config
    workload: Workload


def screen(study: Study, table: Screen) -> None:
    """Measure the base, every point once, then the replicated ones again.

    What an earlier call has measured counts; a config that failed is not tried again.
    LsmtuneError when the base cannot be measured, UserError when the batch cannot be used.
    """
    study.measure_base()
    points = list(dict.fromkeys(_points(study, table)))
    more = min(table.replicated, len(points)) * (table.runs - 1)
    _run(study, points, 0, len(points) + more)
    for again in range(1, table.runs):
        replicated = _measured(study, points)[: table.replicated]
        _run(study, replicated, again, len(replicated) * (table.runs - again))


def _run(study: Study, points: Sequence[Point], again: int, left: int) -> None:
    """Run the points that have not yet run more than `again` times; so many runs are left."""
    done = Counter(_point(trial) for trial in _screened(study))
    for place, point in enumerate(points):
        if done[point] <= again:
            spec = study.trial_spec(point.config)
            seed = study.spec.seed + _FIRST_SEED + again * _SEEDS_A_ROUND + place
            spec = spec.model_copy(update={"workload": point.workload, "seed": seed})
            role = Role.REPEAT if again else Role.TRIAL
            word = "again" if again else "config"
            title = f"{word} {place + 1} of {len(points)}{_time(study, left - place)}"
            study.run(Task(title, role, point.config, spec))


def _points(study: Study, table: Screen) -> list[Point]:
    if table.batch is None:
        configs = design_configs(study.space, table.design, study.spec.trials, study.spec.seed)
        return [Point(config, study.spec.load_at(config)) for config in configs]
    lines = usable_lines(Path(table.batch), read_batch(Path(table.batch), study.ground.catalogue))
    return [Point(study.space.canonical(_known(study, line)), line.workload) for line in lines]


def _known(study: Study, line: BatchLine) -> Config:
    """The line's values; db_bench's defaults for what it leaves out."""
    defaults = {knob.name: knob.default for knob in study.space.knobs}
    return Config({**defaults, **line.knobs})


def usable_lines(path: Path, lines: Sequence[BatchLine]) -> list[BatchLine]:
    """The lines that can be run; UserError when there is none."""
    usable = [line for line in lines if line.error is None or line.knobs]
    if not usable:
        first = f": {lines[0].error}" if lines else ""
        raise UserError(f"batch {path}: it has no line that can be run{first}")
    return usable


def _screened(study: Study) -> list[StoredTrial]:
    return [
        trial
        for trial in study.trials()
        if trial.role in (Role.TRIAL, Role.REPEAT) and trial.result.status is not Status.DISTURBED
    ]


def _point(trial: StoredTrial) -> Point:
    return Point(trial.config, trial.spec.workload)


def _measured(study: Study, points: Sequence[Point]) -> list[Point]:
    """The points without those that failed: they would fail again."""
    failed = {_point(trial) for trial in _screened(study) if trial.result.status.failed}
    return [point for point in points if point not in failed]


def _time(study: Study, runs: int) -> str:
    took_s = [trial.duration_s for trial in _screened(study)]
    return f" (about {format_duration(runs * median(took_s))} left)" if took_s else ""
