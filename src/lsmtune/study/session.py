"""An open study: its runs so far, and how a config runs; made under its lock."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from fractions import Fraction

from lsmtune.engines.base import (
    Borrowed,
    Engine,
    EngineFacts,
)
from lsmtune.errors import Argument, LsmtuneError, UserError
from lsmtune.experiment import VERSION
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Settings, Value
from lsmtune.objective import Metrics, Objective
from lsmtune.optimizers.registry import check_not_removed
from lsmtune.rescale import rescaled
from lsmtune.simplified import Simplified
from lsmtune.spaces import knob_space, stored_rule, with_fitting_scale
from lsmtune.spec import Ground, StudySettings, load_at, without_load
from lsmtune.store.home import Home
from lsmtune.store.ranking import (
    Candidate,
    study_objective,
)
from lsmtune.store.records import StoredStudy, StoredTrial
from lsmtune.store.winner import contenders, current, study_winner
from lsmtune.study.description import describe, rule_of_new
from lsmtune.study.earlier import check_earlier
from lsmtune.study.full_memory import MEMORY, full_memory, memory_limits
from lsmtune.study.history import History
from lsmtune.study.runner import REPEATS, Listener, Runner, Task
from lsmtune.study.same_system import check_same_system
from lsmtune.study.seeds import workload_seed
from lsmtune.study.version_spaces import version_spaces
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.system.lock import study_lock
from lsmtune.system.workdir import sweep_workdirs
from lsmtune.trials import Protocol, TrialResult, TrialSpec

_SLOWEST_TIMES_BASE = 10
_SHORTEST_LIMIT_S = 60.0


class Session:
    """A study that is open for work; made by `open_study`, which holds its lock."""

    def __init__(
        self,
        home: Home,
        stored: StoredStudy,
        spec: StudySettings,
        engine: Engine,
        listener: Listener,
        *,
        accept_noise: bool = False,
    ) -> None:
        if stored.base is None:
            raise LsmtuneError(
                f"study {stored.name!r}: the study has no baseline; start a new study"
            )
        self.home = home
        self.stored = stored
        self.spec = spec
        self.objective: Objective = study_objective(stored, spec)
        catalogue = engine.catalogue.with_families(spec.workload.column_families)
        self.ground = Ground(catalogue, stored.base, describe_host().max_open_files, stored.rule)
        self._of_versions = version_spaces(spec, self.ground)
        self.space = knob_space(spec, self.ground)
        self._base_settings = without_load(self.space.settings(self.space.default()))
        self._settings_at: dict[tuple[Config, Fraction], Settings] = {}
        self._runner = Runner(
            home,
            stored,
            stored.base,
            engine,
            listener,
            derived=self._derived,
            accept_noise=accept_noise,
        )
        self._history = History(self.space.default(), self.objective)

    def space_of(self, values: Mapping[str, Value]) -> KnobSpace:
        """Return the knob space of the version that the values name, or the only one."""
        return self._of_versions.get(str(values.get(VERSION)), self.space)

    def run(self, task: Task, most_repeats: int = REPEATS) -> TrialResult:
        """Run and keep a trial; repeat it at most so often if other programs disturb it."""
        return self._runner.run(task, most_repeats)

    def run_together(self, tasks: Sequence[Task]) -> None:
        """Run and keep trials side by side."""
        self._runner.run_together(tasks)

    def trials(self) -> list[StoredTrial]:
        """The trials so far; only what is new is read from the store."""
        first = self._history.runs[-1].number + 1 if self._history.runs else 0
        self._history.add(self.home.trials(self.stored, first))
        return self._history.runs

    def best(self) -> Candidate | None:
        """The winner so far, verifications considered; None while nothing beats the base."""
        verifications = self.home.verifications(self.stored)
        simplified = self.stored.simplified
        return study_winner(self.trials(), verifications, self.objective, self.spec, simplified)

    def keep_simplified(self, found: Simplified) -> None:
        """Store the result of a simplification."""
        self.home.update_simplified(self.stored, found)
        self.stored = self.home.study(self.stored.name)

    @property
    def base_metrics(self) -> Metrics:
        """The medians of the runs of the baseline."""
        self.trials()
        return self._history.base

    def contenders(self) -> list[Candidate]:
        """The configs that may be verified, the best first."""
        return contenders(self.trials(), self.objective, self.simplified)

    @property
    def simplified(self) -> Simplified | None:
        """The simplification of the best config, if there is one."""
        verifications = self.home.verifications(self.stored)
        return current(self.trials(), self.objective, verifications, self.stored.simplified)

    @property
    def history(self) -> History:
        """All runs so far, and what they tell search, pruning and stopping."""
        self.trials()
        return self._history

    def trial_spec(self, config: Config) -> TrialSpec:
        """What the engine is given to run a config as this study runs them."""
        protocol = self.protocol
        base_s = [trial.duration_s for trial in self.history.complete_base]
        if base_s:
            limit_s = max(_SHORTEST_LIMIT_S, _SLOWEST_TIMES_BASE * max(base_s))
            limit_s = min(protocol.wall_limit_s, limit_s)
            protocol = protocol.model_copy(update={"wall_limit_s": limit_s})
        settings = self.space_of(config).settings(config)
        return TrialSpec(
            settings=without_load(settings),
            base_settings=self._base_settings,
            workload=load_at(self.spec.workload, config),
            protocol=protocol,
            seed=workload_seed(self.spec.seed, "trial"),
        )

    @property
    def protocol(self) -> Protocol:
        """The protocol of the study's trials; what the clock ends has its time on top."""
        limits, given_s = self.spec.protocol, self.spec.workload.duration_s or 0
        return limits.model_copy(update={"wall_limit_s": limits.wall_limit_s + given_s})

    def settings_at(self, config: Config, scale: Fraction) -> Settings:
        """The settings of a config for a tree at another scale; each pair of runs needs them."""
        if (config, scale) not in self._settings_at:
            found = rescaled(self.spec, self.ground, config, scale)
            self._settings_at[config, scale] = found.settings
        return self._settings_at[config, scale]

    def _derived(self, task: Task, metrics: Metrics) -> Metrics:
        """Return the metrics of a run that follow from its config and its other metrics."""
        if self.ground.rule is None:
            return {}
        space, scale = self.space_of(task.config), task.scale or self.spec.scale_value
        return {MEMORY: full_memory(space, task.config, metrics, scale)}


@contextmanager
def open_study(
    home: Home,
    spec: StudySettings,
    engine: Engine,
    listener: Listener,
    described: tuple[EngineFacts, Ground] | None = None,
    *,
    accept_noise: bool = False,
    published: bool = False,
) -> Iterator[Session]:
    """Hold the study of the spec, new or as an earlier call left it.

    `described` is what `describe` has found, where it has been asked already. A new `published`
    study keeps the sizes of a paper: it has no rule of sizes. With `accept_noise`, runs that other
    processes disturb are marked and not repeated.
    UserError when another process works on it, or when it exists with other settings.
    """
    if described is None and home.find_study(spec.name) is None:
        described = describe(spec, engine, home.work, None if published else rule_of_new(spec))
        spec, _ = with_fitting_scale(spec, described[1])
    with study_lock(home.lock_path(spec.name), f"study {spec.name!r}"):
        sweep_workdirs(home.work)
        stored = home.find_study(spec.name)
        if stored is None:
            check_not_removed(spec.optimizer)
            check_earlier(home, spec)
            if described is None:  # another process has deleted the study meanwhile
                raise LsmtuneError(f"study {spec.name!r}: the study is no longer in the home")
            stored = _create(home, spec, described)
        else:
            _check_is_the_same(stored, spec)
            found = described or describe(spec, engine, home.work, stored.rule)
            check_same_system(stored, spec, found[0], describe_host(), describe_storage(home.path))
            home.update_spec(stored, spec.model_dump(mode="json"))
            home.sweep_evidence(stored)
            if stored.base is None:
                stored = home.update_engine(stored, _engine_record(*found))
        try:
            yield Session(home, stored, spec, engine, listener, accept_noise=accept_noise)
        finally:
            if isinstance(engine, Borrowed):
                engine.give_back()


def _create(home: Home, spec: StudySettings, found: tuple[EngineFacts, Ground]) -> StoredStudy:
    host = {**asdict(describe_host()), "storage": asdict(describe_storage(home.path))}
    limits = (*spec.parsed_objective.limits, *memory_limits(spec, found[1].rule))
    constraints = [asdict(limit) for limit in limits]
    engine, rule = _engine_record(*found), found[1].rule
    settings = spec.model_dump(mode="json")
    return home.add_study(
        spec.name,
        settings,
        engine,
        host,
        constraints,
        rule=stored_rule(spec, rule),
    )


def _engine_record(facts: EngineFacts, ground: Ground) -> dict[str, object]:
    return {
        "version": facts.version,
        "program": facts.program,
        "assertions_enabled": facts.assertions_enabled,
        "origin": facts.origin and facts.origin.model_dump(),
        "versions": {
            version: one.origin.model_dump()
            for version, one in facts.versions.items()
            if one.origin is not None
        },
        "base": ground.base.model_dump(mode="json"),
    }


def _check_is_the_same(stored: StoredStudy, spec: StudySettings) -> None:
    before = stored.settings
    if not (changed := spec.changed_since(before)):
        return
    then, now = before.lasting(), spec.lasting()
    changes = ", ".join(
        f"{key} was {then.get(key)!r} and is now {now.get(key)!r}" for key in changed
    )
    raise UserError(
        f"study {spec.name!r} exists with other settings ({changes}); choose another ",
        Argument("study"),
    )
