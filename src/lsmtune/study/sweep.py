"""A controlled experiment: blocks of all cells in a random order, the base among them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from lsmtune.errors import UserError
from lsmtune.experiment import Sweep
from lsmtune.knobs.types import Config, Settings
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import Ground
from lsmtune.store.records import StoredTrial
from lsmtune.study.baselines import check_base_result, find_rate
from lsmtune.study.runner import Task
from lsmtune.study.session import Session
from lsmtune.study_keys import VERSION
from lsmtune.trials import Role, Status, TrialResult, workload_seed
from lsmtune.units import format_duration

BASE_EVERY = 6
"""Among so many cells the base runs once, at a place that is drawn as well. This is a part."""

Key = tuple[Role, Config, int]


@dataclass(frozen=True, slots=True)
class Step:
    """A run of the experiment: a cell or the base (None), in a part of a block."""

    block: int
    part: int
    cell: tuple[int, ...] | None
    config: Config
    seed: int

    @property
    def role(self) -> Role:
        """What its trial is for."""
        return Role.BASE if self.cell is None else Role.TRIAL

    @property
    def key(self) -> Key:
        """What its trial is found by; cells that are one config share it."""
        return self.role, self.config, self.seed


def sweep(study: Session, experiment: Sweep) -> list[tuple[Step, StoredTrial]]:
    """Run every block; what an earlier call has measured counts, what failed is not tried again.

    Returns every step that has run, with its trial.

    A host whose times differ from those of others takes a whole part of a block: up to six cells,
    and the base among them. So each cell is compared with a base of its own host, and the speed of
    the host cancels out. Single runs on any host would compare cells with bases of other hosts.
    Whole blocks on one host would leave hosts idle as soon as there are more hosts than blocks.
    As a part has only some of the cells, the analysis must separate hosts from factors: it has the
    host as a factor. If a host is lost, another one takes the rest of its part.

    LsmtuneError when the base cannot be measured.
    """
    steps = plan(study.spaces, experiment)
    base_config = _base_config(study.spaces, experiment)
    base = study.space.settings(base_config)
    find_rate(study, base_config)

    def task(place: int, left: float) -> Task:
        step = steps[place]
        held = {"seed": step.seed, "base_settings": base}
        spec = study.trial_spec(step.config).model_copy(update=held)
        what = "baseline" if step.cell is None else "combination"
        title = f"run {place + 1} of {len(steps)} ({what}){_time(study, left)}"
        return Task(title, step.role, step.config, spec)

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        done = _outcomes(study, steps)
        missing = _missing(steps, done, under_way)
        if not missing:
            return ()
        left = len(missing) + len(under_way)
        if host is None:
            return [task(missing[0], left / (1 + len(under_way)))]
        hosts = len({trial.host for _, trial in done} | {host})
        part = _part_for(host, steps, missing, done)
        return [task(place, left / hosts - before) for before, place in enumerate(part)]

    def ended(task: Task, result: TrialResult) -> None:
        if task.role is Role.BASE:
            _check_base(study, result, experiment)

    study.feed(next_job, ended)
    while _missing(steps, found := _outcomes(study, steps), ()):
        study.feed(next_job, ended)  # a host was lost, with the rest of its part
    return found


def _missing(
    steps: Sequence[Step], done: Sequence[tuple[Step, StoredTrial]], under_way: Sequence[Task]
) -> list[int]:
    """Return the places of the steps that neither have run nor are under way."""
    begun = Counter(step.key for step, _ in done)
    begun.update((task.role, task.config, task.spec.seed) for task in under_way)
    found = []
    for place, step in enumerate(steps):
        if begun[step.key]:
            begun[step.key] -= 1
        else:
            found.append(place)
    return found


def _part_for(
    host: str,
    steps: Sequence[Step],
    missing: Sequence[int],
    done: Sequence[tuple[Step, StoredTrial]],
) -> list[int]:
    """Return the missing places of one part: of one that this host began, else of a new one.

    If there is neither, of a part that another host began: that host may be gone.
    """
    hosts: dict[tuple[int, int], set[str | None]] = {}
    for step, trial in done:
        hosts.setdefault((step.block, step.part), set()).add(trial.host)

    def order(place: int) -> int:
        ran = hosts.get((steps[place].block, steps[place].part), set())
        return 0 if host in ran else 1 if not ran else 2

    first = steps[min(missing, key=order)]
    return [
        place
        for place in missing
        if (steps[place].block, steps[place].part) == (first.block, first.part)
    ]


def _check_base(study: Session, result: TrialResult, experiment: Sweep) -> None:
    """LsmtuneError where the base could not be measured, UserError where a metric is missing."""
    check_base_result(study, result)
    if missing := [name for name in experiment.metrics if name not in result.metrics]:
        raise UserError(
            f"sweep.metrics: this workload does not measure {', '.join(missing)}; "
            f"available: {', '.join(sorted(result.metrics))}"
        )


def _outcomes(study: Session, steps: Sequence[Step]) -> list[tuple[Step, StoredTrial]]:
    """The steps that have been run, each with its trial."""
    kept: dict[Key, list[StoredTrial]] = {}
    for trial in filter(study.history.counts, study.trials()):
        if trial.result.status is not Status.DISTURBED:
            key = (trial.role, trial.config, trial.spec.seed)
            kept.setdefault(key, []).append(trial)
    return [(step, left.pop(0)) for step in steps if (left := kept.get(step.key))]


def plan(spaces: KnobSpaces, experiment: Sweep) -> list[Step]:
    """All runs in their order, the same for the same settings.

    UserError for an invalid value, or a cell that the engine would refuse.
    """
    configs = _cell_configs(spaces, experiment)
    base = _base_config(spaces, experiment)
    return [
        step
        for block in range(experiment.repeats)
        for step in _block(block, configs, base, spaces.spec.seed)
    ]


def _block(
    block: int, configs: dict[tuple[int, ...], Config], base: Config, seed: int
) -> Iterator[Step]:
    cells: Sequence[tuple[int, ...]] = list(configs)
    rng = np.random.default_rng([seed, block])
    order = rng.permutation(len(cells))
    of_block = workload_seed(seed, "block", block)
    for part, begin in enumerate(range(0, len(cells), BASE_EVERY)):
        some = order[begin : begin + BASE_EVERY]
        before = int(rng.integers(len(some) + 1))
        for place in range(len(some) + 1):
            if place == before:
                yield Step(block, part, None, base, of_block)
            if place < len(some):
                at = some[place]
                yield Step(block, part, cells[at], configs[cells[at]], of_block)


def _cell_configs(spaces: KnobSpaces, experiment: Sweep) -> dict[tuple[int, ...], Config]:
    found: dict[tuple[int, ...], Config] = {}
    for cell in experiment.cells():
        asked = experiment.values(cell, spaces.ground.catalogue)
        _check_choices(spaces.ground, asked)
        space = spaces.of(asked)
        values = {**space.default(), **asked}
        if violations := space.violations(values):
            told = ", ".join(f"{name} = {values[name]}" for name in experiment.knob_names)
            raise UserError(f"sweep: the config {told} is not allowed: {'. '.join(violations)}")
        found[cell] = space.canonical(values)
    return found


def _check_choices(ground: Ground, asked: Settings) -> None:
    """Raise UserError for a value that the version of RocksDB which runs the cell does not have."""
    version = asked.get(VERSION, ground.rocksdb_version)
    if version is None:
        return
    catalogue = ground.catalogue.of_version(str(version))
    for name, value in asked.items():
        knob = catalogue.knob(name)
        if knob.choices_since and not knob.allows(value):
            raise UserError(
                f"RocksDB {version} does not have the value {value} of the knob {name}; allowed: "
                f"{knob.allowed_text()}"
            )


def _base_config(spaces: KnobSpaces, experiment: Sweep) -> Config:
    """The base with the fixed settings: what the cells are compared with."""
    fixed = experiment.fixed_values(spaces.ground.catalogue)
    return spaces.at().canonical({**spaces.at().default(), **fixed})


def _time(study: Session, left: float) -> str:
    took_s = [trial.duration_s for trial in study.trials()]
    return f", about {format_duration(left * median(took_s))} left" if took_s else ""
