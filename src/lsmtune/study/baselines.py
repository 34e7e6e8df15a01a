"""The runs of the baseline: before the search, and again on hosts to see that they still agree."""

from collections.abc import Callable, Sequence

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.study.enough_data import check_base_run, check_before_run
from lsmtune.study.runner import REPEATS, Done, NextJob, Task, ignore
from lsmtune.study.session import Session
from lsmtune.trials import Role, Status, TrialResult, workload_seed

CHECK_EVERY = 20
"""Number of runs after which a host runs the baseline again, if there are several hosts."""


def measure_baseline(
    session: Session, tell_time: Callable[[float], None] = lambda seconds: None
) -> None:
    """Run the baseline as often as the settings say; LsmtuneError if a run gives no result.

    `tell_time` gets the time of the first run, in seconds.
    """
    if not session.history.complete_base:
        check_before_run(session.spec, session.space.base, session.objective.needed)

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        runs = session.history.complete_base
        # Each host runs it as often, unless all measure the same.
        done = sum(host in (None, run.host) for run in runs)
        done += len(under_way) if host is None else 0
        return [_baseline(session, done)] if done < session.spec.base_runs else ()

    def ended(task: Task, result: TrialResult) -> None:
        _check_measured(session, result)
        if len(session.history.complete_base) == 1:
            tell_time(session.history.complete_base[0].duration_s)

    session.feed(next_job, ended)
    measured = session.base_metrics
    check_base_run(session.spec, measured, session.space.base, session.objective.needed)
    if missing := session.objective.missing(measured):
        raise UserError(
            f"objective: this workload does not measure {', '.join(missing)}; "
            f"available: {', '.join(sorted(measured))}"
        )


def feed_compared(
    session: Session, next_job: NextJob, done: Done = ignore, most_repeats: int = REPEATS
) -> None:
    """Feed runs that are compared with the baseline of their host; see `Pool.feed`.

    A host that has joined meanwhile runs the baseline first, and each host runs it again now and
    then. So does this machine, if it goes on with a study of hosts. LsmtuneError if no host can run
    it.
    """

    def next_here(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        owed = _owed(session, host) if host is not None or _is_of_hosts(session) else None
        return [owed] if owed is not None else next_job(host, under_way)

    def ended(task: Task, result: TrialResult) -> None:
        if task.role is Role.BASE:
            _check_measured(session, result)
        else:
            done(task, result)

    session.feed(next_here, ended, most_repeats)


def _is_of_hosts(session: Session) -> bool:
    """Return whether this machine goes on with a study whose baseline hosts have timed."""
    base = session.history.complete_base
    return not session.is_on_hosts and session.times_matter and any(run.host for run in base)


def _owed(session: Session, host: str | None) -> Task | None:
    """Return a run of the baseline that a host owes; None if it may run something else.

    The host None is this machine.
    """
    known = session.history
    own = [run.number for run in known.complete_base if run.host == host]
    if len(own) < session.spec.base_runs:
        return _baseline(session, len(own))
    if len({run.host for run in known.complete_base}) == 1:
        return None
    standing, last = known.standings.get(host or ""), own[-1]
    since = sum(run.host == host for run in known.runs[last + 1 :])
    if since < CHECK_EVERY and (standing is None or standing.kind != "checked"):
        return None
    return _baseline(session, len(own))


def _baseline(session: Session, done: int) -> Task:
    """Return the next run of the baseline on a host; `done` is the number of its earlier ones."""
    wanted = session.spec.base_runs
    title = f"baseline {done + 1} of {wanted}" if done < wanted else "baseline again"
    config = session.space.default()
    # Under seeds of their own: how far runs of one config differ includes the load's keys.
    seed = workload_seed(session.spec.seed, "base", done)
    spec = session.trial_spec(config).model_copy(update={"seed": seed})
    return Task(title, Role.BASE, config, spec)


def _check_measured(session: Session, result: TrialResult) -> None:
    """Raise LsmtuneError after a failed run of the baseline, unless other hosts can run it."""
    if result.status is Status.COMPLETE:
        return
    if all(host.is_set_aside for host in session.history.standings.values()):
        raise LsmtuneError(
            f"the baseline could not be measured ({result.status.meaning}): {result.reason}"
        )
