"""Measure the winner of a study against its baseline in new pairs of runs."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import check_searches
from lsmtune.api.consent import Consent, ask_for_home, nobody_to_ask
from lsmtune.api.export import files_of
from lsmtune.api.on_hosts import OnHosts, opened_hosts
from lsmtune.api.results import Finished, write_results
from lsmtune.api.study_result import result_of
from lsmtune.errors import Argument, Message, UserError
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.study.host_checks import check_space, remark_busy
from lsmtune.study.opening import Prepared, open_session, prepare
from lsmtune.study.rehearse import rehearse
from lsmtune.study.session import Session
from lsmtune.study.verify import SPARE, VerificationPlan, chosen, verification_plan, workload_at
from lsmtune.study.verify import verify as run_verification
from lsmtune.system.host import free_bytes
from lsmtune.units import format_bytes, format_duration, parse_rate, parse_scale
from lsmtune.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What to verify. None: the winner, the study's scale, its records, as many pairs as needed.

    At another scale, the number of records grows with the tree. `rate` is another rate of a running
    store: a number of operations per second.
    """

    study: str
    trial: int | None = None
    scale: str | None = None
    num: int | None = None
    pairs: int | None = None
    rate: str | None = None


def verify(
    asked: Verification,
    home: Path,
    observer: Observer | None = None,
    *,
    consent: Consent = nobody_to_ask,
    accept_noise: bool = False,
    hosts: OnHosts | None = None,
) -> Finished:
    """Run the pairs that are missing; an interrupted verification continues.

    With `accept_noise`, runs that other programs disturb are marked and not repeated. With `hosts`,
    pairs go to them. UserError if there is no such study or no winner, or if the disk may be too
    small.
    """
    observer = observer or Observer()
    with Home(home, create=False) as opened:
        prepared, scale, workload, rate = _prepared(opened, asked, observer, consent)
        with (
            opened_hosts(hosts, prepared.engine, observer) as used,
            open_session(
                opened, prepared, observer, accept_noise=accept_noise, hosts=used
            ) as study,
        ):
            plan = _plan(study, asked, scale, workload, rate)
            if used is None:
                remark_busy(study.spec, observer, accept_noise=accept_noise)
                _check_disk(plan, study.spec, opened)
            if scale != study.spec.scale:
                observer.remark(plan_text(plan, scale))
            run_verification(study, scale, workload, asked.trial, asked.pairs, rate=rate)
            _rehearse(study, asked.trial, observer)
        result = result_of(opened, study.record, asked.trial)
        winner = result if asked.trial is None else result_of(opened, study.record)
        return Finished(result, write_results(opened, winner, observer))


def _rehearse(study: Session, trial: int | None, observer: Observer) -> None:
    """Rehearse the files of the verified trial if its gain is proven."""
    number = chosen(study, trial).number
    if number in study.history.proven:
        rehearse(study, number, lambda opened: files_of(opened, trial), observer)


def plan_verification(
    asked: Verification,
    home: Path,
    observer: Observer | None = None,
    *,
    consent: Consent = nobody_to_ask,
) -> tuple[VerificationPlan, str]:
    """Return what `verify` would run, and at which scale; the engine reports only its options."""
    observer = observer or Observer()
    with Home(home, create=False) as opened:
        prepared, scale, workload, rate = _prepared(opened, asked, observer, consent)
        with open_session(opened, prepared, observer) as study:
            return _plan(study, asked, scale, workload, rate), scale


def _prepared(
    home: Home, asked: Verification, observer: Observer, consent: Consent
) -> tuple[Prepared, str, Workload, float | None]:
    """Return the study, ready to be opened; scale, workload and other rate of the verification."""
    stored = home.study(asked.study)
    spec = stored.settings
    check_searches(spec)
    scale = str(parse_scale(asked.scale or spec.scale, Message(Argument("scale"))))
    workload = _workload_of(stored, scale, asked.num)
    rate = _other_rate(stored, asked)
    ask_for_home(home.path, spec.model_dump(), consent)
    return prepare(spec, home.path, observer), scale, workload, rate


def _plan(
    study: Session, asked: Verification, scale: str, workload: Workload, rate: float | None
) -> VerificationPlan:
    trial = chosen(study, asked.trial)
    return verification_plan(study, trial, scale, workload, asked.pairs, rate=rate)


def _other_rate(stored: StoredStudy, asked: Verification) -> float | None:
    """Return the rate of a verification; None for that of the study."""
    if asked.rate is None:
        return None
    where = Argument("rate", asked.rate)
    if not stored.settings.is_running:
        raise UserError(
            where,
            f": not allowed, because study {stored.name!r} fills its stores as fast as possible; "
            "remove it",
        )
    rate, is_share = parse_rate(asked.rate, where)
    if is_share:
        raise UserError(where, ": use a number of operations per second, e.g. 5000")
    return None if rate == stored.rate else rate


def _workload_of(study: StoredStudy, scale: str, num: int | None) -> Workload:
    """Return the workload at a scale, with the number of records that the user gave."""
    spec = study.settings
    load = spec.workload if num is not None else workload_at(spec, Fraction(scale))
    table = load.model_dump() | ({"num": num} if num is not None else {})
    asked = {**study.spec, "workload": table, "scale": scale}
    return make_spec(asked, "lsmtune verify", {"workload.num": "--num"}).workload


def _check_disk(plan: VerificationPlan, spec: StudySettings, home: Home) -> None:
    """Raise UserError if the disk may be too small for the runs."""
    needed, free = plan.needed_bytes, free_bytes(home.path)
    if needed is None:
        check_space(spec.model_copy(update={"workload": plan.workload}), home)
    elif free < needed:
        raise UserError(
            Argument("home", home.path),
            f": the disk has {format_bytes(free)} free, but a run may need "
            f"{format_bytes(needed)} ({SPARE} times the expected peak); free space, or use a "
            "smaller ",
            Argument("scale"),
            " or ",
            Argument("num"),
        )


def plan_text(plan: VerificationPlan, scale: str) -> str:
    """Return what is left of a verification, in one sentence."""
    fewest, most = plan.runs
    load = plan.workload
    records = f" with {load.num:,} records" if load.definition.has("num") else ""
    start = f"verification at scale {scale}{records}: "
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
