"""The windows of a run of the baseline and of a run of the winner."""

from collections.abc import Iterator
from dataclasses import dataclass

from lsmtune.metrics.measurement import Moment
from lsmtune.store.records import StoredTrial, complete_trials, paired_runs
from lsmtune.study.history import History
from lsmtune.study.ranking import Candidate
from lsmtune.trials import Role

_OWN_RUNS = (Role.TRIAL, Role.REPEAT, Role.SIMPLIFY)


@dataclass(frozen=True, slots=True)
class Windows:
    """Course of the window of one run of each side; `is_pair`: both runs are of one pair."""

    base: tuple[Moment, ...]
    best: tuple[Moment, ...]
    is_pair: bool


def windows_of(history: History, best: Candidate | None) -> Windows | None:
    """Return the windows of the newest pair at the study's rate, else of the newest runs.

    None without a winner, and if the runs have no window.
    """
    for base, winner, is_pair in () if best is None else _runs(history, best):
        found = Windows(_window(base), _window(winner), is_pair)
        if found.base and found.best:
            return found
    return None


def _runs(history: History, best: Candidate) -> Iterator[tuple[StoredTrial, StoredTrial, bool]]:
    """Yield runs of baseline and winner: the newest pair first, the runs of the search last."""
    at_own_rate = [found for found in history.verifications if found.rate is None]
    for verification in reversed(at_own_rate):
        if (role := verification.role_of(best.trial.number)) is not None:
            runs = history.runs_of_verification(verification)
            for winner, base in reversed(paired_runs(runs, verification, role)):
                yield base, winner, True
    own = [run for role in _OWN_RUNS for run in complete_trials(history.runs, role)
           if run.config == best.trial.config]  # fmt: skip
    if history.complete_base and own:
        yield history.complete_base[-1], max(own, key=lambda run: run.number), False


def _window(run: StoredTrial) -> tuple[Moment, ...]:
    found = run.result.measurement
    moments = () if found is None else found.window
    return moments if moments and moments[-1].second > 0 else ()
