"""Views of the single trials of a study."""

from collections.abc import Mapping
from dataclasses import replace

from lsmtune.analysis.study_view import Change, TrialView
from lsmtune.errors import UserError
from lsmtune.knobs.types import Config, Knob
from lsmtune.objective import Metrics, run_noise
from lsmtune.spec import StudySettings
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.history import History
from lsmtune.study.record import study_catalogue
from lsmtune.trials import Role, Status


def knobs_of(spec: StudySettings) -> dict[str, Knob]:
    """Return the knobs that a config of the study may have, by name."""
    catalogue = study_catalogue(spec)
    varied = [parameter.as_knob() for parameter in catalogue.workload_parameters]
    return {knob.name: knob for knob in (*catalogue.knobs, *varied)}


def trial_views(
    spec: StudySettings, history: History, base_config: Config | None
) -> dict[int, TrialView]:
    """Return the views by trial number; UserError for values that no trial can have had."""
    noise = run_noise(history.repeated, of_runs=1)
    knobs = knobs_of(spec)
    views = {}
    for trial in history.runs:
        online = trial.result.online
        previous = base_config if online is None else Config(online.previous)
        _check_config(trial, trial.config, knobs, base_config)
        if online is not None:
            _check_config(trial, Config(online.previous), knobs, trial.config)
            _check_config(trial, trial.config, knobs, Config(online.previous))
        changes = changes_between(knobs, previous, trial.config) if previous else ()
        views[trial.number] = replace(_trial_view(trial, history, noise), changes=changes)
    tested = [t.number for t in complete_trials(history.runs, Role.SIMPLIFY)]
    simpler = map(history.candidate, tested)
    for found in (*history.candidates, *(c for c in simpler if c is not None)):
        number = found.trial.number
        views[number] = replace(
            views[number],
            runs=found.runs,
            median=found.value,
            keeps=found.can_win,
            breaks=() if found.can_win else history.scorer.doubtful(found),
        )
    return views


def _check_config(
    trial: StoredTrial, config: Config, knobs: Mapping[str, Knob], other: Config | None
) -> None:
    """Raise UserError for values of knobs that no trial of the study can have had.

    A config has the knobs of each other config of the study.
    """
    for name, value in config.items():
        knob = knobs.get(name)
        if knob is None or (other is not None and name not in other):
            problem = f"{name} is not a knob of this study"
        elif knob.is_range and isinstance(value, bool | str):
            problem = f"{name} = {value!r} must be a number"
        else:
            continue
        raise UserError(
            f"trial {trial.number} in the home: {problem}; the database is damaged or was changed "
            "by another program"
        )


def _trial_view(trial: StoredTrial, history: History, noise: Metrics) -> TrialView:
    result, metrics = trial.result, history.metrics(trial)
    base, objective = history.base, history.objective
    measured = result.status is Status.COMPLETE
    comparable = measured and not objective.missing(metrics) and not objective.missing(base)
    bounded = all(name in result.bounds and name in base for name in objective.metrics)
    return TrialView(
        number=trial.number,
        role=trial.role,
        status=result.status,
        reason=result.reason,
        duration_s=trial.duration_s,
        config=dict(trial.config),
        metrics=result.metrics,
        value=objective.value(metrics, base) if comparable else None,
        violation=objective.violation(metrics, base, noise) if comparable else None,
        values=objective.values(metrics, base) if comparable else (),
        bound=objective.values(result.bounds, base) if bounded else (),
        disturbance=result.disturbance,
        online=result.online,
        host=trial.host,
    )


def changes_between(knobs: Mapping[str, Knob], base: Config, config: Config) -> tuple[Change, ...]:
    """Return the differences of a config from another one."""
    differing = config.differing(base)
    return tuple(Change(knobs[name], base[name], value) for name, value in differing.items())
