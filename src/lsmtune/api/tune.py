"""Find better options for a workload, and verify the winner."""

from pathlib import Path

from lsmtune.api.continue_study import done_text, new_text, old_rule_text
from lsmtune.api.resolve import Resolved
from lsmtune.api.results import Finished, write_results
from lsmtune.api.run_time import rest_text
from lsmtune.api.study_result import read_result
from lsmtune.errors import UserError
from lsmtune.report.text.baseline_text import baseline_lines, cache_lines, measured_lines
from lsmtune.store.home import Home
from lsmtune.store.ranking import base_runs
from lsmtune.study.description import rule_of_new
from lsmtune.study.enough_data import study_must_flush
from lsmtune.study.noise_floor import noise_floor
from lsmtune.study.observer import Observer
from lsmtune.study.opening import Prepared, open_session, prepare
from lsmtune.study.same_system import system_notes
from lsmtune.study.search import measure_baseline, repeat_finalists, search
from lsmtune.study.session import Session
from lsmtune.study.simplify import simplify_new_winner
from lsmtune.study.verify import verify_contenders
from lsmtune.system.host import describe_host


def tune(
    resolved: Resolved,
    home: Path,
    observer: Observer | None = None,
    *,
    accept_noise: bool = False,
    verbose: bool = False,
) -> Finished:
    """Search, simplify and verify; write the page and the files of the result into the home.

    An interrupted study continues where it stopped. With `accept_noise`, runs that other programs
    disturb are marked and not repeated. With `verbose`, the remarks list each option of the
    baseline's file that lsmtune does not use. UserError for settings that cannot be used.
    """
    observer = observer or Observer()
    spec = resolved.settings
    _check_searches(resolved)
    prepared = prepare(spec, home, observer, source=resolved.source)
    with Home(home, create=True) as opened:
        with open_session(opened, prepared, observer, accept_noise=accept_noise) as study:
            _remark_start(study, prepared, observer, verbose=verbose)
            _measure_baseline(study, observer)
            search(study, lambda ended: observer.remark(f"search ended: {ended}"))
            repeat_finalists(study, 1)
            if study.spec.simplify:
                simplify_new_winner(study)
            if study.spec.pairs:
                verify_contenders(study)
        result = read_result(opened, prepared.spec.name)
        return Finished(result, write_results(opened, result, observer))


def _measure_baseline(study: Session, observer: Observer) -> None:
    """Measure the baseline; the observer hears of time left, flushes and noise."""
    knobs = len(study.space.knobs)
    measure_baseline(study, lambda run_s: observer.remark(rest_text(study.spec, knobs, run_s)))
    must = study_must_flush(study.spec, study.objective.needed)
    runs, floors = base_runs(study.trials()), noise_floor(study)
    for line in measured_lines(runs, floors, must_flush=must):
        observer.remark(line)


def _check_searches(resolved: Resolved) -> None:
    """Raise UserError for settings that `tune` does not run."""
    spec = resolved.settings
    for table, given in (("screen", spec.screen), ("sweep", spec.sweep)):
        if given is not None:
            raise UserError(
                f"[{table}]: `lsmtune tune` cannot run a study with this table; use "
                f"`lsmtune {table}`"
            )


def _remark_start(study: Session, prepared: Prepared, observer: Observer, *, verbose: bool) -> None:
    """Say what is known before the first run: earlier runs, the system, the baseline."""
    spec, done = study.spec, study.trials()
    observer.remark(done_text(spec.name, done) if done else new_text(spec.name, study.home.path))
    if study.ground.rule is None and rule_of_new(spec) is not None:
        observer.remark(old_rule_text(spec.name))
    for remark in system_notes(study.stored, spec, describe_host()):
        observer.remark(remark)
    ground = prepared.ground
    lines = (*baseline_lines(ground.base, verbose=verbose), *cache_lines(spec, ground))
    for remark in lines:
        observer.remark(f"baseline: {remark}")
