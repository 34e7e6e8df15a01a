"""The search of a study: what the optimizer asks for, until it ends."""

from collections import deque
from collections.abc import Callable, Sequence

from lsmtune.optimizers.base import with_pending
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.pruning import PruneRule
from lsmtune.simulator import load_machine
from lsmtune.store.records import StoredTrial
from lsmtune.study.baselines import feed_compared, measure_baseline
from lsmtune.study.earlier import earlier_studies
from lsmtune.study.foretelling import Simulated, foretelling
from lsmtune.study.runner import Task
from lsmtune.study.session import Session
from lsmtune.study.stopping import why_to_stop
from lsmtune.system.host import describe_host
from lsmtune.trials import Role, workload_seed
from lsmtune.units import format_duration

GROUPS_OF_FINALISTS = 3
"""At most this many groups of finalists run again."""
_NEARLY = 0.1
"""By how much a finalist's first run may exceed a limit beyond the base's noise."""


def run_search(session: Session) -> None:
    """Measure the baseline, search, and repeat the finalists; earlier calls count.

    LsmtuneError if the baseline cannot be measured.
    """
    measure_baseline(session)
    search(session)
    repeat_finalists(session, 1)


def search(session: Session, tell: Callable[[str], None] = lambda ended: None) -> None:
    """Run trials until the search ends; the reason is stored, and `tell` gets it.

    The baseline must be measured.
    """
    session.keep_ended(None)
    ended = _searched(session)
    session.keep_ended(ended)
    tell(ended)


def _searched(session: Session) -> str:
    """Run what the optimizer asks for; return why the search has ended."""
    earlier = earlier_studies(session.home, session.stored, session.spec, session.space)
    optimizer = make_optimizer(session.spec.optimizer, earlier, lambda: _foretelling(session))
    trials = session.spec.trials
    of_all = "" if trials is None else f" of {trials}"
    ended: str | None = None

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        nonlocal ended
        known = session.history
        ended = ended or _end(session)
        if ended or (trials is not None and known.searched + len(under_way) >= trials):
            return ()
        pending = [task.config for task in under_way]
        history = with_pending(list(known.observations), pending)
        config = optimizer.ask(session.space, history, session.spec.seed)
        if known.tried(config) or config in pending:
            if not pending:
                ended = "all configs of the knob space have been tried"
            return ()
        title = f"search {len(known.observations) + len(pending)}{of_all}"
        return [Task(title, Role.TRIAL, config, session.trial_spec(config), _prune(session, host))]

    feed_compared(session, next_job)
    if ended is None:
        raise AssertionError("a search without a trial under way has a reason to end")
    return ended


def _foretelling(session: Session) -> Simulated | None:
    machine = load_machine(session.home.machine_path, describe_host())
    base = [(trial.spec, trial.result.metrics) for trial in session.history.complete_base]
    return foretelling(session.spec, session.space, machine, base, session.running())


def _prune(session: Session, host: str | None) -> PruneRule | None:
    """Return the rule that may cut a trial; the trial runs on the host."""
    if session.spec.is_running or not session.spec.early_stop:
        return None
    known = session.history
    base = known.levels.on_host(host, known.base)
    return PruneRule.of(session.objective, base, known.value_noise, known.to_beat)


def repeat_finalists(session: Session, wanted: int) -> None:
    """Run the best configs again with other seeds, until this number of them can win.

    They run in groups of `finalists`. All configs of a group may fail a limit: two runs
    of a config with universal compaction can differ by a fifth in live space.
    """
    ranked, size = _ranked(session), session.spec.finalists
    for first in range(0, GROUPS_OF_FINALISTS * size, size):
        _repeat(session, ranked[first : first + size])
        if session.objective.pareto or len(session.history.ranked) >= wanted:
            return


def _ranked(session: Session) -> list[StoredTrial]:
    """Return the trials that may be finalists, the best first.

    A config that just missed a limit is one of them: only the median of several runs
    decides about it.
    """
    known = session.history.as_searched()
    near = [c for c in known.candidates if c.promise < 1 and c.excess <= _NEARLY]
    near.sort(key=lambda candidate: candidate.promise)
    # With several goals every config of the front is one that the user may pick.
    front = known.front if session.objective.pareto else []
    return list({c.trial.number: c.trial for c in [*front, *near]}.values())


def _repeat(session: Session, finalists: Sequence[StoredTrial]) -> None:
    """Run each finalist under further seeds, round by round; runs that exist count."""
    known = session.history
    done = {f.config: len(known.runs_of(f.config)) for f in finalists}
    left = deque[Task]()
    for repeat in range(1, session.spec.repeats + 1):
        for finalist in (f for f in finalists if done[f.config] <= repeat):
            seed = workload_seed(session.spec.seed, "repeat", repeat)
            spec = session.trial_spec(finalist.config).model_copy(update={"seed": seed})
            title = f"repeat of trial {finalist.number}"
            left.append(Task(title, Role.REPEAT, finalist.config, spec))
    feed_compared(session, lambda host, under_way: [left.popleft()] if left else ())


def _end(session: Session) -> str | None:
    """Return why the search ends; None while it goes on."""
    known, spec = session.history, session.spec
    if spec.trials is not None and known.searched >= spec.trials:
        return f"all {spec.trials} trials are done"
    if spec.budget_s is not None and known.used_s >= spec.budget_s:
        return f"the search budget of {format_duration(spec.budget_s)} is used up"
    if spec.until is None or not (left := known.as_searched()).runs:
        return None
    return why_to_stop(session.space, left.observations, left.value_noise, spec.until)
