"""Run a recipe's controlled experiment and collect its results."""

from collections.abc import Iterator, Sequence

from lsmtune.analysis.experiment_runs import Experiment, finish
from lsmtune.experiment import Sweep
from lsmtune.report.text.facts import workload_text
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.workloads import EngineName, Workload
from lsmtune_reproductions.recipes.base import Opener

_ANY_MEMORY = "1TiB"


def experiment_spec(
    name: str, load: Workload, sweep: Sweep, engine: EngineName, program: str, *, scale: str = "1"
) -> StudySettings:
    """Return the settings of a recipe's experiment.

    It has no memory limit, and nothing is searched, pruned or verified.
    """
    return StudySettings(
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


def workload_lines(load: Workload) -> Iterator[str]:
    """Yield the workload and its parameters, line by line."""
    name, *parameters = workload_text(load)
    yield f"workload {name}"
    yield from parameters


def method_lines(title: str, experiment: Experiment) -> Iterator[str]:
    """Yield how the experiment was run, line by line."""
    swept = experiment.swept
    yield f"{title}: engine version {experiment.version}, machine {experiment.machine}"
    yield from (f"{title}: {text}" for text in workload_lines(experiment.load))
    for name, value in swept.fixed.items():
        yield f"{title}: in all runs: {name} = {value}"
    yield from swept.warnings


def run_experiment(
    spec: StudySettings, home: Home, opener: Opener, logs_of: Sequence[tuple[int, ...]] = ()
) -> Experiment:
    """Run what is missing of a recipe's experiment; read the LOGs of the cells `logs_of`."""
    with opener.open(home, spec) as study:
        return finish(study, logs_of)
