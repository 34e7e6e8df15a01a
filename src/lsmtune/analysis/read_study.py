"""Read the view of a study from the store."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf
from shlex import quote

from lsmtune.analysis.continuing import continue_command
from lsmtune.analysis.deploy import home_flag
from lsmtune.analysis.hosts_used import hosts_of
from lsmtune.analysis.simplification import simplification_of
from lsmtune.analysis.study_view import (
    COMPARISON,
    ONLINE,
    Change,
    OnlineCall,
    StudyView,
    TrialView,
    VerificationView,
    full_memory_of,
    pace_of,
    windows_of,
)
from lsmtune.analysis.trades import trades
from lsmtune.analysis.upgrade_plan import compares_winner, upgrade_command
from lsmtune.engine_traits import is_of_program
from lsmtune.errors import Argument, UserError
from lsmtune.knobs import existing
from lsmtune.knobs.existing import StoreChange
from lsmtune.knobs.types import Config, Knob, Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.metrics.options_file import families_in
from lsmtune.objective import Metrics, median_metrics, run_noise
from lsmtune.spaces import KnobSpaces, assumed_cache_bytes, rescaled
from lsmtune.spec import Ground, StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy, StoredTrial, StoredVerification, complete_trials
from lsmtune.study.history import History
from lsmtune.study.ranking import Candidate, nearest_candidate
from lsmtune.study.record import StudyRecord, read_record, study_catalogue
from lsmtune.study_keys import VERSION
from lsmtune.trials import Base, Judgement, Role, Status
from lsmtune.units import parse_size
from lsmtune.verdict import Verdict


def read_study(home: Home, name: str, trial: int | None = None) -> StudyView:
    """Return the view of the named study; `trial` replaces its winner.

    UserError if the study does not exist, or if `trial` is not a measured trial of its search.
    """
    return view_of(home, read_record(home, name), trial)


def view_of(home: Home, record: StudyRecord, trial: int | None = None) -> StudyView:
    """Return the view of a study of the home that was read before; see `read_study`."""
    study, spec, history, spaces = record.stored, record.spec, record.history, record.spaces
    base_config = _base_config(record)
    views, no_search = trial_views(spec, history, base_config), no_search_of(spec)
    best = _best(spec, history, trial)
    nearest = None if best or no_search else nearest_candidate(history.candidates)
    compared, by_medians = best or nearest, best is not None and (best.can_win or trial is not None)
    number = best.trial.number if best else None
    best_trial = None if best is None else _with_deployed(spaces, _with_medians(views, best))
    in_program = is_of_program(spec.engine)
    is_interrupted = not (no_search or history.verifications) and _is_interrupted(study, history)
    return StudyView(
        name=study.name,
        engine=spec.engine,
        engine_version=study.engine.version,
        assertions_enabled=study.engine.assertions_enabled,
        origin=study.engine.origin,
        host=study.host,
        workload=spec.workload,
        scale=spec.scale,
        objective=history.objective,
        optimizer=_search_words(spec),
        seed=spec.seed,
        memory_limit_bytes=_memory_limit(record),
        base_facts=_base_facts(spec, study.engine.base),
        families=families_in(study.engine.base.given, spec.family),
        trials=tuple(views.values()),
        base=_representative(history),
        base_runs=tuple(history.base_runs),
        best=best.trial.result.measurement if best else None,
        best_trial=best_trial,
        verifications=_verifications(history, number),
        windows=windows_of(history, best),
        front=_front(views, history),
        best_within_limits=_best_within_limits(views, history),
        simplification=simplification_of(
            history,
            number if trial is None else None,
            None if in_program else f"lsmtune simplify {quote(study.name)}{home_flag(home.path)}",
        ),
        trades=() if no_search else trades(history, best),
        nearest=None if nearest is None else _with_medians(views, nearest),
        limits=() if compared is None else history.checks(compared, by_medians=by_medians),
        verified=tuple(history.verdicts),
        home_flag="" if in_program else home_flag(home.path),
        picked=trial is not None,
        no_search=no_search,
        ended=study.ended,
        continuing=_continuing(home, spec, no_search) if is_interrupted or no_search else None,
        is_interrupted=is_interrupted,
        planned=spec.trials,
        online=_online_call(record, views.values(), base_config),
        memory=full_memory_of(spaces, best),
        assumed_cache_bytes=assumed_cache_bytes(spec, spaces.ground),
        all_sizes_scale=study.rule is not None,
        own_base=spec.base is not None,
        rehearsal=None if number is None else history.rehearsal(number),
        hosts=hosts_of(home, study, history),
        pace=pace_of(
            (run for run in history.runs if run.verification_id is None),
            history.base,
            spec.workload,
            given=history.has_own_rate,
        ),
        blurred=history.blurred,
    )


def _base_config(record: StudyRecord) -> Config | None:
    """Return the config of the baseline; None if it is unknown.

    Online tuning has no run of the baseline.
    """
    if record.spec.online is None:
        return next((trial.config for trial in record.history.complete_base), None)
    return record.spaces.at().default()


def _online_call(
    record: StudyRecord, views: Iterable[TrialView], base_config: Config | None
) -> OnlineCall | None:
    """Return the newest call of online tuning; None if there is none."""
    spec = record.spec
    changes = [(view, view.online) for view in views if view.online is not None]
    if not changes or spec.online is None or base_config is None:
        return None
    start = max((at for at, (_, one) in enumerate(changes) if one.number == 1), default=0)
    tried = changes[start:]
    last_kept = next((v for v, one in reversed(tried) if one.judgement is Judgement.KEPT), None)
    kept: tuple[Change, ...] = ()
    if last_kept is not None:
        differing = changes_between(knobs_of(spec), base_config, Config(last_kept.config))
        kept = _with_deployed(record.spaces, replace(last_kept, changes=differing)).changes
    return OnlineCall(
        tried=tuple(view for view, _ in tried),
        earlier=start,
        config=dict(last_kept.config if last_kept else base_config),
        kept=kept,
        trial=None if last_kept is None else last_kept.number,
        windows=spec.online.windows,
        window_s=spec.online.window_s,
    )


def _is_interrupted(study: StoredStudy, history: History) -> bool:
    """Return whether a search has not ended and may run more trials."""
    if study.ended is not None:
        return False
    trials = study.settings.trials
    return trials is None or history.searched < trials


def check_searches(spec: StudySettings) -> None:
    """Raise UserError if the study cannot have a winner."""
    if (kind := no_search_of(spec)) is not None:
        raise UserError(
            f"study {spec.name!r}: nothing to verify, because this study is a {kind}; name a study "
            "of `lsmtune tune`"
        )


def no_search_of(spec: StudySettings) -> str | None:
    """Return what the study is if it cannot have a winner, else None."""
    if spec.screen is not None:
        return "screening"
    if spec.online is not None:
        return ONLINE
    if spec.sweep is None:
        return None
    return COMPARISON if compares_winner(spec.sweep) else "controlled experiment"


def _continuing(home: Home, spec: StudySettings, no_search: str | None) -> str | None:
    """Return the command that continues the study; None if there is none to copy."""
    if no_search is None:
        return continue_command(spec)
    return upgrade_command(home, spec) if no_search == COMPARISON else None


def _best(spec: StudySettings, history: History, trial: int | None) -> Candidate | None:
    """Return the trial that the user picked, or the winner of a study that searches."""
    if trial is not None:
        return _picked(history, trial, spec)
    return history.winner() if no_search_of(spec) is None else None


def _picked(history: History, number: int, spec: StudySettings) -> Candidate:
    picked = history.candidate(number)
    if picked is None:
        found = sorted(c.trial.number for c in history.candidates)
        known = ", ".join(map(str, found)) or "none yet"
        raise UserError(
            Argument("trial", number),
            f": not a measured trial of the search of study {spec.name!r}; available: {known}",
        )
    _check_version(picked, spec)
    return picked


def _check_version(picked: Candidate, spec: StudySettings) -> None:
    """Raise UserError if the picked trial ran on another version of RocksDB than the baseline.

    The options of the baseline, which a config leaves unchanged, are of the baseline's version.
    """
    version = picked.trial.config.get(VERSION, spec.rocksdb)
    if version != spec.rocksdb:
        raise UserError(
            Argument("trial", picked.trial.number),
            f": this trial ran on RocksDB {version}, but the baseline "
            f"of study {spec.name!r} ran on {spec.rocksdb}; name a trial of that version, or tune "
            f"RocksDB {version} in a study of its own",
        )


def _with_deployed(spaces: KnobSpaces, trial: TrialView) -> TrialView:
    """Return the trial with the values that an exported file contains.

    They stay unknown if the memory limit does not fit a full-size tree.
    """
    before = Config({**trial.config, **{c.knob.name: c.base for c in trial.changes}})
    try:
        at_full, base_at_full = (
            rescaled(spaces, config, Fraction(1)) for config in (Config(trial.config), before)
        )
    except UserError:
        return trial
    on_store = _on_store(spaces.ground, base_at_full, at_full)
    changes = (
        replace(
            change,
            deployed=at_full.get(change.knob.name),
            deployed_base=base_at_full.get(change.knob.name),
            on_store=on_store.get(change.knob.name),
        )
        for change in trial.changes
    )
    return replace(trial, changes=tuple(changes))


def _on_store(ground: Ground, before: Settings, after: Settings) -> dict[str, StoreChange]:
    """Return what an existing store does with each changed option that it does not just accept."""
    if not ground.catalogue.is_rocksdbs:
        return {}
    names, version = ground.catalogue.names, ground.rocksdb_version
    return dict(existing.changes_between(before, after, names, version))


def _front(views: dict[int, TrialView], history: History) -> tuple[TrialView, ...]:
    if not history.objective.pareto:
        return ()
    return tuple(_with_medians(views, candidate) for candidate in history.front)


def _with_medians(views: dict[int, TrialView], found: Candidate) -> TrialView:
    """Return the view of a candidate's trial with the medians of all its runs."""
    return replace(
        views[found.trial.number],
        metrics=dict(found.metrics),
        value=found.value,
        values=found.values,
        violation=found.excess,
    )


def _verifications(history: History, number: int | None) -> tuple[VerificationView, ...]:
    """Return the trial's newest verification of each scale and rate, if its pairs are enough.

    The newest is the first one.
    """
    found: dict[tuple[str, float | None], VerificationView] = {}
    for verification in reversed(history.verifications):
        role = None if number is None else verification.role_of(number)
        verdict = None if role is None else history.verdict(verification, role)
        place = verification.scale, verification.rate
        if role is not None and verdict is not None and place not in found:
            found[place] = _verification(history, verification, role, verdict)
    return tuple(found.values())


def _verification(
    history: History, verification: StoredVerification, role: Role, verdict: Verdict
) -> VerificationView:
    runs = history.runs_of_verification(verification)
    of_pairs = [
        run.result
        for run in runs
        if run.role in (role, Role.VERIFY_BASE) and run.result.status is Status.COMPLETE
    ]
    base = median_metrics([base for _, base in history.pairs(verification)])
    given = history.has_own_rate or verification.rate is not None
    return VerificationView(
        scale=verification.scale,
        workload=verification.workload,
        pairs=tuple(history.pairs(verification, role)),
        verdict=verdict,
        disturbed=(sum(run.disturbance is not None for run in of_pairs), len(of_pairs)),
        pace=pace_of(runs, base, verification.workload, given=given),
        rate=verification.rate,
    )


def _best_within_limits(views: dict[int, TrialView], history: History) -> TrialView | None:
    """Return the best config that probably keeps all limits, also in its verification."""
    verdicts = history.verdicts
    for found in history.candidates:
        verdict = verdicts.get(found.trial.number)
        if found.can_win and (verdict is None or not any(x.forbids_gain for x in verdict.limits)):
            return _with_medians(views, found)
    return None


def _representative(history: History) -> Measurement | None:
    """Return the baseline run whose objective is nearest to the median."""
    objective = history.objective

    def distance(run: StoredTrial) -> float:
        metrics = run.result.metrics
        return (
            inf if objective.missing(metrics) else abs(objective.value(metrics, history.base) - 1)
        )

    nearest = min(history.complete_base, key=distance, default=None)
    return nearest.result.measurement if nearest else None


def _base_facts(spec: StudySettings, base: Base) -> tuple[str, ...]:
    own = f"your file {spec.base}" if spec.base else "the engine's defaults"
    cache = () if spec.cache is None else (f"block cache at full size (scale 1): {spec.cache}",)
    count = len(base.left_out)
    options = "1 option" if count == 1 else f"{count} options"
    left_out = (
        (
            f"lsmtune does not use {options} of your baseline file; "
            "`lsmtune tune --verbose --dry-run` lists them",
        )
        if count
        else ()
    )
    return (own, *cache, *base.notes, *left_out)


def _memory_limit(record: StudyRecord) -> int:
    spec, spaces, base_runs = record.spec, record.spaces, record.history.complete_base
    if spec.memory is not None:
        return parse_size(spec.memory, "memory")
    if spaces.ground.rule is not None:
        return spaces.at().full_size.memory.limit_bytes
    if not base_runs:
        return 0
    return study_catalogue(spec).memory_bytes(base_runs[0].spec.settings)


def _search_words(spec: StudySettings) -> str:
    """Return the optimizer and the studies that it started from."""
    if spec.warm_start is None:
        return spec.optimizer
    return f"{spec.optimizer}, warm start from {' and '.join(spec.warm_start)}"


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
