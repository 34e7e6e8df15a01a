"""What there is to see in a study: the data of each picture and table, and the finding in words.

A `title` states the finding, `see` is the one sentence that says how to read the picture.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.study_view import Change, StudyView, TrialView
from lsmtune.knobs.types import Value
from lsmtune.metrics.definitions import METRICS
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.report.words import Ratio, counted, knob_value, listed, number, quantity
from lsmtune.trials import Role, Status


@dataclass(frozen=True, slots=True)
class OptionRow:
    """A changed option: values in words, the engine's own values, and what it trades."""

    name: str
    base: str
    best: str
    raw: str | None
    apply: Literal["online", "restart"]
    trade: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options in which best differs from base."""

    title: str
    rows: tuple[OptionRow, ...]


Mark = Literal["within limits", "breaks a limit", "base again"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial with an objective value; `excess` says by how much it breaks a limit, if it does."""

    number: int
    mark: Mark
    value: float
    excess: float | None


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A trial without an objective value, and what became of it."""

    number: int
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Convergence:
    """The trials in order; `best_so_far` steps down from the base at 1."""

    title: str
    see: str
    axis: str
    measured: tuple[Measured, ...]
    unmeasured: tuple[Unmeasured, ...]
    best_so_far: tuple[tuple[int, float], ...]
    best: tuple[int, float] | None
    verified: Ratio | None


@dataclass(frozen=True, slots=True)
class LevelBar:
    """Bytes of one level in base and in best; None where the engine does not state them."""

    level: str
    base: int | None
    best: int | None


@dataclass(frozen=True, slots=True)
class Levels:
    """One quantity of the levels of base and best, from the top of the tree down."""

    title: str
    see: str
    bars: tuple[LevelBar, ...]


@dataclass(frozen=True, slots=True)
class Stalls:
    """How often writes stalled in base and in best, by cause as the engine names it."""

    title: str
    see: str
    rows: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class FailedTrial:
    """A trial that gave no comparable measurement, and how it differed from the base."""

    number: int
    role: str
    status: str
    meaning: str
    reason: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failures:
    """All trials that gave no comparable measurement."""

    title: str
    rows: tuple[FailedTrial, ...]


ROLES = {
    Role.BASE: "base",
    Role.TRIAL: "trial",
    Role.VERIFY_BASE: "verification of base",
    Role.VERIFY_BEST: "verification of best",
}


def options(view: StudyView) -> Options:
    """The options that changed, in the order of the view."""
    restarts = sum(change.knob.apply == "restart" for change in view.changes)
    how = f"{restarts or 'none'} of them {'needs' if restarts == 1 else 'need'} a restart"
    changed = f"{counted(len(view.changes), 'option')} changed, {how}"
    return Options(
        title=changed if view.changes else "No option changed",
        rows=tuple(_option_row(change) for change in view.changes),
    )


def _option_row(change: Change) -> OptionRow:
    knob, values = change.knob, (change.base, change.best)
    base, best = (knob_value(knob, value) for value in values)
    plain = all(text.split(" ")[0] == f"{value}" for text, value in zip((base, best), values))
    raw = None if plain else " → ".join(_raw(value) for value in values)
    return OptionRow(knob.name, base, best, raw, knob.apply, knob.trade)


def _raw(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def convergence(view: StudyView) -> Convergence:
    """How the search went: a mark for each trial of the optimizer and each run of the base."""
    best = view.best_trial
    verdict = view.verification.verdict if view.verification else None
    return Convergence(
        title=_convergence_title(view),
        see=_convergence_see(view),
        axis=_objective_axis(view),
        measured=tuple(_measured(view.trials)),
        unmeasured=tuple(_unmeasured(view.searched)),
        best_so_far=tuple(_best_so_far(view.searched)),
        best=(best.number, best.value) if best and best.value is not None else None,
        verified=Ratio.of(verdict.objective) if verdict else None,
    )


def _measured(trials: Sequence[TrialView]) -> Iterator[Measured]:
    for trial in trials:
        if trial.value is None or trial.status is not Status.COMPLETE:
            continue
        if trial.role is Role.BASE:
            yield Measured(trial.number, "base again", trial.value, None)
        elif trial.role is Role.TRIAL and trial.feasible:
            yield Measured(trial.number, "within limits", trial.value, None)
        elif trial.role is Role.TRIAL:
            yield Measured(trial.number, "breaks a limit", trial.value, trial.violation)


def _unmeasured(trials: Sequence[TrialView]) -> Iterator[Unmeasured]:
    for trial in trials:
        if trial.status is not Status.COMPLETE:
            yield Unmeasured(trial.number, status_text(trial.status), trial.reason or "")
        elif trial.value is None:
            yield Unmeasured(trial.number, "no value", "a metric of the objective is missing")


def _best_so_far(trials: Sequence[TrialView]) -> Iterator[tuple[int, float]]:
    lowest = 1.0
    for trial in trials:
        if trial.feasible and trial.value is not None and trial.status is Status.COMPLETE:
            lowest = min(lowest, trial.value)
        yield trial.number, lowest


def _convergence_title(view: StudyView) -> str:
    trials, best = counted(len(view.searched), "trial"), view.best_trial
    if not view.searched:
        return "No trial has been run yet"
    if best is None or best.value is None:
        return f"None of {trials} kept every limit and was measured"
    if best.value >= 1:
        return f"None of {trials} within the limits came below the base"
    return f"Trial {best.number} came lowest of {trials}: {number(best.value)} × the base"


def _convergence_see(view: StudyView) -> str:
    text = (
        "Each mark is one trial, lower is better and 1 is the base; the line is the best so far "
        "within the limits"
    )
    if any(trial.status is not Status.COMPLETE for trial in view.searched):
        text += ", and trials without a result stand in the rows on top"
    if view.verification:
        text += ". The verified mark is what remained of the best when it was measured again"
    return f"{text}."


def _objective_axis(view: StudyView) -> str:
    metrics = view.objective.metrics
    if len(metrics) > 1:
        return "mean ratio to the base (below 1 = gain)"
    turned = METRICS[metrics[0]].better == "higher"
    ratio = f"base / {metrics[0]}" if turned else f"{metrics[0]} / base"
    return f"{ratio} (below 1 = gain)"


def levels(view: StudyView) -> tuple[Levels, ...]:
    """The size of the levels and the bytes written into them; empty without base and best."""
    if view.base is None or view.best is None:
        return ()
    base, best = _by_level(view.base), _by_level(view.best)
    used = [name for name in sorted({**base, **best}) if _in_use(base, name) or _in_use(best, name)]
    sizes, written = (
        tuple(LevelBar(n, _bytes(base, n, field), _bytes(best, n, field)) for n in used)
        for field in ("size_bytes", "write_bytes")
    )
    see = "A pair of bars a level, {}: the hatched one is base, the plain one best."
    return (
        Levels(f"Size: {_change(sizes)}", see.format("its size once settled"), sizes),
        Levels(f"Written: {_change(written)}", see.format("flushed or compacted into it"), written),
    )


def _by_level(measurement: Measurement) -> dict[str, Level]:
    return {level.level: level for level in measurement.levels}


def _in_use(levels: Mapping[str, Level], name: str) -> bool:
    level = levels.get(name)
    return level is not None and bool(level.size_bytes or level.write_bytes)


def _bytes(levels: Mapping[str, Level], name: str, field: str) -> int | None:
    level = levels.get(name)
    if level is None:
        return 0
    return level.size_bytes if field == "size_bytes" else level.write_bytes


def _change(bars: Sequence[LevelBar]) -> str:
    known = [(bar.base, bar.best) for bar in bars if bar.base is not None and bar.best is not None]
    if not known or len(known) < len(bars):
        return "not stated for every level"
    base, best = (quantity(sum(values), "bytes") for values in zip(*known, strict=True))
    return f"{base} in base, {best} in best"


def stalls(view: StudyView) -> Stalls | None:
    """The stalls of base and best, totals last; None without base and best."""
    if view.base is None or view.best is None:
        return None
    base, best = view.base.stalls, view.best.stalls
    causes = [c for c in {**base, **best} if base.get(c) or best.get(c)]
    times = [run.metrics.get("stall_s") for run in (view.base, view.best)]
    return Stalls(
        title=_stalls_title(times) if causes or any(times) else "No stalls in base or in best",
        see="How often writes were delayed or stopped, by cause as the engine names it.",
        rows=tuple(
            (cause, base.get(cause, 0), best.get(cause, 0))
            for cause in sorted(causes, key=lambda cause: cause.startswith("total"))
        ),
    )


def _stalls_title(times: Sequence[float | None]) -> str:
    base, best = (None if time is None else quantity(time, "s") for time in times)
    if base is None or best is None:
        return "Writes stalled; the time is not stated"
    return f"Writes stalled for {base} in base, {best} in best"


def failures(view: StudyView) -> Failures:
    """The trials without a comparable measurement, in the order of their start."""
    base = next((trial.config for trial in view.trials if trial.role is Role.BASE), {})
    kinds = Counter(status_text(trial.status) for trial in view.failed)
    words = listed([f"{count} {status}" for status, count in kinds.items()])
    total = counted(len(view.trials), "run")
    return Failures(
        title=f"{len(view.failed)} of {total} gave no measurement: {words}"
        if view.failed
        else f"None of {total} failed"
        if view.trials
        else "Nothing has been run yet",
        rows=tuple(_failed(trial, base) for trial in view.failed),
    )


def _failed(trial: TrialView, base: Mapping[str, Value]) -> FailedTrial:
    differing = {name: value for name, value in trial.config.items() if base.get(name) != value}
    return FailedTrial(
        number=trial.number,
        role=ROLES[trial.role],
        status=status_text(trial.status),
        meaning=trial.status.meaning,
        reason=trial.reason or "no reason was recorded",
        differences=tuple(f"{name} = {_raw(value)}" for name, value in differing.items()),
    )


def status_text(status: Status) -> str:
    """The status as a word of a sentence."""
    return status.value.replace("_", " ")
