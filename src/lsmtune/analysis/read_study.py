"""From the store to the view of a study."""

from collections.abc import Sequence

from lsmtune.analysis.study_view import Change, StudyView, TrialView, VerificationView
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.constraints import memory_bytes
from lsmtune.knobs.types import Config, Knob
from lsmtune.metrics.measurement import Measurement
from lsmtune.objective import Metrics, Objective, run_noise
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.store.ranking import base_metrics, best_candidate
from lsmtune.store.records import StoredStudy, StoredTrial, complete_pairs, complete_trials
from lsmtune.trials import Role, Status
from lsmtune.units import parse_size
from lsmtune.verdict import judge

_FEWEST_PAIRS = 2


def read_study(home: Home, name: str) -> StudyView:
    """The view of the named study; UserError when there is none of that name."""
    study = home.study(name)
    spec = StudySpec.model_validate(study.spec)
    stored = home.trials(study)
    base_runs = complete_trials(stored, Role.BASE)
    base = base_metrics(stored)
    objective = spec.parsed_objective
    noise = run_noise([run.result.metrics for run in base_runs], of_runs=1) if base_runs else {}
    trials = tuple(_trial_view(trial, base, noise, objective) for trial in stored)
    winner = best_candidate(stored, objective)
    best = winner.trial if winner else None
    return StudyView(
        name=study.name,
        engine=spec.engine,
        engine_version=study.engine["version"],
        assertions_enabled=study.engine["assertions_enabled"],
        host=study.host,
        workload=spec.workload,
        scale=spec.scale,
        objective=objective,
        optimizer=spec.optimizer,
        seed=spec.seed,
        memory_limit_bytes=_memory_limit(spec, base_runs),
        trials=trials,
        base=_representative(base_runs, base, objective) if base else None,
        base_runs=tuple(run.result.metrics for run in base_runs),
        best=best.result.measurement if best else None,
        best_trial=next((t for t in trials if best and t.number == best.number), None),
        best_metrics=winner.metrics if winner else {},
        changes=_changes(spec, base_runs[0].config, best.config) if best else (),
        verification=_verification(home, study, stored, best, objective),
    )


def _trial_view(
    trial: StoredTrial, base: Metrics, noise: Metrics, objective: Objective
) -> TrialView:
    metrics = trial.result.metrics
    measured = base and trial.result.status is Status.COMPLETE
    comparable = measured and not objective.missing(metrics)
    return TrialView(
        number=trial.number,
        role=trial.role,
        status=trial.result.status,
        reason=trial.result.reason,
        duration_s=trial.duration_s,
        config=dict(trial.config),
        metrics=metrics,
        value=objective.value(metrics, base) if comparable else None,
        violation=objective.violation(metrics, base, noise) if comparable else None,
    )


def _representative(
    runs: Sequence[StoredTrial], base: Metrics, objective: Objective
) -> Measurement | None:
    """The base run that is nearest to the median of all by the objective."""
    nearest = min(runs, key=lambda run: abs(objective.value(run.result.metrics, base) - 1))
    return nearest.result.measurement


def _memory_limit(spec: StudySpec, base_runs: Sequence[StoredTrial]) -> int:
    if spec.memory is not None:
        return parse_size(spec.memory, "memory")
    return memory_bytes(base_runs[0].spec.settings) if base_runs else 0


def _changes(spec: StudySpec, base: Config, best: Config) -> tuple[Change, ...]:
    factor = float(spec.scale_value)
    knobs: dict[str, Knob] = {k.name: k.scaled(factor) for k in load(spec.engine).knobs}
    return tuple(
        Change(knobs[name], base[name], value) for name, value in best.differing(base).items()
    )


def _verification(
    home: Home,
    study: StoredStudy,
    trials: Sequence[StoredTrial],
    best: StoredTrial | None,
    objective: Objective,
) -> VerificationView | None:
    """The newest verification of the best trial that has pairs to judge."""
    for verification in reversed(home.verifications(study)):
        pairs = complete_pairs(trials, verification)
        if best and verification.best_trial == best.number and len(pairs) >= _FEWEST_PAIRS:
            return VerificationView(
                verification.scale, verification.workload, tuple(pairs), judge(pairs, objective)
            )
    return None
