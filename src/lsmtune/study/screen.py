"""A screening: every config of a design or a batch is measured, some of them again."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from lsmtune.batch import BatchLine, read_batch
from lsmtune.engine_traits import ENGINES, refusal
from lsmtune.errors import UserError
from lsmtune.knobs.design import design_configs
from lsmtune.knobs.types import Config
from lsmtune.spec import StudySettings, catalogue_of, load_at
from lsmtune.stats import ratio_interval
from lsmtune.store.records import StoredTrial, complete_trials, undisturbed
from lsmtune.study.baselines import feed_compared, measure_baseline
from lsmtune.study.runner import Task
from lsmtune.study.session import Session
from lsmtune.tables import Screen
from lsmtune.trials import Role, workload_seed
from lsmtune.units import format_duration
from lsmtune.workloads import Workload

_COMPARED, _FEWEST_COMPARED = 10, 6
"""So many configs run both alone and side by side."""
_COMPARED_METRICS = ("write_amp", "live_sst_bytes", "total_s", "throughput_ops_s")
_WIDEST = 0.1
"""The half width of an interval that still tells whether runs agree."""


@dataclass(frozen=True, slots=True)
class Point:
    """A config and the load that it is measured under."""

    config: Config
    workload: Workload


def screen(study: Session, table: Screen, jobs: int = 1) -> str | None:
    """Measure the base, every point once, then the replicated ones again.

    What an earlier call has measured counts; a config that failed is not tried again. Up to
    `jobs` runs go on side by side, if that is seen to change nothing; else a remark says why not.
    With hosts, `jobs` must be 1: each host runs one config at a time, and each measures the base.
    LsmtuneError when the base cannot be measured, UserError when the batch cannot be used.
    """
    measure_baseline(study)
    points = list(dict.fromkeys(_points(study, table)))
    remark = None
    if jobs > 1:
        _run(study, points[:_COMPARED], 0, len(points))
        remark = _objection(study, points[:_COMPARED], jobs)
    together = 1 if remark else jobs
    more = min(table.replicated, len(points)) * (table.runs - 1)
    _run(study, points, 0, len(points) + more, together)
    for again in range(1, table.runs):
        replicated = _measured(study, points)[: table.replicated]
        _run(study, replicated, again, len(replicated) * (table.runs - again), together)
    return remark


def _run(study: Session, points: Sequence[Point], again: int, left: int, jobs: int = 1) -> None:
    """Run the points that have not yet run more than `again` times; so many runs are left.

    Hosts whose times differ take the points in a random order. In a Sobol sequence, every second
    point has a knob in the upper half of its range. Two hosts that take turns would each get one
    half, and nobody could tell the host from the knob.
    """
    done = Counter(_point(trial) for trial in _screened(study))
    role = Role.REPEAT if again else Role.TRIAL
    run = f", run {again + 1}" if again else ""
    missing = [(place, point) for place, point in enumerate(points) if done[point] <= again]

    def task(place: int, point: Point, runs: float) -> Task:
        title = f"config {place + 1} of {len(points)}{run}{_time(study, runs)}"
        return _task(study, point, (place, again), role, title)

    if jobs > 1:
        for group in _groups(missing, jobs):
            study.run_together([task(*one, (left - one[0]) / jobs) for one in group])
        return
    after = left - len(points)
    rng = np.random.default_rng([study.spec.seed, again])

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        if not missing:
            return ()
        runs = after + len(missing) + len(under_way)
        place, point = missing.pop(0 if host is None else int(rng.integers(len(missing))))
        return [task(place, point, runs / (1 + len(under_way)))]

    feed_compared(study, next_job)


def _groups(points: list[tuple[int, Point]], size: int) -> list[list[tuple[int, Point]]]:
    return [points[first : first + size] for first in range(0, len(points), size)]


def _task(study: Session, point: Point, run: tuple[int, int], role: Role, title: str) -> Task:
    """The task of a run: the place of its point, and how many times the point ran before."""
    spec = study.trial_spec(point.config)
    seed = workload_seed(study.spec.seed, "screen", *run)
    spec = spec.model_copy(update={"workload": point.workload, "seed": seed})
    return Task(title, role, point.config, spec)


def _objection(study: Session, points: Sequence[Point], jobs: int) -> str | None:
    """Why runs side by side may not stand for runs alone; None where they agree.

    The same configs have run alone and run side by side under the same seeds. They agree where for
    every metric the interval of their ratio holds 1 and is narrow enough to tell.
    """
    if study.spec.workload.definition.prepared:
        return "workloads that build a database before the load always run one at a time"
    shared = {_point(t): t for t in study.trials() if t.role is Role.SHARED}
    missing = [(place, point) for place, point in enumerate(points) if point not in shared]
    for group in _groups(missing, jobs):
        tasks = [
            _task(study, point, (place, 0), Role.SHARED, f"config {place + 1} in parallel")
            for place, point in group
        ]
        study.run_together(tasks)
    alone = {_point(t): t.result.metrics for t in complete_trials(study.trials(), Role.TRIAL)}
    beside = {_point(t): t.result.metrics for t in complete_trials(study.trials(), Role.SHARED)}
    both = [point for point in points if point in alone and point in beside]
    if len(both) < _FEWEST_COMPARED:
        return (
            f"only {len(both)} configs have both a single run and a parallel run; lsmtune needs "
            f"{_FEWEST_COMPARED} to compare the runs"
        )
    for name in _COMPARED_METRICS:
        if all(name in alone[point] for point in both):
            ratio = ratio_interval([beside[p][name] for p in both], [alone[p][name] for p in both])
            if not (ratio.low <= 1 <= ratio.high) or ratio.relative_half_width > _WIDEST:
                interval = f"{ratio.low:.2f}–{ratio.high:.2f}"  # noqa: RUF001
                return (
                    f"{name} may change in parallel runs: the ratio of parallel to single runs "
                    f"is {ratio.median:.2f} (interval {interval})"
                )
    return None


def _points(study: Session, table: Screen) -> list[Point]:
    if table.batch is None:
        configs = design_configs(
            study.space, table.design, study.spec.number_of_trials, study.spec.seed
        )
        return [Point(config, load_at(study.spec.workload, config)) for config in configs]
    lines = usable_lines(Path(table.batch), read_batch(Path(table.batch)))
    _check_loads(study.spec, lines)
    return [Point(study.space.canonical(_known(study, line)), line.workload) for line in lines]


def _known(study: Session, line: BatchLine) -> Config:
    """The line's values of the knobs; db_bench's defaults for what it leaves out."""
    knobs = study.space.knobs
    return Config({knob.name: line.knobs.get(knob.name, knob.default) for knob in knobs})


def usable_lines(path: Path, lines: Sequence[BatchLine]) -> list[BatchLine]:
    """Return the lines that describe a run.

    UserError if there is none, or if a trial cannot have a value that another program measured.
    """
    usable = [line for line in lines if line.error is None or line.knobs]
    if not usable:
        first = f"; the first error: {lines[0].error}" if lines else ""
        raise UserError(f"batch {path}: no line of the file describes a run{first}")
    for line in usable:
        catalogue = catalogue_of(line.engine, line.workload)
        for name, value in line.knobs.items():
            if not (knob := catalogue.knob(name)).accepts(value):
                raise UserError(
                    f"batch {path}: run {line.id}: knobs.{name}: a trial cannot have the value "
                    f"{value}; allowed: {knob.accepted_text()}"
                )
    return usable


def _check_loads(spec: StudySettings, lines: Sequence[BatchLine]) -> None:
    """Raise UserError if the program of the study cannot run the workload of a line."""
    for load in dict.fromkeys(line.workload for line in lines):
        if (reason := refusal(spec.engine, load)) is not None:
            raise UserError(reason)
        for problem in ENGINES[spec.engine].check(spec.model_copy(update={"workload": load})):
            raise UserError(problem)


def _screened(study: Session) -> list[StoredTrial]:
    runs = undisturbed(study.trials(), Role.TRIAL, Role.REPEAT)
    return list(filter(study.history.counts, runs))


def _point(trial: StoredTrial) -> Point:
    return Point(trial.config, trial.spec.workload)


def _measured(study: Session, points: Sequence[Point]) -> list[Point]:
    """The points without those that failed: they would fail again."""
    failed = {_point(trial) for trial in _screened(study) if trial.result.status.failed}
    return [point for point in points if point not in failed]


def _time(study: Session, runs: float) -> str:
    took_s = [trial.duration_s for trial in _screened(study)]
    return f" (about {format_duration(runs * median(took_s))} left)" if took_s else ""
