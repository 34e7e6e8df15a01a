"""The time of a study, from the times of runs that were measured on this machine."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import median

from lsmtune.engines.base import EngineFacts
from lsmtune.errors import UserError
from lsmtune.spec import MIN_PAIRS, StudySettings
from lsmtune.store.database import is_home
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy, complete_trials
from lsmtune.study.fewest_changes import EFFORT
from lsmtune.study.same_system import check_same_system
from lsmtune.study.search import GROUPS_OF_FINALISTS
from lsmtune.study.stopping import fewest_trials
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.trials import Role
from lsmtune.units import format_duration
from lsmtune.workloads import Workload

_WRITES_S = 40_000
"""Writes per second of a turn-over, before a run has measured them."""


@dataclass(frozen=True, slots=True)
class RunTime:
    """The expected time of a run, from the runs of a study; `study` None: from its steps alone.

    `records` is the number of records of that study; None if its workload has no such parameter.
    """

    run_s: float
    study: str | None = None
    records: int | None = None


def runs(spec: StudySettings, knobs: int) -> tuple[int, int | None]:
    """Return the minimum and maximum number of runs; no maximum (None) without a trial limit."""
    base = spec.base_runs + (spec.is_running and spec.given_rate[1])  # one finds the rate
    finals = GROUPS_OF_FINALISTS * spec.finalists * spec.repeats
    verified = 2 * 2 * max(spec.pairs, spec.max_pairs) if spec.pairs else 0
    if spec.simplify:
        finals += EFFORT[spec.measure].raw + EFFORT[spec.measure].most
        verified += MIN_PAIRS if spec.pairs else 0
    least = _fewest_trials(spec, knobs)
    if spec.trials is None:
        return base + least + 2 * spec.pairs, None
    fewest = base + min(spec.trials, least) + 2 * spec.pairs
    return fewest, base + spec.trials + finals + verified


def _fewest_trials(spec: StudySettings, knobs: int) -> int:
    if spec.until is None:
        return spec.trials or 1
    return spec.until if isinstance(spec.until, int) else fewest_trials(knobs)


def expected_run_time(spec: StudySettings, folder: Path, facts: EngineFacts) -> RunTime | None:
    """Return the expected time of a run: from similar runs on this machine, else from its steps.

    None if neither tells it. UserError if lsmtune cannot use the home.
    """
    found = _measured_run_time(spec, folder, facts)
    if found is not None or not spec.is_running:
        return found
    return RunTime(spec.workload.num / _WRITES_S + spec.clocked_s)


def _measured_run_time(spec: StudySettings, folder: Path, facts: EngineFacts) -> RunTime | None:
    """Return the expected time of a run, or None if no similar study ran on this machine.

    A similar study has the same engine, workload and scale. Among several, the study with the most
    similar amount of data is used, and its time is multiplied by the ratio of the amounts.
    UserError if lsmtune cannot use the home.
    """
    if not is_home(folder):
        return None
    wanted = _amount(spec.workload)
    with Home(folder, create=False) as home:
        found = [
            (abs(log(wanted / _amount(study.settings.workload))), study.name != spec.name, study)
            for study in _similar(home, spec, facts)
        ]
        for _, _, study in sorted(found, key=lambda one: one[:2]):
            searched = (Role.BASE, Role.TRIAL, Role.REPEAT)
            trials = home.trials(study)
            times = [run.duration_s for role in searched for run in complete_trials(trials, role)]
            if times:
                load = study.settings.workload
                records = load.num if load.definition.has("num") else None
                fixed_s = study.settings.clocked_s
                grown_s = max(median(times) - fixed_s, 0.0) * wanted / _amount(load)
                return RunTime(grown_s + spec.clocked_s, study.name, records)
    return None


def _similar(home: Home, spec: StudySettings, facts: EngineFacts) -> Iterator[StoredStudy]:
    """Yield the studies of the home whose runs take a similar time."""
    host, storage = describe_host(), describe_storage(home.path)
    for name in home.study_names():
        with suppress(UserError):  # another engine or machine, or a damaged study
            study = home.study(name)
            there = study.settings
            same_load = all(
                getattr(there.workload, key) == getattr(spec.workload, key)
                for key in ("name", "threads", "duration_s")
            )
            wanted = spec.engine, spec.scale, spec.measure
            if same_load and (there.engine, there.scale, there.measure) == wanted:
                check_same_system(study, spec, facts, host, storage)
                yield study


def _amount(load: Workload) -> int:
    """Return the bytes that the clients write and read, at least 1."""
    reads = 0 if load.kind == "write" else (load.client_operations or 0) * load.threads
    return max(load.user_bytes + reads * load.record_bytes, 1)


def duration_s(
    spec: StudySettings, knobs: int, run: RunTime | None
) -> tuple[float | None, float | None]:
    """Estimate the minimum and maximum time of the study; None where it is unknown."""
    if run is None:
        return None, None
    return _total_s(spec, runs(spec, knobs), run.run_s)


def _total_s(
    spec: StudySettings, numbers: tuple[int, int | None], run_s: float
) -> tuple[float, float | None]:
    """Return the time of the fewest and the most runs, and of the stores that are built for them.

    Runs of one seed share a store: those of a search, those of a repeat, and those of a pair.
    """
    fewest, most = numbers
    if not spec.is_running:
        return fewest * run_s, None if most is None else most * run_s
    build_s = 2 * spec.workload.num / _WRITES_S
    stores = spec.base_runs + spec.pairs
    later = spec.repeats + EFFORT["running"].most + 2 * max(spec.pairs, spec.max_pairs)
    shortest = fewest * run_s + stores * build_s
    longest = None if most is None else most * run_s + (spec.base_runs + later) * build_s
    return shortest, longest


def rest_text(spec: StudySettings, knobs: int, run_s: float) -> str:
    """Return how long the rest of a study takes after its first run, which took so long."""
    before, after = runs(spec, knobs)
    fewest, most = before - 1, None if after is None else after - 1
    shortest, longest = _times(_total_s(spec, (fewest, most), run_s))
    first = f"the first run took {format_duration(run_s)}"
    if longest is None:
        return f"{first}; the rest takes at least {shortest} ({fewest} runs)"
    if most == fewest:
        return f"{first}; the rest takes about {shortest} ({fewest} runs)"
    return f"{first}; the rest takes about {shortest} to {longest} ({fewest} to {most} runs)"


def _times(seconds: tuple[float, float | None]) -> tuple[str, str | None]:
    shortest, longest = seconds
    return format_duration(shortest), None if longest is None else format_duration(longest)


def time_text(spec: StudySettings, knobs: int, run: RunTime | None) -> str:
    """Return the number of runs and, if it is known, their time."""
    fewest, most = runs(spec, knobs)
    number = f"{fewest} runs" if most == fewest else f"{fewest} to {most} runs"
    if most is None:
        number = f"at least {fewest} runs"
    if run is None:
        return f"{number}; the time of a run is unknown until the first run"
    shortest, longest = _times(_total_s(spec, (fewest, most), run.run_s))
    time = f"at least {shortest}" if longest is None else f"about {shortest} to {longest}"
    text = f"{time}: {number} of about {format_duration(run.run_s)}"
    if run.study is None:
        return f"{text} (estimate)"
    records = "" if run.records is None else f" with {run.records:,} records"
    return f"{text}, as measured in study {run.study}{records}"
