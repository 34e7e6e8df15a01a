"""A controlled experiment from its settings to what it shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from lsmtune.analysis.inspect.assemble import assemble
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.swept import Outcome, Swept, SweptRun, analyse
from lsmtune.engines.base import Engine
from lsmtune.engines.registry import make_engine
from lsmtune.errors import LsmtuneError
from lsmtune.experiment import Sweep
from lsmtune.knobs.types import Config
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Level
from lsmtune.recipes.base import Progress
from lsmtune.report.facts import workload_text
from lsmtune.spec import StudySpec
from lsmtune.stats import Interval, of_several, ratio_interval
from lsmtune.store.home import Home
from lsmtune.store.records import complete_trials
from lsmtune.studies.study import Study, open_study
from lsmtune.studies.sweep import sweep
from lsmtune.trials import Role, Status
from lsmtune.workloads import EngineName, Workload

_PAIRS = 2
_ANY_MEMORY = "1TiB"

Cell = tuple[int, ...]
Value = Callable[[SweptRun], float | None]
Make = Callable[[str, str], Engine]
"""Makes an engine of its name and its program."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A controlled experiment that has run: under which load and on what, its single runs, and
    what they show together.

    `trees` are the levels that the runs of each cell have left, in the order of their blocks,
    `logs` what the LOG of the first run of some cells says.
    """

    load: Workload
    version: str
    machine: str
    outcome: Outcome
    swept: Swept
    trees: Mapping[Cell, tuple[tuple[Level, ...], ...]]
    logs: Mapping[Cell, Inspection]

    def by_block(self, cell: Cell, value: Value) -> dict[int, float]:
        """The cell's values by their block, those that were measured."""
        told = ((run.block, value(run)) for run in self.outcome.runs if run.cell == cell)
        return {block: found for block, found in told if found is not None}

    def ratio(
        self,
        cell: Cell,
        against: Cell,
        value: Value,
        of: "Experiment | None" = None,
        comparisons: int = 1,
    ) -> Interval | None:
        """What a cell has of another one's, block by block; None where that is no ratio.

        The other one may be `of` another experiment, whose blocks have the same workload seeds.
        The intervals of so many comparisons hold together at 95 %.
        """
        found, other = self.by_block(cell, value), (of or self).by_block(against, value)
        pairs = [(found[block], other[block]) for block in sorted(found.keys() & other.keys())]
        if len(pairs) < _PAIRS or any(min(pair) <= 0 for pair in pairs):
            return None
        found_values, other_values = zip(*pairs, strict=True)
        return ratio_interval(found_values, other_values, of_several(comparisons))

    def mean(self, cell: Cell, value: Value) -> float | None:
        """The mean of a cell; None where it was not measured."""
        found = self.by_block(cell, value)
        return fsum(found.values()) / len(found) if found else None


def experiment_spec(
    name: str, load: Workload, sweep: Sweep, engine: EngineName, program: str, *, scale: str = "1"
) -> StudySpec:
    """The settings of a recipe's experiment: its cells run as they stand, whatever memory they
    take, and nothing is searched, cut or verified."""
    return StudySpec(
        study=f"reproduce-{name}",
        engine=engine,
        program=program,
        workload=load,
        scale=scale,
        memory=_ANY_MEMORY,
        knobs=",".join(sweep.knob_names),
        early_stop=False,
        repeats=0,
        pairs=0,
        sweep=sweep,
    )


def metric(name: str) -> Value:
    """A metric of a run; None where it was not measured."""
    return lambda run: run.metrics.get(name)


def method_lines(title: str, experiment: Experiment) -> Iterator[str]:
    """How the experiment was run, line by line."""
    swept = experiment.swept
    yield f"{title}: {experiment.version}, {experiment.machine}"
    yield from (f"{title}: {text}" for text in workload_text(experiment.load))
    for name, value in swept.fixed.items():
        yield f"{title}: held everywhere: {name} = {value}"
    yield from swept.warnings


def _first_log(study: Study, config: Config | None) -> Inspection | None:
    for trial in complete_trials(study.trials(), Role.TRIAL):
        text = study.home.read_evidence(trial, "LOG") if trial.config == config else None
        if text is not None:
            return assemble("LOG", "LOG", read_log(text.splitlines()))
    return None


def run_experiment(
    spec: StudySpec,
    home: Home,
    progress: Progress,
    make: Make = make_engine,
    logs_of: Sequence[Cell] = (),
) -> Experiment:
    """Run what has not run yet of a recipe's experiment; the LOGs of these cells are read."""
    engine = make(spec.engine, spec.program)
    with progress(spec) as listener, open_study(home, spec, engine, listener) as study:
        return finish(study, logs_of)


def finish(study: Study, logs_of: Sequence[Cell] = ()) -> Experiment:
    """Run what is missing of the study's experiment, and say what it shows."""
    table = study.spec.sweep
    if table is None:
        raise LsmtuneError("this study is no controlled experiment")
    done = sweep(study, table)
    outcome = Outcome(
        study.spec.name,
        study.spec.workload.kind,
        [
            SweptRun(step.block, step.cell, result.metrics)
            for step, result in done
            if result.status is Status.COMPLETE
        ],
        [
            (step.cell, f"{result.status.meaning}: {result.reason}")
            for step, result in done
            if result.status is not Status.COMPLETE
        ],
        {step.cell: step.config for step, _ in done if step.cell is not None},
    )
    swept = analyse(table, study.ground.catalogue, outcome)
    trees: dict[Cell, tuple[tuple[Level, ...], ...]] = {}
    for step, result in done:
        if step.cell is not None and result.measurement is not None:
            trees[step.cell] = (*trees.get(step.cell, ()), result.measurement.levels)
    logs = {cell: _first_log(study, outcome.configs.get(cell)) for cell in logs_of}
    return Experiment(
        load=study.spec.workload,
        version=str(study.stored.engine["version"]),
        machine=study.stored.machine,
        outcome=outcome,
        swept=swept,
        trees=trees,
        logs={cell: log for cell, log in logs.items() if log is not None},
    )
