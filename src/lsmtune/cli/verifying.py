"""The work of `lsmtune verify`: its workload, and what it needs of time and disk."""

from fractions import Fraction
from typing import Any

from lsmtune.cli.tuning import check_space
from lsmtune.errors import UserError
from lsmtune.spec import StudySpec, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.studies.larger import SPARE, VerificationPlan, workload_at
from lsmtune.system.host import free_bytes
from lsmtune.units import format_bytes, format_duration
from lsmtune.workloads import Workload


def workload_of(study: StoredStudy, scale: str, num: int | None) -> Workload:
    """Return the workload at a scale, with the number of records that the user gave."""
    spec = study.settings
    load = spec.workload if num is not None else workload_at(spec, Fraction(scale))
    table = load.model_dump() | ({"num": num} if num is not None else {})
    asked = {**study.spec, "workload": table, "scale": scale}
    return make_spec(asked, "lsmtune verify", {"workload.num": "--num"}).workload


def check_disk(plan: VerificationPlan, spec: StudySpec, home: Home) -> None:
    """Raise UserError if the disk may be too small for the runs."""
    needed, free = plan.needed_bytes, free_bytes(home.path)
    if needed is None:
        check_space(spec.model_copy(update={"workload": plan.workload}), home)
    elif free < needed:
        raise UserError(
            f"--home {home.path}: the disk has {format_bytes(free)} free, but a run may need "
            f"{format_bytes(needed)} ({SPARE} times the expected peak); free space, or use a "
            "smaller --scale or --num"
        )


def plan_text(plan: VerificationPlan, scale: str) -> str:
    """Return what is left of a verification, in one sentence."""
    fewest, most = plan.runs
    start = f"verification at scale {scale} with {plan.workload.num:,} records: "
    if most == 0:
        return f"{start}all runs are done"
    text = start + (f"{fewest} runs" if fewest == most else f"{fewest} to {most} runs")
    if plan.seconds is not None and fewest:
        low, high = map(format_duration, plan.seconds)
        text += f"; about {low} to {high} for {fewest} runs"
    if plan.peak_bytes is not None:
        text += f"; at most about {format_bytes(plan.peak_bytes)} of disk at a time"
    return text


def plan_document(plan: VerificationPlan, scale: str) -> dict[str, Any]:
    """Return the plan as JSON."""
    return {
        "scale": scale,
        "workload": plan.workload.model_dump(),
        "runs": list(plan.runs),
        "seconds": plan.seconds and list(plan.seconds),
        "peak_bytes": plan.peak_bytes,
        "needed_bytes": plan.needed_bytes,
    }
