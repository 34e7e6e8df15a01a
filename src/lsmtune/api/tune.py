"""Find better options for a workload, and verify the winner."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from lsmtune.analysis.deploy import home_flag
from lsmtune.api.export import files_of
from lsmtune.api.on_hosts import OnHosts, opened_hosts, session_on
from lsmtune.api.resolve import Resolved
from lsmtune.api.results import Finished, write_results
from lsmtune.api.run_time import rest_text
from lsmtune.api.study_result import result_of
from lsmtune.engine_traits import is_of_program
from lsmtune.errors import Message, UserError
from lsmtune.progress import Observer
from lsmtune.report.text.baseline_text import (
    baseline_lines,
    cache_lines,
    driver_lines,
    measured_lines,
)
from lsmtune.report.text.plan_text import measure_facts
from lsmtune.report.text.words import counted
from lsmtune.spec import StudySettings
from lsmtune.store.database import is_home
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.baselines import measure_baseline, noise_floor
from lsmtune.study.enough_data import study_must_flush
from lsmtune.study.opening import Prepared, open_session, prepare
from lsmtune.study.rehearse import verify_deployable
from lsmtune.study.same_system import system_notes
from lsmtune.study.search import repeat_finalists, search
from lsmtune.study.session import Session, WorkLeft
from lsmtune.study.simplify import simplify_new_winner
from lsmtune.system.host import describe_host
from lsmtune.trials import Role


def tune(
    resolved: Resolved,
    home: Path,
    observer: Observer | None = None,
    *,
    accept_noise: bool = False,
    verbose: bool = False,
    hosts: OnHosts | None = None,
) -> Finished:
    """Search, simplify and verify; write the page and the files of the result into the home.

    An interrupted study continues where it stopped. With `accept_noise`, runs that other programs
    disturb are marked and not repeated. With `hosts`, runs go to them. With `verbose`,
    the remarks list each option of the baseline's file that lsmtune does not use. UserError for
    settings that cannot be used.
    """
    observer = observer or Observer()
    spec = resolved.settings
    _check_searches(resolved)
    prepared = prepare(spec, home, observer, source=resolved.source)
    if hosts is not None and hosts.is_used:
        done = _already_done(prepared, home, observer)
        if done is not None:
            return done
    with (
        opened_hosts(hosts, prepared.engine, observer) as used,
        Home(home, create=True) as opened,
    ):
        with session_on(used, opened, prepared, observer, accept_noise=accept_noise) as study:
            _remark_start(study, prepared, observer, verbose=verbose)
            _run(study, observer)
        result = result_of(opened, study.record)
        return Finished(result, write_results(opened, result, observer))


def _run(study: Session, observer: Observer) -> None:
    """Run all that is left of a study."""
    _measure_baseline(study, observer)
    search(study, lambda ended: observer.remark(f"search ended: {ended}"))
    repeat_finalists(study, 1)
    if study.spec.simplify:
        simplify_new_winner(study)
    if study.spec.pairs:
        verify_deployable(study, files_of, observer)


def _already_done(prepared: Prepared, home: Path, observer: Observer) -> Finished | None:
    """Return the result of a study that has nothing left to run; None for another one.

    Such a study needs no hosts, which may be gone.
    """
    if not is_home(home):
        return None
    name = prepared.spec.name
    with Home(home, create=False) as opened:
        stored = opened.find_study(name)
        if stored is None or stored.ended is None or stored.settings != prepared.spec:
            return None
        if opened.open_runs(stored):  # hosts may have results
            return None
        with open_session(opened, prepared, Observer()) as study:
            study.only_look()
            try:
                _run(study, Observer())
            except WorkLeft:
                return None
        observer.remark(f"study {name!r}: nothing is left to run, so no host is needed")
        result = result_of(opened, study.record)
        return Finished(result, write_results(opened, result, observer))


def _measure_baseline(study: Session, observer: Observer) -> None:
    """Measure the baseline; the observer hears of time left, flushes and noise."""
    knobs = len(study.space.knobs)

    def see_first(run: StoredTrial) -> None:
        observer.remark(rest_text(study.spec, knobs, run.duration_s))
        for line in driver_lines(run.result.metrics):
            observer.remark(line)

    measure_baseline(study, see_first)
    must = study_must_flush(study.spec, study.objective.needed)
    runs, floors = study.history.base_runs, noise_floor(study)
    for line in measured_lines(runs, floors, must_flush=must):
        observer.remark(line)
    if (rate := study.stored.rate) is not None:
        observer.remark(f"rate: all runs have {rate:,.0f} operations/s")


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
    observer.remark(_done_text(spec.name, done) if done else _new_text(spec, study.home.path))
    if done:
        for remark in system_notes(study.stored, spec, describe_host()):
            observer.remark(remark)
    for _, text in measure_facts(spec, study.ground.base.settings):
        observer.remark(f"measured: {text}")
    lines = (*baseline_lines(prepared.ground.base, verbose=verbose), *cache_lines(prepared.spaces))
    for remark in lines:
        observer.remark(Message("baseline: ", remark))


def _new_text(spec: StudySettings, home: Path) -> str:
    """Return the name of a new study, and the command that shows how far it is, if one can."""
    text, command = f"study {spec.name!r}: starts now", f"lsmtune show {quote(spec.name)}"
    return text if is_of_program(spec.engine) else f"{text}; `{command}{home_flag(home)}` shows it"


def _done_text(name: str, trials: Sequence[StoredTrial]) -> str:
    """Return what earlier calls have done of a study."""
    base, searched = (len(complete_trials(trials, role)) for role in (Role.BASE, Role.TRIAL))
    return (
        f"study {name!r}: already done: {counted(base, 'run')} of the baseline, "
        f"{counted(searched, 'complete trial')}"
    )
