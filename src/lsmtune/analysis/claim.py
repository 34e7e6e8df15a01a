"""The claim of a study: one record of what may be said about its result.

`claim_of` decides. The terminal, the page and the exported files only print the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lsmtune.analysis.deploy import export_command
from lsmtune.analysis.full_memory import FullMemory
from lsmtune.analysis.metric_rows import MetricRow, compare
from lsmtune.analysis.pace import Pace
from lsmtune.analysis.simplification import Simplification
from lsmtune.analysis.steps import Step, next_steps
from lsmtune.analysis.study_view import Change, OnlineCall, StudyView, TrialView
from lsmtune.analysis.trades import Cost, Trade, costs_of, price_of
from lsmtune.limits import OVERLOAD
from lsmtune.objective import median_metrics
from lsmtune.rehearsal import Rehearsal
from lsmtune.stats import Interval
from lsmtune.trials import Origin, Role
from lsmtune.verdict import UNKNOWN, LimitCheck, State, Verdict

Status = Literal[
    "gain", "gain with a price", "no gain", "loss", "cannot be deployed", "not verified",
    "nothing found", "not measured", "no search",
]  # fmt: skip
Reason = Literal[
    "constraint broken",
    "constraint unknown",
    "constraint undecided",
    "objective worse",
    "chance",
    "objective unknown",
]

GAINS: frozenset[Status] = frozenset(("gain", "gain with a price"))
"""A gain is claimed, and there is a file to deploy."""
_PRECISE = 0.05
"""Half width of the objective's interval that verification aims for."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """A verification of the same config at another scale or rate; `rate` None: the study's."""

    scale: str
    status: Literal["gain", "no gain"]
    objective: Interval | None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """A config of the search that is not the winner.

    `ratio` is its objective / baseline in the search, where its config ran `runs` times.
    `verified`: pairs of runs did not prove it.
    """

    trial: int
    ratio: float
    runs: int
    verified: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Claim:
    """Everything that may be said about the result of a study.

    `trial` is the number of the winner or, if `picked`, of the trial that the user chose, or of the
    last change that online tuning kept. `reasons` explain why there is no gain. `objective` is the
    interval of the objective, winner / baseline; `value` is its estimate, also without
    verification. `failed` has the limits that are not kept and `failed_trial` the trial that
    broke them; `undecided` has the open limits, on which neither a gain nor a loss depends.
    `price` has the metrics without a limit that are proven much worse, the worst first.
    `alternative` is the best config that keeps all limits; it is set if no gain is claimed
    and, before verification, only if a limit failed. `nearest` is the trial that came nearest
    to a win, if there is no winner; then `rows` compare it with the baseline, and `failed` has the
    limits that it does not keep or that its runs do not decide. `unfinished`: the search may
    run more trials, up to `planned` if that is not None. `disturbed_runs` is the number of runs of
    the study that were disturbed and kept. `online` is the newest call of online tuning; then
    `changes` are those that it kept. `not_deployable` says which limits or rules the winner breaks
    in a full-size tree. `undo` is the command that writes the baseline's values. `memory` is that
    of the full-size tree with the winner. `assumed_cache_bytes` is the size of the block cache if
    the user did not give it. `all_sizes_scale`: the caches of a trial scaled too. `simplification`
    says which changes of the winner were taken back. `trades` are better configs that break one
    default limit. `verdict` is that of the verification. `disturbed_of` is the number of disturbed
    runs of the verification, and of all its runs. `own_base`: the baseline is the user's file.
    `rehearsal` is that of the files of the trial; with "cannot be deployed", it failed. `pace` is
    the rate of a running store, `behind_s` how late the operations of the trial are at the end of
    the window, and `blurred` the p99 metrics that this machine cannot judge.
    """

    view: StudyView
    study: str
    engine: str
    engine_version: str
    origin: Origin | None
    objective_name: str
    objectives: int
    status: Status
    reasons: tuple[Reason, ...]
    trial: int | None
    picked: bool
    searched: int
    no_search: str | None
    scale: str
    search_scale: str
    simulated: bool
    unverified_at_full_scale: bool
    assertions_enabled: bool
    objective: Interval | None
    value: float | None
    fitness: float | None
    all_rows: tuple[MetricRow, ...]
    failed: tuple[LimitCheck, ...]
    failed_trial: int | None
    undecided: tuple[LimitCheck, ...]
    price: tuple[Cost, ...]
    alternative: Alternative | None
    nearest: Alternative | None
    unfinished: bool
    planned: int | None
    others: tuple[Scaled, ...]
    front: int
    disturbed_runs: int
    changes: tuple[Change, ...]
    not_deployable: tuple[str, ...]
    steps: tuple[Step, ...]
    undo: str | None
    online: OnlineCall | None = None
    memory: FullMemory | None = None
    assumed_cache_bytes: int | None = None
    all_sizes_scale: bool = False
    simplification: Simplification | None = None
    trades: tuple[Trade, ...] = ()
    verdict: Verdict | None = None
    disturbed_of: tuple[int, int] | None = None
    own_base: bool = False
    rehearsal: Rehearsal | None = None
    pace: Pace | None = None
    behind_s: float | None = None
    blurred: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return study and status; all fields would be pages of text."""
        return f"<lsmtune.Claim of study {self.study!r}: {self.status}>"

    @property
    def rows(self) -> tuple[MetricRow, ...]:
        """The metrics of the objective, those with a limit, and the speed."""
        return tuple(row for row in self.all_rows if row.role not in ("main", "other"))

    @property
    def limits(self) -> tuple[LimitCheck, ...]:
        """The limits in the order of their metrics, checked on what `rows` compare."""
        return tuple(check for row in self.rows for check in row.limits)

    @property
    def pairs(self) -> int:
        """The number of pairs of runs of the verification."""
        return self.verdict.pairs if self.verdict else 0

    @property
    def worse(self) -> tuple[str, ...]:
        """The metrics of the objective that are proven worse."""
        return self.verdict.worse if self.verdict else ()

    @property
    def lost(self) -> tuple[str, ...]:
        """The objectives that got worse, if there are several."""
        return self.verdict.lost_goals if self.verdict else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be judged."""
        return self.verdict.notes if self.verdict else ()

    @property
    def wide(self) -> float | None:
        """The half width of the objective's interval, if it is wider than wanted."""
        verdict = self.verdict
        if verdict is None or verdict.objective == UNKNOWN or verdict.half_width <= _PRECISE:
            return None
        return verdict.half_width

    @property
    def costs(self) -> tuple[Cost, ...]:
        """All metrics that are proven worse, the worst first."""
        return costs_of(self.verdict)

    @property
    def gain(self) -> bool:
        """True if a gain is claimed."""
        return self.status in GAINS

    @property
    def _scales_of_gains(self) -> list[str]:
        """The other scales at which a gain is verified, at the rate of the study."""
        return [o.scale for o in self.others if o.status == "gain" and o.rate is None]

    @property
    def scale_of_gain(self) -> str | None:
        """The scale of the verified gain; None for full size, or if a gain is verified there."""
        at_full = "1" in self._scales_of_gains
        return None if self.scale == "1" or at_full or not self.gain else self.scale

    @property
    def larger_scale(self) -> str | None:
        """The largest scale, larger than that of the search, at which a gain is verified."""
        gains = self._scales_of_gains
        gains += [self.scale] if self.gain else []
        larger = [s for s in gains if Fraction(s) > Fraction(self.search_scale)]
        return max(larger, key=Fraction, default=None)

    @property
    def compared(self) -> str:
        """The name of the trial that `rows` compare with the baseline."""
        if self.nearest is not None:
            return f"trial {self.nearest.trial}"
        is_winner = not (self.picked or self.online or self.status in ("no gain", "loss"))
        return "winner" if is_winner else f"trial {self.trial}"


def claim_of(view: StudyView) -> Claim:
    """Decide what may be claimed about a study."""
    verification = view.verification
    verdict = verification.verdict if verification else None
    status, rows = _status(view, verdict), compare(view)
    checks = [check for row in rows for check in row.limits]
    failed, failed_trial = ((), None) if status == "no search" else _failed(view, checks)
    alternative = _within_limits(view, status, failed)
    nearest = _alternative(view, view.nearest)
    objective = None if verdict is None or verdict.objective == UNKNOWN else verdict.objective
    value = objective.median if objective else _unverified_value(view, verdict)
    best, online = view.best_trial, view.online
    other = _other(alternative, nearest, failed, view)
    return Claim(
        view=view,
        study=view.name,
        engine=view.engine,
        objective_name=view.objective.name,
        objectives=len(view.objective.goals),
        status=status,
        reasons=tuple(_reasons(verdict)) if verdict else (),
        trial=_number(view),
        picked=view.picked,
        searched=len(view.tried),
        no_search=view.no_search,
        scale=verification.scale if verification else view.scale,
        search_scale=view.scale,
        simulated=view.is_simulated,
        unverified_at_full_scale=_has_file(view) and view.unverified_at_full_scale,
        assertions_enabled=view.assertions_enabled,
        engine_version=view.engine_version,
        origin=view.origin,
        objective=objective,
        value=value,
        fitness=None if value is None else view.objective.fitness(value),
        all_rows=rows,
        failed=failed,
        failed_trial=failed_trial,
        undecided=_undecided(checks) if best else (),
        price=price_of(verdict),
        alternative=alternative,
        nearest=nearest,
        unfinished=view.is_interrupted,
        planned=view.planned,
        others=tuple(_others(view)),
        front=len(view.front) if view.objective.pareto else 0,
        disturbed_runs=view.kept_disturbed,
        changes=view.changes or (online.kept if online else ()),
        online=online,
        not_deployable=best.not_deployable if best else (),
        steps=next_steps(view, status, failed=_can_be_accepted(failed), other=other),
        undo=_undo(view, status),
        memory=view.memory,
        assumed_cache_bytes=view.assumed_cache_bytes,
        all_sizes_scale=view.all_sizes_scale,
        simplification=view.simplification,
        trades=view.trades,
        verdict=verdict,
        disturbed_of=verification.disturbed if verification else None,
        own_base=view.own_base,
        rehearsal=view.rehearsal,
        pace=view.shown_pace,
        behind_s=next((row.winner for row in rows if row.metric.name == "behind_s"), None),
        blurred=view.blurred,
    )


def _within_limits(
    view: StudyView, status: Status, failed: Sequence[LimitCheck]
) -> Alternative | None:
    """Return the best config that keeps all limits; None if nobody needs to know it."""
    settled = status in GAINS or status == "no search" or (status == "not verified" and not failed)
    return None if settled else _alternative(view, view.best_within_limits)


def _has_file(view: StudyView) -> bool:
    """Return True if the study has a file to deploy."""
    return view.best_trial is not None or bool(view.online and view.online.kept)


def _number(view: StudyView) -> int | None:
    """Return the trial that the claim is about: the winner, or the last change that was kept."""
    if view.best_trial is not None:
        return view.best_trial.number
    return None if view.online is None else view.online.trial


def _undo(view: StudyView, status: Status) -> str | None:
    """Return the command that writes the baseline's values, if the study has a file to deploy."""
    if status not in GAINS and not (view.online and view.online.kept):
        return None
    undo = export_command(view.name, view.engine, trial=_picked(view), back=True)
    return undo + view.home_flag


def _status(view: StudyView, verdict: Verdict | None) -> Status:
    if verdict is not None:
        if verdict.claim == "gain" and view.rehearsal is not None and not view.rehearsal.passed:
            return "cannot be deployed"
        worse = verdict.objective != UNKNOWN and verdict.objective.low > 1
        if worse or verdict.claim == "no gain":
            return "loss" if worse else "no gain"
        return "gain with a price" if price_of(verdict) else "gain"
    if view.best_trial is not None:
        return "not verified"
    if view.no_search is not None:
        return "no search"
    measured = view.base is not None and any(trial.value is not None for trial in view.searched)
    return "nothing found" if measured or _all_failed(view) else "not measured"


def _all_failed(view: StudyView) -> bool:
    """Return True if trials ran, but none can be compared with the baseline."""
    return view.base is not None and bool(view.searched)


def _reasons(verdict: Verdict) -> Iterator[Reason]:
    """Yield the reasons for no gain."""
    if verdict.claim == "gain":
        return
    states = {check.state for check in verdict.limits if check.forbids_gain}
    reasons: dict[State, Reason] = {
        "broken": "constraint broken",
        "unknown": "constraint unknown",
        "undecided": "constraint undecided",
    }
    yield from (reason for state, reason in reasons.items() if state in states)
    if verdict.lost_goals or verdict.objective.low > 1:
        yield "objective worse"
    if verdict.objective == UNKNOWN:
        yield "objective unknown"
    elif verdict.objective.low <= 1 <= verdict.objective.high:
        yield "chance"


def _unverified_value(view: StudyView, verdict: Verdict | None) -> float | None:
    """The winner's objective in the search, where no verification has replaced it."""
    best = view.best_trial
    if verdict is not None or best is None:
        return None
    base = median_metrics(view.base_runs)
    if view.best_metrics and not any(
        name not in run for name in view.objective.metrics for run in (view.best_metrics, base)
    ):
        return view.objective.value(view.best_metrics, base)
    return best.judged


def _failed(
    view: StudyView, checks: Sequence[LimitCheck]
) -> tuple[tuple[LimitCheck, ...], int | None]:
    """The limits that the winner does not keep; without a winner, the nearest trial."""
    compared = view.nearest or view.best_trial
    failed = tuple(check for check in checks if check.forbids_gain)
    return failed, compared.number if compared and failed else None


def _can_be_accepted(failed: Sequence[LimitCheck]) -> bool:
    """Return whether other limits would accept a trial: not if it cannot keep the rate."""
    return bool(failed) and all(check.limit.metric != OVERLOAD for check in failed)


def _undecided(checks: Sequence[LimitCheck]) -> tuple[LimitCheck, ...]:
    """The undecided limits on which neither a gain nor a loss depends."""
    return tuple(c for c in checks if c.state == "undecided" and not c.forbids_gain)


def _alternative(view: StudyView, found: TrialView | None) -> Alternative | None:
    if found is None or found.value is None:
        return None
    runs = sum(
        trial.config == found.config and trial.value is not None
        for trial in view.trials
        if trial.role in (Role.TRIAL, Role.REPEAT)
    )
    verified = found.number in view.verified
    return Alternative(found.number, found.value, runs, verified, found.changes)


def _other(
    alternative: Alternative | None,
    nearest: Alternative | None,
    failed: tuple[LimitCheck, ...],
    view: StudyView,
) -> int | None:
    """The number of a trial that promises a gain, is not the winner and breaks no limit."""
    if nearest is not None:
        hopeful = not nearest.verified and all(check.state == "undecided" for check in failed)
        return nearest.trial if hopeful else None
    best = view.best_trial
    if alternative is None or alternative.ratio >= 1 or alternative.verified or view.picked:
        return None
    return None if best and best.number == alternative.trial else alternative.trial


def _picked(view: StudyView) -> int | None:
    return view.best_trial.number if view.picked and view.best_trial else None


def _others(view: StudyView) -> Iterator[Scaled]:
    for found in view.verifications:
        if found is not view.verification:
            objective = None if found.verdict.objective == UNKNOWN else found.verdict.objective
            yield Scaled(found.scale, found.verdict.claim, objective, found.rate)
