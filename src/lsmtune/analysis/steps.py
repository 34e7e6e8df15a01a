"""Next steps of a study, as codes with commands."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from shlex import quote
from typing import Literal

from lsmtune.analysis.deploy import export_command
from lsmtune.analysis.study_view import COMPARISON, ONLINE, StudyView
from lsmtune.units import parse_scale

StepKind = Literal[
    "verify", "verify_full_size", "verify_other", "deploy", "run_for_real", "search_more",
    "relax_constraint", "keep_baseline", "pick", "start", "read_screening", "read_sweep",
    "read_upgrade", "read_online", "reproduce",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """A thing to do next, and the command that does it, if there is one."""

    kind: StepKind
    command: str | None = None


def next_steps(
    view: StudyView, status: str, *, failed: bool, other: int | None
) -> tuple[Step, ...]:
    """Return what the user can do next, the most useful step first.

    `failed`: a constraint was not kept. `other`: another trial that is worth verifying.
    """
    more = view.is_interrupted or status == "not measured"
    steps = [_reproducing(view) or Step("start", view.continuing)] if more else []
    if status != "not measured" and not (more and status == "nothing found"):
        steps += _steps(view, status, failed=failed, other=other)
    return tuple(
        step if step.command is None else replace(step, command=step.command + view.home_flag)
        for step in steps
    )


def _full_size(view: StudyView) -> str:
    """Return the flags of a verification whose data is as large as the full-size tree needs."""
    records = round(view.workload.num / parse_scale(view.scale, "scale"))
    return f" --scale 1 --num {records}"


def _reading(view: StudyView) -> Step:
    """Return how to see the result of a study that does not search."""
    study = quote(view.name)
    if view.no_search == "screening":
        return Step("read_screening", f"lsmtune importance {study}")
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


def _after_nothing(view: StudyView, *, failed: bool, other: int | None) -> Step:
    """Return the one step that helps most after a search without a winner."""
    if other is not None:
        return _verifying(view, other)
    if failed:
        return Step("relax_constraint")
    return Step("search_more" if view.recipe is None else "keep_baseline")


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
    elif status == "gain":
        if view.is_simulated:
            yield Step("run_for_real")
        elif view.unverified_at_full_scale:
            yield Step("verify_full_size", f"lsmtune verify {study}{flag}{_full_size(view)}")
        yield Step("deploy", export_command(view.name, view.engine, trial=picked))
    elif status == "nothing found":
        yield _after_nothing(view, failed=failed, other=other)
    else:
        yield Step("keep_baseline")
        if other is not None:
            yield _verifying(view, other)
        if view.recipe is None:
            yield Step("search_more")
        if failed:
            yield Step("relax_constraint")
    if len(view.front) > 1 and not view.picked:
        yield Step("pick", export_command(view.name, view.engine, to_file=False) + " --trial N")
