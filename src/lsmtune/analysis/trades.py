"""What a default limit costs: better configs that break exactly one."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

from lsmtune.analysis.constraints import Constraint, checked
from lsmtune.objective import Objective
from lsmtune.study.history import History
from lsmtune.study.ranking import LEAST_PROBABILITY, Candidate, Scorer

_MOST = 3
_ERRORS = 2
"""A better config is better by at least this number of standard errors."""


@dataclass(frozen=True, slots=True)
class Trade:
    """A config of the search that is better than the winner, and breaks one default limit.

    `value` is its objective / baseline over `runs` runs, and `ratios` have it for each metric of
    the objective. `check` is the limit.
    """

    trial: int
    runs: int
    value: float
    ratios: Mapping[str, float]
    check: Constraint


def trades(history: History, winner: Candidate | None) -> tuple[Trade, ...]:
    """Return at most three such configs, each for another limit, the best first.

    Without a winner, they are better than the baseline. A config that was verified is left out:
    its verification says more.
    """
    objective = history.objective
    if objective.pareto or not objective.is_cautious:
        return ()
    scorer, verdicts, found = history.scorer, history.verdicts, dict[str, Trade]()
    value, runs = (1.0, len(scorer.base_runs)) if winner is None else (winner.value, winner.runs)
    for candidate in history.candidates:
        error = scorer.value_deviation * sqrt(1 / candidate.runs + 1 / runs)
        if log(candidate.value) > log(value) - _ERRORS * error:
            continue
        broken = None if candidate.trial.number in verdicts else _only_broken(scorer, candidate)
        if broken is not None:
            found.setdefault(str(broken.limit), _trade(scorer, candidate, objective, broken))
    return tuple(found.values())[:_MOST]


def _only_broken(scorer: Scorer, candidate: Candidate) -> Constraint | None:
    """Return the one default limit that the candidate probably breaks, if it keeps the others."""
    chances = scorer.kept_each(candidate)
    broken = [place for place, chance in enumerate(chances) if chance <= 1 - LEAST_PROBABILITY]
    if len(broken) != 1 or not scorer.limits[broken[0]].default:
        return None
    others = 1.0
    for place, chance in enumerate(chances):
        others *= chance if place != broken[0] else 1.0
    return checked(scorer.checks(candidate)[broken[0]]) if others >= LEAST_PROBABILITY else None


def _trade(scorer: Scorer, candidate: Candidate, objective: Objective, broken: Constraint) -> Trade:
    ratios = {
        name: candidate.metrics[name] / scorer.base[name]
        for name in objective.metrics
        if scorer.base[name] > 0
    }
    return Trade(candidate.trial.number, candidate.runs, candidate.value, ratios, broken)
