"""A controlled experiment: blocks of all cells in a random order, the base among them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.experiment import VERSION, Sweep
from lsmtune.knobs.types import Config, Settings
from lsmtune.study.runner import Task
from lsmtune.study.session import Session
from lsmtune.trials import Role, Status, TrialResult, workload_seed
from lsmtune.units import format_duration

BASE_EVERY = 6
"""Among so many cells the base runs once, at a place that is drawn as well."""


@dataclass(frozen=True, slots=True)
class Step:
    """A run of the experiment: a cell or the base (None), in a block."""

    block: int
    cell: tuple[int, ...] | None
    config: Config
    seed: int

    @property
    def role(self) -> Role:
        """What its trial is for."""
        return Role.BASE if self.cell is None else Role.TRIAL

    @property
    def key(self) -> tuple[Role, Config, int]:
        """What its trial is found by; cells that are one config share it."""
        return self.role, self.config, self.seed


def sweep(study: Session, experiment: Sweep) -> list[tuple[Step, TrialResult]]:
    """Run every block; what an earlier call has measured counts, what failed is not tried again.

    Returns every step with what became of it.

    UserError when RocksDB would refuse a cell, LsmtuneError when the base cannot be measured.
    """
    steps = plan(study, experiment)
    base = _base_config(study, experiment)
    done = Counter(step.key for step, _ in _outcomes(study, steps))
    for place, step in enumerate(steps):
        if done[step.key]:
            done[step.key] -= 1
            continue
        held = {"seed": step.seed, "base_settings": study.space.settings(base)}
        spec = study.trial_spec(step.config).model_copy(update=held)
        what = "baseline" if step.cell is None else "combination"
        title = f"run {place + 1} of {len(steps)} ({what}){_time(study, len(steps) - place)}"
        result = study.run(Task(title, step.role, step.config, spec))
        if step.cell is None:
            _check_base(result, experiment)
    return _outcomes(study, steps)


def _check_base(result: TrialResult, experiment: Sweep) -> None:
    """LsmtuneError where the base could not be measured, UserError where a metric is missing."""
    if result.status is not Status.COMPLETE:
        raise LsmtuneError(
            f"the baseline could not be measured ({result.status.meaning}): {result.reason}"
        )
    if missing := [name for name in experiment.metrics if name not in result.metrics]:
        raise UserError(
            f"sweep.metrics: this workload does not measure {', '.join(missing)}; "
            f"available: {', '.join(sorted(result.metrics))}"
        )


def _outcomes(study: Session, steps: Sequence[Step]) -> list[tuple[Step, TrialResult]]:
    """The steps that have been run, each with what became of it."""
    kept: dict[tuple[Role, Config, int], list[TrialResult]] = {}
    for trial in study.trials():
        if trial.result.status is not Status.DISTURBED:
            key = (trial.role, trial.config, trial.spec.seed)
            kept.setdefault(key, []).append(trial.result)
    return [(step, left.pop(0)) for step in steps if (left := kept.get(step.key))]


def plan(study: Session, experiment: Sweep) -> list[Step]:
    """All runs in their order, the same for the same settings."""
    configs = _cell_configs(study, experiment)
    base = _base_config(study, experiment)
    return [
        step
        for block in range(experiment.repeats)
        for step in _block(block, configs, base, study.spec.seed)
    ]


def _block(
    block: int, configs: dict[tuple[int, ...], Config], base: Config, seed: int
) -> Iterator[Step]:
    cells: Sequence[tuple[int, ...]] = list(configs)
    rng = np.random.default_rng([seed, block])
    order = rng.permutation(len(cells))
    of_block = workload_seed(seed, "block", block)
    for begin in range(0, len(cells), BASE_EVERY):
        some = order[begin : begin + BASE_EVERY]
        before = int(rng.integers(len(some) + 1))
        for place in range(len(some) + 1):
            if place == before:
                yield Step(block, None, base, of_block)
            if place < len(some):
                at = some[place]
                yield Step(block, cells[at], configs[cells[at]], of_block)


def _cell_configs(study: Session, experiment: Sweep) -> dict[tuple[int, ...], Config]:
    """The config of every cell; UserError where RocksDB would refuse one."""
    found: dict[tuple[int, ...], Config] = {}
    for cell in experiment.cells():
        asked = experiment.values(cell, study.ground.catalogue)
        _check_choices(study, asked)
        space = study.space_of(asked)
        values = {**space.default(), **asked}
        if violations := space.violations(values):
            told = ", ".join(f"{name} = {values[name]}" for name in experiment.knob_names)
            raise UserError(f"sweep: the config {told} is not allowed: {'. '.join(violations)}")
        found[cell] = space.canonical(values)
    return found


def _check_choices(study: Session, asked: Settings) -> None:
    """Raise UserError for a value that the version of RocksDB which runs the cell does not have."""
    version = asked.get(VERSION, study.ground.rocksdb_version)
    if version is None:
        return
    catalogue = study.ground.catalogue.of_version(str(version))
    for name, value in asked.items():
        knob = catalogue.knob(name)
        if knob.choices_since and not knob.allows(value):
            raise UserError(
                f"RocksDB {version} does not have the value {value} of the knob {name}; allowed: "
                f"{knob.allowed_text()}"
            )


def _base_config(study: Session, experiment: Sweep) -> Config:
    """The base with the fixed settings: what the cells are compared with."""
    fixed = experiment.fixed_values(study.ground.catalogue)
    return study.space.canonical({**study.space.default(), **fixed})


def _time(study: Session, left: int) -> str:
    took_s = [trial.duration_s for trial in study.trials()]
    return f", about {format_duration(left * median(took_s))} left" if took_s else ""
