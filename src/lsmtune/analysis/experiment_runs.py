"""Run what is missing of a controlled experiment and collect its results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, fsum, log10

from lsmtune.analysis.inspect.assemble import assemble
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.swept import Outcome, Swept, SweptRun, analyse, block_ratio
from lsmtune.errors import Argument, LsmtuneError
from lsmtune.host_levels import THIS_MACHINE
from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.types import Config, Settings
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Level
from lsmtune.stats import Interval, of_several
from lsmtune.store.records import complete_trials
from lsmtune.study.session import Session
from lsmtune.study.sweep import sweep
from lsmtune.trials import Role, Status
from lsmtune.workloads import KeyValues, Workload

Cell = tuple[int, ...]
Value = Callable[[SweptRun], float | None]
MIN_FLUSHES = 4.0
"""Default of level0_file_num_compaction_trigger: after fewer flushes RocksDB does not compact."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Results of a controlled experiment: workload, engine version, host, runs and analysis.

    `trees` has the levels of each cell after its runs, in the order of the blocks. `logs` has the
    LOG of the first run of some cells. `flushes` is how many times a run of a cell fills the
    memtable, where that is known.
    """

    load: Workload
    version: str
    machine: str
    outcome: Outcome
    swept: Swept
    trees: Mapping[Cell, tuple[tuple[Level, ...], ...]]
    logs: Mapping[Cell, Inspection]
    flushes: Mapping[Cell, float] = field(default_factory=dict)

    def too_small(
        self, needed: float = MIN_FLUSHES, cells: Sequence[Cell] | None = None
    ) -> str | None:
        """Return why the runs of these cells (default: all) write too little data, or None."""
        counts = [n for cell, n in self.flushes.items() if cells is None or cell in cells]
        return too_small(min(counts, default=None), self.load.num, needed)

    def first_tree(self, cell: Cell) -> tuple[Level, ...]:
        """Return the levels after the first run of a cell; empty if they are unknown."""
        return next(iter(self.trees.get(cell, ())), ())

    def by_block(self, cell: Cell, value: Value) -> dict[int, float]:
        """Return the measured values of a cell by block."""
        values = ((run.block, value(run)) for run in self.outcome.runs if run.cell == cell)
        return {block: found for block, found in values if found is not None}

    def ratio(
        self,
        cell: Cell,
        against: Cell,
        value: Value,
        of: "Experiment | None" = None,
        comparisons: int = 1,
    ) -> Interval | None:
        """Return the ratio of a cell to another one over the blocks; None if it is undefined.

        The other cell may belong to `of`, an experiment with the same workload seeds. With several
        `comparisons`, all their intervals together have 95 % confidence (Bonferroni).
        """
        found, other = self.by_block(cell, value), (of or self).by_block(against, value)
        return block_ratio(found, other, of_several(comparisons))

    def mean(self, cell: Cell, value: Value) -> float | None:
        """Return the mean of a cell; None if it was not measured."""
        found = self.by_block(cell, value)
        return fsum(found.values()) / len(found) if found else None


def metric(name: str) -> Value:
    """Return the function that reads a metric of a run; None if it was not measured."""
    return lambda run: run.metrics.get(name)


def finish(study: Session, logs_of: Sequence[Cell] = ()) -> Experiment:
    """Run what is missing of the study's experiment and return its results."""
    table = study.spec.sweep
    if table is None:
        raise LsmtuneError(
            f"study {study.spec.name}: the table [sweep] is missing; a controlled experiment needs "
            "this table"
        )
    done = sweep(study, table)
    outcome = Outcome(
        study.spec.name,
        study.spec.workload.kind,
        [
            SweptRun(
                step.block,
                step.cell,
                trial.result.metrics,
                trial.result.disturbance is not None,
                trial.host or THIS_MACHINE,
            )
            for step, trial in done
            if trial.result.status is Status.COMPLETE
        ],
        [
            (step.cell, f"{trial.result.status.meaning}: {trial.result.reason}")
            for step, trial in done
            if trial.result.status is not Status.COMPLETE
        ],
        {step.cell: step.config for step, _ in done if step.cell is not None},
        study.stored.engine.libraries,
    )
    swept = analyse(table, study.ground.catalogue, outcome)
    trees: dict[Cell, tuple[tuple[Level, ...], ...]] = {}
    for step, trial in done:
        if step.cell is not None and (measured := trial.result.measurement) is not None:
            trees[step.cell] = (*trees.get(step.cell, ()), measured.levels)
    logs = {cell: _first_log(study, outcome.configs.get(cell)) for cell in logs_of}
    return Experiment(
        load=study.spec.workload,
        version=study.stored.engine.version,
        machine=study.stored.host.text,
        outcome=outcome,
        swept=swept,
        trees=trees,
        logs={cell: log for cell, log in logs.items() if log is not None},
        flushes=dict(_flushes(study, outcome)),
    )


def _flushes(study: Session, outcome: Outcome) -> Iterator[tuple[Cell, float]]:
    """Yield the cells and how many times a run of each fills the memtable, where it is known."""
    written = written_bytes(study.spec.workload)
    if written is None and study.spec.workload.duration_s is not None:
        measured = [run.metrics["flush_write_bytes"] for run in outcome.runs
                    if "flush_write_bytes" in run.metrics]  # fmt: skip
        written = min(measured, default=None)
    for cell, config in outcome.configs.items():
        count = flushes(written, study.space.settings(config), study.space.names)
        if count is not None:
            yield cell, count


def _first_log(study: Session, config: Config | None) -> Inspection | None:
    for trial in complete_trials(study.trials(), Role.TRIAL):
        text = study.home.read_evidence(trial, "LOG") if trial.config == config else None
        if text is not None:
            return assemble("LOG", "LOG", read_log(text.splitlines()))
    return None


def written_bytes(load: Workload) -> float | None:
    """Return the bytes of the records that a run writes; of a read-only workload, those it reads.

    None if --num does not set the size (SQL) or if the number of operations is not known.
    """
    if not isinstance(load.definition, KeyValues):
        return None
    if load.kind == "read":
        return float(load.build_writes * load.record_bytes)
    return load.written_bytes


def flushes(written: float | None, settings: Settings, names: Names = PLAIN) -> float | None:
    """Return how many times the written bytes fill the largest memtable; None if unknown."""
    sizes = [float(v) for n, v in settings.items() if names.option(n) == "write_buffer_size"]
    if written is None or not sizes or max(sizes) <= 0:
        return None
    return written / max(sizes)


def fewest(counts: Iterable[float | None]) -> float | None:
    """Return the smallest known count."""
    return min((count for count in counts if count is not None), default=None)


def too_small(count: float | None, num: int, needed: float = MIN_FLUSHES) -> str | None:
    """Return why runs with that number of flushes are not judged; None if they are.

    `num` is the number of records that gave this count.
    """
    if count is None or count >= needed:
        return None
    if count <= 0:
        raise LsmtuneError("the runs wrote no data; use a larger ", Argument("num"))
    return (
        f"a run fills the memtable only {count:.2g} times, but {needed:g} times are needed; "
        f"use at least --num {_rounded_up(num * needed / count)}"
    )


def _rounded_up(value: float) -> int:
    """Round up to two significant digits."""
    unit = int(10 ** max(0, floor(log10(value)) - 1))
    return ceil(value / unit) * unit
