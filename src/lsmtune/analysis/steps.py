"""Next steps of a study, as codes with commands."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from shlex import quote
from statistics import median
from typing import Literal

from lsmtune.analysis.deploy import export_command
from lsmtune.analysis.study_view import COMPARISON, ONLINE, StudyView
from lsmtune.engine_traits import is_of_program
from lsmtune.spec import MIN_PAIRS
from lsmtune.trials import Role, Status
from lsmtune.units import parse_scale

StepKind = Literal[
    "verify", "verify_larger", "verify_full_size", "verify_other", "deploy", "run_for_real",
    "own_rate", "accept_trade",
    "search_more", "relax_constraint", "keep_baseline", "pick", "start", "start_on_hosts",
    "read_screening",
    "read_sweep",
    "read_upgrade", "read_online", "reproduce",
]  # fmt: skip


RUNS: frozenset[StepKind] = frozenset(
    {"start", "start_on_hosts", "verify", "verify_larger", "verify_full_size", "verify_other",
     "own_rate"}
)  # fmt: skip
"""Steps whose commands run the engine. They have no command if only a Python program has it."""
_QUICK_S = 600.0
"""A verification that takes longer is not the next step."""


@dataclass(frozen=True, slots=True)
class Step:
    """A thing to do next, and the command that does it, if there is one.

    `scale` is that of a verification, `seconds` is about its time, and `peak_bytes` its disk space.
    """

    kind: StepKind
    command: str | None = None
    scale: str | None = None
    seconds: float | None = None
    peak_bytes: int | None = None


def next_steps(
    view: StudyView, status: str, *, failed: bool, other: int | None
) -> tuple[Step, ...]:
    """Return what the user can do next, the most useful step first.

    `failed`: a limit was not kept. `other`: another trial that is worth verifying.
    """
    more = view.is_interrupted or status == "not measured"
    start: StepKind = "start_on_hosts" if view.hosts else "start"
    steps = [_reproducing(view) or Step(start, view.continuing)] if more else []
    if status != "not measured" and not (more and status == "nothing found"):
        steps += _steps(view, status, failed=failed, other=other)
    if is_of_program(view.engine):
        steps = [replace(step, command=None) if step.kind in RUNS else step for step in steps]
    return tuple(
        step if step.command is None else replace(step, command=step.command + view.home_flag)
        for step in steps
    )


def _verifying_larger(view: StudyView, flag: str) -> Step:
    """Return the verification at the largest scale that takes at most ten minutes.

    If the gain is verified at such a scale already, or none takes so little, it is the one at full
    size.
    """
    here = parse_scale(view.scale, "scale")
    done = max(parse_scale(found.scale, "scale") for found in view.at_own_rate)
    seconds = _pairs_s(view)
    scales = [Fraction(1, 2**power) for power in range(10)]
    quick = [s for s in scales if s > done and seconds and seconds * s / here <= _QUICK_S]
    scale = quick[0] if quick else Fraction(1)
    return Step(
        "verify_full_size" if scale == 1 else "verify_larger",
        f"lsmtune verify {quote(view.name)}{flag} --scale {scale}",
        scale=str(scale),
        seconds=None if seconds is None else float(seconds * scale / here),
        peak_bytes=_peak_bytes(view, scale / here),
    )


def _peak_bytes(view: StudyView, factor: Fraction) -> int | None:
    """Return about the disk space of a run with this multiple of the data."""
    runs = (*view.base_runs, *([view.best_trial.metrics] if view.best_trial else []))
    known = [run["peak_space_bytes"] for run in runs if "peak_space_bytes" in run]
    return round(max(known) * factor) if known else None


def _pairs_s(view: StudyView) -> float | None:
    """Return about the time of the pairs of a verification at the scale of the study."""
    best = view.best_trial
    measured = [t for t in view.trials if t.status is Status.COMPLETE]
    base = [t.duration_s for t in measured if t.role is Role.BASE]
    searched = (Role.TRIAL, Role.REPEAT, Role.SIMPLIFY)
    winner = [t.duration_s for t in measured if best and t.role in searched
              and t.config == best.config]  # fmt: skip
    return MIN_PAIRS * (median(base) + median(winner)) if base and winner else None


def _reading(view: StudyView) -> Step:
    """Return how to see the result of a study that does not search."""
    study = quote(view.name)
    if view.no_search == "screening":
        call = f"lsmtune.importance({view.name!r})"
        return Step(
            "read_screening", call if is_of_program(view.engine) else f"lsmtune importance {study}"
        )
    if view.no_search == COMPARISON:
        return Step("read_upgrade", view.continuing)
    if view.no_search == ONLINE:
        return Step("read_online", f"lsmtune trials {study}")
    return _reproducing(view) or Step("read_sweep")


def _reproducing(view: StudyView) -> Step | None:
    """Return the step that runs the recipe of the study again, if a recipe made the study."""
    return None if view.recipe is None else Step("reproduce", f"lsmtune reproduce {view.recipe}")


def _verifying(view: StudyView, trial: int) -> Step:
    return Step("verify_other", f"lsmtune verify {quote(view.name)} --trial {trial}")


def _lacks_own_rate(view: StudyView) -> bool:
    """Return whether nothing was measured at a rate that the user gave."""
    if view.shown_pace is None or view.shown_pace.given:
        return False
    return all(found.rate is None for found in view.verifications)


def _after_nothing(view: StudyView, *, failed: bool, other: int | None) -> Step:
    """Return the one step that helps most after a search without a winner."""
    if other is not None:
        return _verifying(view, other)
    if failed:
        return Step("relax_constraint")
    return Step("search_more" if view.recipe is None else "keep_baseline")


def _after_no_gain(view: StudyView, *, failed: bool, other: int | None) -> Iterator[Step]:
    """Yield what helps after a verification without a gain.

    If a default limit is all that is in the way, accepting it comes first.
    """
    verdict = view.verification.verdict if view.verification else None
    forbidding = [check for check in verdict.limits if check.forbids_gain] if verdict else []
    is_trade = verdict is not None and verdict.objective.high < 1 and len(forbidding) == 1
    accepted = is_trade and forbidding[0].default
    if accepted:
        yield Step("relax_constraint")
    yield Step("keep_baseline")
    if other is not None:
        yield _verifying(view, other)
    if view.recipe is None:
        yield Step("search_more")
    if failed and not accepted:
        yield Step("relax_constraint")


def _steps(view: StudyView, status: str, *, failed: bool, other: int | None) -> Iterator[Step]:
    study = quote(view.name)
    best = view.best_trial
    picked = best.number if view.picked and best else None
    flag = "" if picked is None else f" --trial {picked}"
    if status == "no search":
        if view.online is not None and view.online.kept:
            yield Step("deploy", export_command(view.name, view.engine))
        yield _reading(view)
    elif status == "not verified":
        yield Step("verify", f"lsmtune verify {study}{flag}")
    elif status in ("gain", "gain with a price"):
        if view.is_simulated:
            yield Step("run_for_real")
        elif view.unverified_at_full_scale:
            yield _verifying_larger(view, flag)
        yield Step("deploy", export_command(view.name, view.engine, trial=picked))
        if _lacks_own_rate(view):
            yield Step("own_rate", f"lsmtune verify {study}{flag} --rate R")
    elif status == "nothing found" and view.trades:
        yield Step("accept_trade")
        yield Step("keep_baseline")
    elif status == "nothing found":
        yield _after_nothing(view, failed=failed, other=other)
    else:
        yield from _after_no_gain(view, failed=failed, other=other)
    if len(view.front) > 1 and not view.picked:
        yield Step("pick", export_command(view.name, view.engine, to_file=False, trial="N"))
