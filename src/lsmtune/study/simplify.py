"""Simplification: the winner of a search, with as few changed options as possible.

A search changes many options at once, and some of them have no effect. Here they are taken back,
and runs decide whether the gain stays. The reference is always the raw winner. With the last
accepted config as reference, small losses would add up.
"""

from collections import deque
from collections.abc import Sequence
from itertools import combinations

from lsmtune.errors import UserError
from lsmtune.knobs.memory import CACHES, MEMTABLES
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.expectation import expectation
from lsmtune.store.records import StoredTrial, complete_trials, undisturbed
from lsmtune.study.baselines import feed_compared
from lsmtune.study.fewest_changes import EFFORT, Effect, Unit, fewest_changes
from lsmtune.study.ranking import Candidate, verified_trials
from lsmtune.study.runner import Task
from lsmtune.study.session import Session
from lsmtune.trials import Role, Simplified, Status, Without, workload_seed

_MEMORY = frozenset(
    (*CACHES, *MEMTABLES, "db_write_buffer_size", "min_write_buffer_number_to_merge", "bloom_bits")
)
_LEVEL0 = frozenset(
    (
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
    )
)
_MOST_DISTURBED = 5
_UNPROVEN = 1.2816
"""Half of an 80 % interval, in standard deviations."""


def simplify_new_winner(study: Session) -> None:
    """Simplify the best config of the search, if the study allows it and it is not verified."""
    raw = new_winner(study)
    if raw is not None and why_not(study) is None:
        simplify(study, raw)


def new_winner(study: Session) -> Candidate | None:
    """Return the best config of the search if no verification of it has begun.

    None after a config that cannot be deployed: the next best ones are verified as they are.
    """
    known = study.history
    if known.not_deployable:
        return None
    verified = verified_trials(known.verifications)
    ranked = known.contenders_of_search[:1]
    return next((c for c in ranked if c.trial.number not in verified), None)


def proven_winner(study: Session) -> Candidate | None:
    """Return the best config of the search whose gain is proven."""
    known = study.history
    proven = known.proven
    return next((c for c in known.candidates if c.trial.number in proven), None)


def simplify_winner(study: Session) -> None:
    """Simplify the winner of a study, also one that is verified.

    UserError if the study has no winner, or none that can be simplified.
    """
    name, done = study.stored.name, study.history.current_simplified
    if (reason := why_not(study)) is not None:
        raise UserError(f"study {name!r}: the winner cannot be simplified, because {reason}")
    if study.stored.ended is None:
        raise UserError(f"study {name!r}: the search has not ended; run `lsmtune tune` first")
    is_early = done is not None and done.ended_early is not None
    if done is not None and done.simple is not None and not is_early:
        return  # only its verification may be unfinished
    of_early = study.history.candidate(done.raw) if done is not None and is_early else None
    raw = of_early or new_winner(study) or proven_winner(study)
    if raw is None:
        raise UserError(f"study {name!r}: it has no winner, so there is nothing to simplify")
    simplify(study, raw)


def why_not(study: Session) -> str | None:
    """Return why the winner of the study cannot be simplified, or None."""
    spec = study.spec
    if study.objective.pareto:
        return "it has several objectives, so it has no single winner"
    if spec.screen or spec.sweep or spec.online:
        return "it does not search for a winner"
    if study.ground.catalogue.is_published(spec.knobs):
        return "it repeats a published study"
    return None


def simplify(study: Session, raw: Candidate) -> None:
    """Take back the changes of the raw winner that do not matter, and store the result.

    A simplification that was interrupted or ended early continues; no other one is repeated.
    """
    found = study.stored.simplified
    if found is None or found.raw != raw.trial.number:
        study.keep_simplified(_Simplification(study, raw).result())
    elif found.ended_early is not None:
        study.keep_simplified(_Simplification(study, raw, found.ended_early).result())


def units_of(space: KnobSpace, config: Config) -> list[Unit]:
    """Return the changes of a config in units: each can be taken back alone.

    A unit has several changes if a rule or the memory limit ties them.
    """
    groups: dict[tuple[str, str | None], list[str]] = {}
    for name in config.differing(space.default()):
        groups.setdefault(_group(space, name), []).append(name)
    units = [tuple(names) for names in groups.values()]
    while (pair := _tied(space, config, units)) is not None:
        units = [unit for unit in units if unit not in pair] + [pair[0] + pair[1]]
    return units


def without(space: KnobSpace, config: Config, units: Sequence[Unit]) -> Config | None:
    """Return the config without these changes; None if it would not be legal."""
    base = space.default()
    changed = space.canonical({**config, **{name: base[name] for unit in units for name in unit}})
    return None if space.violations(changed) else changed


def _group(space: KnobSpace, name: str) -> tuple[str, str | None]:
    option = space.names.option(name)
    if option in _MEMORY:
        return "memory", None
    return ("level 0", space.names.family(name)) if option in _LEVEL0 else (name, None)


def _tied(space: KnobSpace, config: Config, units: Sequence[Unit]) -> tuple[Unit, Unit] | None:
    """Return two units of which one cannot be taken back alone, but both can be together."""
    illegal = [unit for unit in units if without(space, config, [unit]) is None]
    pairs = (p for p in combinations(units, 2) if p[0] in illegal or p[1] in illegal)
    return next((pair for pair in pairs if without(space, config, pair) is not None), None)


class _Simplification:
    """The simplification of a raw winner. The stored runs decide what is run next.

    So an interrupted one continues with the same runs.
    """

    def __init__(self, study: Session, raw: Candidate, after: int = 0) -> None:
        """Disturbed runs up to the trial `after` do not count: they ended an earlier call."""
        self._study = study
        self._after = after
        self._ended_early: int | None = None
        self._raw = raw
        self._start = raw.trial.config
        self._asked: set[Config] = set()
        self._effort = EFFORT[study.spec.measure]

    def result(self) -> Simplified:
        """Measure the raw winner again, then take back what does not matter."""
        number = self._raw.trial.number
        units = units_of(self._study.space, self._start)
        ran = self._run(self._start, self._effort.raw)
        gains = ran and self._study.history.gain(self._start) > 0
        if not gains or len(units) < 2:  # noqa: PLR2004 - one is the gain
            return Simplified(raw=number, simple=None, ended_early=self._ended_early)
        found = fewest_changes(self._effects(units), self._loses, self._effort.most)
        needed = tuple(
            Without(names=unit, trial=self._first(without)) for unit, without in found.needed
        )
        simple = self._first(found.taken_back) if found.taken_back else None
        return Simplified(raw=number, simple=simple, needed=needed, ended_early=self._ended_early)

    def _effects(self, units: Sequence[Unit]) -> list[Effect]:
        """Return what a model of all runs of the study predicts of each unit."""
        study = self._study
        legal = {unit: config for unit in units if (config := self._without([unit])) is not None}
        expected = expectation(study.space, study.history.observations)
        if expected is None or not legal:
            return []
        mean, deviation = expected.differences(list(legal.values()), self._start)
        return [
            Effect(unit, float(loss), float(loss - _UNPROVEN * spread))
            for unit, loss, spread in zip(legal, mean, deviation, strict=True)
        ]

    def _loses(self, units: Sequence[Unit], runs: int) -> bool | None:
        config = self._without(units)
        if config is None or not self._run(config, runs):
            return None
        measured = self._runs(config)
        history = self._study.history
        found = history.candidate(measured[0].number)
        if found is None or history.scorer.breaks_more(found, self._raw):
            return True
        return history.loses_gain(measured, self._start)

    def _without(self, units: Sequence[Unit]) -> Config | None:
        return without(self._study.space, self._start, units)

    def _first(self, units: Sequence[Unit]) -> int:
        """The number of the first run without these units."""
        config = self._without(units)
        return next(t.number for t in self._runs(config or self._start))

    def _runs(self, config: Config) -> list[StoredTrial]:
        """The complete runs of a config in the simplification."""
        return complete_trials(self._done(config), Role.SIMPLIFY)

    def _run(self, config: Config, runs: int) -> bool:
        """Run a config until it ran so many times; return whether it did, without a failure."""
        self._asked.add(config)
        while True:
            done = self._done(config)
            if any(trial.result.status is not Status.COMPLETE for trial in done):
                return False
            if len(done) >= runs:
                return True
            if (left := _MOST_DISTURBED - self._disturbed()) < 1:
                self._ended_early = self._study.trials()[-1].number
                return False
            at_once = min(runs - len(done), left) if self._study.is_on_hosts else 1
            self._run_missing(config, runs, at_once, left // at_once)

    def _run_missing(self, config: Config, runs: int, at_once: int, most_repeats: int) -> None:
        """Run a config under seeds that it has not run with, this many at the same time."""
        study, ran = self._study, self._seeds(config)
        seeds = [workload_seed(study.spec.seed, "simplify", number) for number in range(runs)]
        left = deque([seed for seed in seeds if seed not in ran][:at_once])

        def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
            while left:
                # Hosts may have returned runs of a call that was killed.
                if (seed := left.popleft()) not in self._seeds(config):
                    spec = study.trial_spec(config).model_copy(update={"seed": seed})
                    return [Task(self._title(config), Role.SIMPLIFY, config, spec)]
            return ()

        feed_compared(study, next_job, most_repeats=most_repeats)

    def _done(self, config: Config) -> list[StoredTrial]:
        """The runs of a config in the simplification, without those that others disturbed."""
        runs = filter(self._study.history.counts, undisturbed(self._study.trials(), Role.SIMPLIFY))
        return [trial for trial in runs if trial.config == config]

    def _seeds(self, config: Config) -> set[int]:
        return {trial.spec.seed for trial in self._done(config)}

    def _disturbed(self) -> int:
        """The number of runs of this simplification that ran again because others disturbed."""
        return sum(
            trial.role is Role.SIMPLIFY
            and trial.number > self._after
            and trial.config in self._asked
            and trial.result.status is Status.DISTURBED
            for trial in self._study.trials()
        )

    def _title(self, config: Config) -> str:
        taken_back = [name for name, value in self._start.items() if config[name] != value]
        if not taken_back:
            return f"trial {self._raw.trial.number} again"
        return f"without {', '.join(taken_back)}"
