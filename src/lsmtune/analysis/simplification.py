"""What a simplification took back, what each change that is left brings, and the gain it keeps."""

from dataclasses import dataclass
from math import exp, log

from lsmtune.objective import Metrics
from lsmtune.stats import Interval, geometric_mean
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.history import History
from lsmtune.study.ranking import value_deviation
from lsmtune.trials import Role

_DEVIATIONS = 1.96
"""Half of a 95 % interval, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A change that is left, or changes that belong together.

    `value` is the objective / baseline without them, over `runs` runs of `trial`, with a 95 %
    interval from the noise of all repeated runs. `share` is the share of the gain that is lost
    without them; None if the gain in these runs is within their noise. Shares need not add up to 1,
    because changes can replace or need each other. `loses`: too much of the gain is lost without
    them; if not, they stayed because of the metrics whose `limits` may break without them.
    """

    names: tuple[str, ...]
    trial: int
    runs: int
    value: Interval
    share: float | None
    loses: bool
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Simplification:
    """The winner of a search with fewer changes.

    `raw` is the winner with all changes, and `simple` the trial with fewer; None if no change was
    taken back. `taken_back` are the knobs that have the baseline's value again. `value` is the
    objective / baseline with the changes that are left. `kept` is the share of the gain that is
    left, measured in pairs of runs; None before. `used`: the winner is the simple config.
    `untested` are the changes that are left without a run without them alone. `ended_early`:
    disturbed runs ended it; `command` continues it, if a command can.
    """

    raw: int
    simple: int | None
    taken_back: tuple[str, ...]
    value: float
    needed: tuple[Needed, ...]
    kept: Interval | None
    used: bool
    untested: tuple[str, ...]
    ended_early: bool
    command: str | None


def simplification_of(
    history: History, winner: int | None, command: str | None
) -> Simplification | None:
    """Return what a simplification found, if the winner is its simple config or its raw one.

    None also if nothing was tried. `command` continues a simplification.
    """
    found, objective, base = history.simplified, history.objective, history.base
    if found is None or winner is None or winner not in (found.simple, found.raw):
        return None
    by_number = {trial.number: trial for trial in history.runs}
    raw = by_number[found.raw]
    left = raw if found.simple is None else by_number[found.simple]
    tested = list(filter(history.counts, complete_trials(history.runs, Role.SIMPLIFY)))

    def values(trial: StoredTrial) -> list[float]:
        runs = [history.metrics(t) for t in tested if t.config == trial.config]
        return [objective.value(run, base) for run in runs]

    ended_early = found.ended_early is not None
    of_left = values(left)
    if not ended_early and (not of_left or (found.simple is None and not found.needed)):
        return None  # nothing could be tried
    of_left = of_left or [objective.value(history.metrics(raw), base)]
    value, tried = geometric_mean(of_left), len(of_left)
    deviation = _deviation(history)
    is_gain = log(value) < -_DEVIATIONS * deviation / tried**0.5
    needed = []
    for part in found.needed:
        runs = values(by_number[part.trial])
        middle, half = log(geometric_mean(runs)), _DEVIATIONS * deviation / len(runs) ** 0.5
        interval = Interval(*(exp(middle + away) for away in (0.0, -half, half)))
        share = 1 - middle / log(value) if is_gain else None
        without = by_number[part.trial]
        loses = history.loses_gain([t for t in tested if t.config == without.config], raw.config)
        limits = () if loses else _may_break(history, part.trial, found.raw)
        needed.append(Needed(part.names, part.trial, len(runs), interval, share, loses, limits))
    both = (v for v in reversed(history.verifications) if v.best_trial == found.simple)
    kept = next((history.kept_gain(v) for v in both if v.raw_trial == found.raw), None)
    return Simplification(
        raw=found.raw,
        simple=found.simple,
        taken_back=tuple(n for n, v in raw.config.items() if left.config[n] != v),
        value=value,
        needed=tuple(sorted(needed, key=lambda part: -part.value.median)),
        kept=kept,
        used=winner == found.simple,
        untested=tuple(
            name
            for name in left.config.differing(history.scorer.base_config or {})
            if not any(name in part.names for part in found.needed)
        ),
        ended_early=ended_early,
        command=command,
    )


def _may_break(history: History, without: int, raw: int) -> tuple[str, ...]:
    """Return the metrics of limits that a trial may break: of these, those that got worse."""
    found, before = history.candidate(without), history.candidate(raw)
    if found is None or before is None:
        return ()
    doubtful = history.scorer.doubtful(found)
    worse = tuple(
        limit.metric
        for limit in history.scorer.limits
        if limit.metric in doubtful
        and limit.ratio(found.metrics, history.base) > limit.ratio(before.metrics, history.base)
    )
    return worse or doubtful


def _deviation(history: History) -> float:
    """Return the standard deviation of the log of the objective between runs of one config."""
    tested: dict[str, list[Metrics]] = {}
    for trial in filter(history.counts, complete_trials(history.runs, Role.SIMPLIFY)):
        tested.setdefault(trial.config.hash, []).append(history.metrics(trial))
    return value_deviation([*history.repeated, *tested.values()], history.objective, history.base)
