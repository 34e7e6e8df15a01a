"""The claim of a study: one record of what may be said about its result.

`claim_of` decides. The terminal, the page and the exported files only print the record.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from lsmtune.analysis.deploy import export_command
from lsmtune.analysis.metric_rows import MetricRow, compare
from lsmtune.analysis.steps import Step, next_steps
from lsmtune.analysis.study_view import Change, StudyView, TrialView, VerificationView
from lsmtune.analysis.trades import Cost, costs_of, price_of
from lsmtune.knobs.types import Value
from lsmtune.limits import OVERLOAD
from lsmtune.stats import Interval
from lsmtune.trials import Role
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

    @property
    def changed(self) -> dict[str, Value]:
        """The values of its config that differ from the baseline."""
        return {change.knob.name: change.best for change in self.changes}


@dataclass(frozen=True, repr=False)
class Claim:
    """Everything that may be said about the result of a study, decided from its `view`.

    `view` has what was asked for and measured: `name`, `engine`, `objective`, `trials`,
    `verification`, `memory`, `simplification`, `trades`, `rehearsal` and more. `all_rows` have each
    metric of the winner, or without one of the trial that came nearest, and of the baseline.
    """

    view: StudyView
    all_rows: tuple[MetricRow, ...]

    def __repr__(self) -> str:
        """Return study and status; all fields would be pages of text."""
        return f"<lsmtune.Claim of study {self.view.name!r}: {self.status}>"

    @property
    def verdict(self) -> Verdict | None:
        """What the pairs of runs of the winner say; None without verification."""
        return self.view.verification.verdict if self.view.verification else None

    @cached_property
    def status(self) -> Status:
        """What is claimed."""
        view, verdict = self.view, self.verdict
        if verdict is not None:
            if verdict.claim == "gain" and view.rehearsal is not None and not view.rehearsal.passed:
                return "cannot be deployed"
            worse = verdict.objective != UNKNOWN and verdict.objective.low > 1
            if worse or verdict.claim == "no gain":
                return "loss" if worse else "no gain"
            return "gain with a price" if self.price else "gain"
        if view.best_trial is not None:
            return "not verified"
        if view.no_search is not None:
            return "no search"
        # Without values, trials that ran show that none can be compared with the baseline.
        measured = view.base is not None and bool(view.searched)
        return "nothing found" if measured else "not measured"

    @property
    def gain(self) -> bool:
        """True if a gain is claimed."""
        return self.status in GAINS

    @property
    def trial(self) -> int | None:
        """The number of the winner, or of the trial that the user picked.

        Of online tuning, the number of the last change that was kept.
        """
        if self.view.best_trial is not None:
            return self.view.best_trial.number
        return None if self.view.online is None else self.view.online.trial

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why pairs of runs show no gain."""
        return () if self.verdict is None else tuple(_reasons(self.verdict))

    @property
    def scale(self) -> str:
        """The scale of the verification, or of the search without one."""
        return self.view.verification.scale if self.view.verification else self.view.scale

    @property
    def objective(self) -> Interval | None:
        """The interval of the objective, winner / baseline; None if pairs do not give it."""
        verdict = self.verdict
        return None if verdict is None or verdict.objective == UNKNOWN else verdict.objective

    @property
    def value(self) -> float | None:
        """The objective, winner / baseline, also without verification; None if it is unknown."""
        if self.objective is not None:
            return self.objective.median
        best = self.view.best_trial
        return None if self.verdict is not None or best is None else best.judged

    @property
    def fitness(self) -> float | None:
        """The fitness of jin2022, if that is the objective."""
        return None if self.value is None else self.view.objective.fitness(self.value)

    @cached_property
    def rows(self) -> tuple[MetricRow, ...]:
        """The metrics of the objective, those with a limit, and the speed."""
        return tuple(row for row in self.all_rows if row.role not in ("main", "other"))

    @property
    def limits(self) -> tuple[LimitCheck, ...]:
        """The limits in the order of their metrics, checked on what `rows` compare."""
        return tuple(check for row in self.rows for check in row.limits)

    @property
    def failed(self) -> tuple[LimitCheck, ...]:
        """The limits that are not kept, or of the nearest trial, are not surely kept."""
        return tuple(check for check in self.limits if check.forbids_gain)

    @property
    def failed_trial(self) -> int | None:
        """The trial that does not keep the limits in `failed`."""
        compared = self.view.nearest or self.view.best_trial
        return compared.number if compared and self.failed else None

    @property
    def undecided(self) -> tuple[LimitCheck, ...]:
        """The open limits of the winner, on which neither a gain nor a loss depends."""
        checks = self.limits if self.view.best_trial else ()
        return tuple(c for c in checks if c.state == "undecided" and not c.forbids_gain)

    @cached_property
    def price(self) -> tuple[Cost, ...]:
        """The metrics without a limit that are proven much worse, the worst first."""
        return price_of(self.verdict)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """All metrics that are proven worse, the worst first."""
        return costs_of(self.verdict)

    @cached_property
    def alternative(self) -> Alternative | None:
        """The best config that keeps all limits; None if nobody needs to know it."""
        unbroken = self.status == "not verified" and not self.failed
        settled = self.gain or self.status == "no search" or unbroken
        return None if settled else self._alternative(self.view.best_within_limits)

    @cached_property
    def nearest(self) -> Alternative | None:
        """The trial that came nearest to a win, if there is no winner."""
        return self._alternative(self.view.nearest)

    def _alternative(self, found: TrialView | None) -> Alternative | None:
        if found is None or found.value is None:
            return None
        runs = sum(
            trial.config == found.config and trial.value is not None
            for trial in self.view.trials
            if trial.role in (Role.TRIAL, Role.REPEAT)
        )
        verified = found.number in self.view.verified
        return Alternative(found.number, found.value, runs, verified, found.changes)

    @property
    def others(self) -> tuple[VerificationView, ...]:
        """The verifications of the same config at other scales and rates."""
        shown = self.view.verification
        return tuple(found for found in self.view.verifications if found is not shown)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The differences between winner and baseline, or those that online tuning kept."""
        return self.view.changes or (self.view.online.kept if self.view.online else ())

    @property
    def _has_file(self) -> bool:
        """True if the study has a file to deploy, verified or not."""
        online = self.view.online
        return self.view.best_trial is not None or bool(online and online.kept)

    @property
    def unverified_at_full_scale(self) -> bool:
        """True if no pairs of runs have shown the file to deploy at full size."""
        return self._has_file and self.view.unverified_at_full_scale

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What the user can do next, the most useful step first."""
        # Other limits accept no trial that cannot keep the rate.
        accept = bool(self.failed) and all(c.limit.metric != OVERLOAD for c in self.failed)
        return next_steps(self.view, self.status, failed=accept, other=self._hopeful)

    @property
    def _hopeful(self) -> int | None:
        """The number of a trial that promises a gain, is not the winner and breaks no limit."""
        found, nearest = self.alternative, self.nearest
        if nearest is not None:
            is_open = all(check.state == "undecided" for check in self.failed)
            return nearest.trial if is_open and not nearest.verified else None
        if found is None or found.ratio >= 1 or found.verified or self.view.picked:
            return None
        return None if found.trial == self.trial else found.trial

    @property
    def undo(self) -> str | None:
        """The command that writes the baseline's values, if the study has a file to deploy."""
        view = self.view
        if not self.gain and not (view.online and view.online.kept):
            return None
        picked = self.trial if view.picked else None
        return export_command(view.name, view.engine, trial=picked, back=True) + view.home_flag

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
    def _scales_of_gains(self) -> list[str]:
        """The other scales at which a gain is verified, at the rate of the study."""
        return [o.scale for o in self.others if o.verdict.claim == "gain" and o.rate is None]

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
        larger = [s for s in gains if Fraction(s) > Fraction(self.view.scale)]
        return max(larger, key=Fraction, default=None)

    @property
    def compared(self) -> str:
        """The name of the trial that `rows` compare with the baseline."""
        if self.nearest is not None:
            return f"trial {self.nearest.trial}"
        view = self.view
        is_winner = not (view.picked or view.online or self.status in ("no gain", "loss"))
        return "winner" if is_winner else f"trial {self.trial}"


def claim_of(view: StudyView) -> Claim:
    """Decide what may be claimed about a study."""
    return Claim(view, compare(view))


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
