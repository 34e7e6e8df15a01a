"""What a study starts warm from: the runs of earlier studies, as its search can use them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lsmtune.errors import UserError
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.limits import known_limits
from lsmtune.objective import Objective
from lsmtune.optimizers.base import FEWEST, Earlier, Observation
from lsmtune.spec import ALL_STUDIES, StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy, StoredTrial, complete_trials
from lsmtune.study.history import History, study_objective
from lsmtune.trials import Role

_ALL = (ALL_STUDIES,)
_SHARED_KNOBS = 0.5
"""Of all studies those count that searched at least this share of the knobs."""


def earlier_studies(
    home: Home, study: StoredStudy, spec: StudySettings, space: KnobSpace
) -> tuple[Earlier, ...]:
    """The studies that the spec names, or all that may tell something.

    Only runs that had ended when the study was made count, so that it makes the same decisions
    whatever else goes on.
    """
    found = []
    for name in _names(home, spec):
        other = home.study(name)
        if other.id < study.id:
            runs = _usable(other, spec, _ended(home.trials(other), study))
            if len(runs) >= FEWEST and (spec.warm_start != _ALL or _shares_knobs(runs, space)):
                found.append(_earlier(other, runs, spec, space))
        elif spec.warm_start != _ALL:
            raise UserError(
                f"warm_start: study {name!r} is not older than study {study.name!r}; "
                "name an older study"
            )
    return tuple(found)


def can_guide(home: Home, name: str, spec: StudySettings) -> bool:
    """Whether a study has enough runs to guide the search of another one."""
    other = home.study(name)
    return len(_usable(other, spec, home.trials(other))) >= FEWEST


def check_earlier(home: Home, spec: StudySettings) -> None:
    """UserError where a named study is not there, is of another engine, or has too few runs."""
    if spec.warm_start == _ALL:
        return
    for name in _names(home, spec):
        other = home.study(name)
        if (count := len(_usable(other, spec, home.trials(other)))) < FEWEST:
            raise UserError(
                f"warm_start: study {name!r} has {count} complete runs of {spec.engine} that "
                f"measured the objective {spec.parsed_objective.name}; a warm start needs at least "
                f"{FEWEST} such runs"
            )


def _names(home: Home, spec: StudySettings) -> Sequence[str]:
    return home.study_names() if spec.warm_start == _ALL else spec.warm_start or ()


def _ended(trials: Sequence[StoredTrial], study: StoredStudy) -> list[StoredTrial]:
    """The trials that had ended when the study was made."""
    made = datetime.fromisoformat(study.created_at)
    return [
        trial
        for trial in trials
        if datetime.fromisoformat(trial.started_at) + timedelta(seconds=trial.duration_s) <= made
    ]


def _usable(
    other: StoredStudy, spec: StudySettings, trials: Sequence[StoredTrial]
) -> list[StoredTrial]:
    """The base's runs and the searched ones that have what is asked for; none without a base."""
    if other.engine_name != spec.engine:
        return []
    base, searched = (complete_trials(trials, role) for role in (Role.BASE, Role.TRIAL))
    told = [t for t in searched if not _missing(t, spec.parsed_objective)]
    return [*base, *told] if any(not _missing(t, spec.parsed_objective) for t in base) else []


def _missing(trial: StoredTrial, objective: Objective) -> bool:
    return any(name not in trial.result.metrics for name in objective.metrics)


def _shares_knobs(runs: Sequence[StoredTrial], space: KnobSpace) -> bool:
    searched = runs[-1].config.keys()
    shared = sum(knob.name in searched for knob in space.knobs)
    return shared >= _SHARED_KNOBS * len(space.knobs)


def _earlier(
    other: StoredStudy, runs: Sequence[StoredTrial], spec: StudySettings, space: KnobSpace
) -> Earlier:
    """The runs as observations: of the objective asked for now, against that study's own base."""
    factor = float(spec.scale_value / other.settings.scale_value)
    history = History(other.settings, study_objective(other, other.settings))
    history.add(runs)
    base, asked = history.base, spec.parsed_objective
    known = set.intersection(set(base), *(set(trial.result.metrics) for trial in runs))
    objective = replace(asked, limits=known_limits(asked.limits, known))

    def observe(trial: StoredTrial) -> Observation:
        metrics = history.metrics(trial)
        values, violation = objective.values(metrics, base), objective.violation(metrics, base)
        return Observation(_in_space(trial, space, factor), values, violation, metrics=metrics)

    return Earlier(other.name, tuple(map(observe, filter(history.counts, runs))))


def _in_space(trial: StoredTrial, space: KnobSpace, factor: float) -> Config:
    """What the trial ran with of this space's knobs, at its scale; where unknown as in the base."""
    ran = trial.spec.settings
    return Config(
        {
            knob.name: knob.scaled_value(ran[knob.name], factor)
            if knob.name in ran
            else space.base[knob.name]
            for knob in space.knobs
        }
    )
