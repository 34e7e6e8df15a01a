"""The runs of the baseline: before the search, and again on hosts to see that they still agree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, sqrt

from lsmtune.errors import Argument, LsmtuneError, UserError
from lsmtune.knobs.types import Config
from lsmtune.objective import Metrics, log_deviation
from lsmtune.spec import MIN_PAIRS
from lsmtune.stats import half_width
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.enough_data import check_base_run, check_before_run
from lsmtune.study.runner import REPEATS, Done, NextJob, Task, ignore
from lsmtune.study.session import Session
from lsmtune.study.standing import is_overloaded
from lsmtune.trials import Role, Status, TrialResult, workload_seed

CHECK_EVERY = 20
"""Number of runs after which a host runs the baseline again, if there are several hosts."""

_ALWAYS = "throughput_ops_s"


def measure_baseline(
    session: Session, see_first: Callable[[StoredTrial], None] = lambda run: None
) -> None:
    """Run the baseline as often as the settings say; LsmtuneError if a run gives no result.

    `see_first` gets the first run, once in a study.
    """
    if not session.history.complete_base:
        check_before_run(session.spec, session.space.base, session.objective.needed)
    find_rate(session, session.space.default())
    for run in session.history.complete_base:
        _check_measured(session, run.result)

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        runs = session.history.complete_base
        # Each host runs it as often, unless all measure the same.
        done = sum(host in (None, run.host) for run in runs)
        done += len(under_way) if host is None else 0
        return [_baseline(session, done)] if done < session.spec.base_runs else ()

    def ended(task: Task, result: TrialResult) -> None:
        _check_measured(session, result)
        if len(session.history.complete_base) == 1:
            see_first(session.history.complete_base[0])

    session.feed(next_job, ended)
    measured = session.base_metrics
    check_base_run(session.spec, measured, session.space.base, session.objective.needed)
    if missing := session.objective.missing(measured):
        raise UserError(
            f"objective: this workload does not measure {', '.join(missing)}; "
            f"available: {', '.join(sorted(measured))}"
        )


def find_rate(session: Session, config: Config) -> None:
    """Store the rate of a running study: the given one, or a share of what a config can take.

    The config is the baseline. The slowest host decides. A rate that is stored stays.
    """
    if not session.spec.is_running or session.stored.rate is not None:
        return
    rate, is_share = session.spec.given_rate
    if is_share:
        runs = _capacity_runs(session, config)
        slowest = min(run.result.metrics["capacity_ops_s"] for run in runs)
        if not slowest:
            limit = session.spec.capacity
            raise LsmtuneError(
                f"the baseline keeps {limit} at no rate; start a study with a larger number in ",
                Argument("capacity"),
            )
        rate = float(f"{rate * slowest:.2g}")
    session.keep_rate(rate)


def _capacity_runs(session: Session, config: Config) -> list[StoredTrial]:
    """Measure how much the baseline can take, once on each host; runs that exist count.

    Such a run has no window. Its role is its own, so nothing else counts it.
    """

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        done = complete_trials(session.trials(), Role.RATE)
        if (host is None and under_way) or any(host in (None, run.host) for run in done):
            return ()
        return [Task("capacity of the baseline", Role.RATE, config, session.trial_spec(config))]

    session.feed(next_job, lambda task, result: _check_measured(session, result))
    return complete_trials(session.trials(), Role.RATE)


def check_base_result(session: Session, result: TrialResult) -> None:
    """Raise LsmtuneError if a run of the baseline failed, or could not keep the rate."""
    if result.status is not Status.COMPLETE:
        raise LsmtuneError(
            f"the baseline could not be measured ({result.status.meaning}): {result.reason}"
        )
    metrics, rate = result.metrics, session.stored.rate or 0.0
    if is_overloaded(result):
        raise LsmtuneError(
            f"the baseline cannot keep {rate:,.0f} operations/s: at the end, it was "
            f"{metrics['behind_s']:.1f} s behind; it can take {metrics['capacity_ops_s']:,.0f} "
            "operations/s, so start a study with a smaller ",
            Argument("rate"),
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
    """Raise LsmtuneError after a useless run of the baseline, unless other hosts can run it."""
    if all(host.is_set_aside for host in session.history.standings.values()):
        check_base_result(session, result)


@dataclass(frozen=True, slots=True)
class Floor:
    """How much one metric differs between runs of the baseline.

    `low` and `high` are its smallest and largest value in `runs` runs. `factor` is how far the
    ratio of the baseline to itself may be off after `pairs` pairs of runs (95 % interval): 1.08
    means that no gain below 8 % can be proven. It is None if a single run tells no noise.
    """

    metric: str
    runs: int
    low: float
    high: float
    pairs: int
    factor: float | None


def noise_floor(study: Session) -> list[Floor]:
    """Return the floor of the metrics of the objective and of the throughput.

    The baseline must have been measured. `pairs` is the maximum of the study's verification, and
    6, the least of any verification, if the study verifies nothing.
    """
    runs = study.history.base_runs
    pairs = max(study.spec.pairs, study.spec.max_pairs) if study.spec.pairs else MIN_PAIRS
    names = dict.fromkeys((*study.objective.metrics, _ALWAYS))
    return [_floor(name, runs, pairs) for name in names if all(name in run for run in runs)]


def _floor(name: str, runs: Sequence[Metrics], pairs: int) -> Floor:
    values = [run[name] for run in runs]
    deviation = log_deviation(name, [runs])
    # A pair has the noise of two runs.
    factor = None if deviation is None else exp(half_width(sqrt(2) * deviation, pairs))
    return Floor(name, len(runs), min(values), max(values), pairs, factor)
