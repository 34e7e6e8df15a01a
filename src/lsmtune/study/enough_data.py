"""Check whether a workload writes enough data to measure write amplification."""

from collections.abc import Iterable
from math import ceil, floor, log10

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import Argument, Message, UserError
from lsmtune.knobs.memory import FEWEST_FLUSHES
from lsmtune.knobs.types import Settings
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Metrics
from lsmtune.spec import StudySettings
from lsmtune.trials import LONGEST_WINDOW_S, Running
from lsmtune.workloads import READS, Records, Workload

_SPARE = 1.25
"""A sufficient number gets so much more, because flushes differ between runs."""
_NEARLY = 0.95
_FLUSHES_IN_WINDOW = 40
"""With fewer, chance decides which compactions lie in the window of a running store: with 16, the
write amplification of one config varied by 11 %, with 45 by 2 %."""
_MOST = 10**12
"""Largest number of records and of operations of a workload."""


def expected_flushes(load: Workload, flushed: float | None) -> float | None:
    """Estimate the flushes of the baseline before the first run; None if it is not known.

    `flushed` are the bytes that a flush writes, see `per_flush`.
    """
    written = load.written_bytes
    return None if written is None or flushed is None else written / flushed


def per_flush(engine: str, base: Settings) -> float | None:
    """Return the bytes of the clients that a flush of the baseline writes; None if unknown."""
    flush_bytes = ENGINES[engine].flush_bytes
    return None if flush_bytes is None else flush_bytes(base)


def _is_of_flushes(metrics: Iterable[str]) -> bool:
    """Return whether chance decides one of the metrics if few flushes ran."""
    return any(METRICS[name].needs_flushes for name in metrics)


def must_flush(load: Workload, needed: Iterable[str]) -> bool:
    """Return whether the baseline must flush often enough; `needed` are the metrics of the study.

    A workload that also reads can be tuned without write amplification. The searched memtables are
    then at most as large as those of the baseline.
    """
    if load.definition.size is None:
        return False
    return load.kind == "write" or (load.kind == "mixed" and _is_of_flushes(needed))


def study_must_flush(spec: StudySettings, needed: Iterable[str]) -> bool:
    """Return whether the baseline of a study must flush often enough.

    Some engines measure no write amplification, or have no memtables.
    """
    is_search = spec.screen is None and spec.sweep is None
    flushes = ENGINES[spec.engine].flush_bytes is not None
    return is_search and flushes and must_flush(spec.workload, needed)


def turned_over(spec: StudySettings, load: Workload) -> Workload:
    """Return the workload that flushes as often as a trial of the study.

    A trial of a running store writes each key once before it measures.
    """
    if not spec.is_running:
        return load
    sizes = {name: getattr(load, name) for name in ("num", "key_size", "value_size")}
    return Workload(name="overwrite", **sizes)


def with_enough_flushes(steps: Running, spec: StudySettings, base: Settings) -> Running:
    """Return the steps with a window in which the baseline flushes often enough, if it can be had.

    At a low rate, the usual window would have one compaction or none. The seconds before the window
    grow with it. `base` has the settings of the baseline.
    """
    flushed = per_flush(spec.engine, base)
    written_bytes_s = spec.workload.definition_of(Records).written_bytes_s(steps.rate or 0.0)
    if flushed is None or not written_bytes_s:
        return steps
    needed_s = min(LONGEST_WINDOW_S, _FLUSHES_IN_WINDOW * flushed / written_bytes_s)
    longer = max(1.0, needed_s / steps.window_s)
    times = {"calm_s": longer * steps.calm_s, "window_s": longer * steps.window_s}
    return steps.model_copy(update=times)


def check_before_run(spec: StudySettings, base: Settings, needed: Iterable[str]) -> None:
    """Raise UserError before the first run of a study if its workload surely writes too little."""
    needed = frozenset(needed)
    if study_must_flush(spec, needed):
        # A prediction reports no flushes, so the estimate is all that there is.
        is_prediction = ENGINES[spec.engine].predicts
        fewest = FEWEST_FLUSHES if is_prediction else FEWEST_FLUSHES / 2
        load = turned_over(spec, spec.workload)
        check_expected_flushes(load, per_flush(spec.engine, base), needed, fewest)


def check_base_run(
    spec: StudySettings, run: Metrics, base: Settings, needed: Iterable[str]
) -> None:
    """Raise UserError if the baseline of a study that fills stores flushed too seldom."""
    needed = frozenset(needed)
    if study_must_flush(spec, needed) and not spec.is_running:
        check_flushes(spec.workload, run, needed, per_flush(spec.engine, base))


def check_flushes(
    load: Workload, run: Metrics, needed: Iterable[str] = (), flushed: float | None = None
) -> None:
    """Raise UserError if a run of the baseline flushed too seldom for its write amplification.

    `needed` are the metrics of the study, `flushed` are the bytes that a flush writes.
    """
    flushes, needed = run.get("flushes"), frozenset(needed)
    if flushes is None or flushes >= FEWEST_FLUSHES or not must_flush(load, needed):
        return
    raise UserError(too_few(load, flushed, needed, run))


def check_expected_flushes(
    load: Workload,
    flushed: float | None,
    needed: Iterable[str],
    fewest: float = FEWEST_FLUSHES / 2,
) -> None:
    """Raise UserError before the first run if the baseline will surely flush too seldom.

    The estimate may be wrong by a factor of two.
    """
    expected, needed = expected_flushes(load, flushed), frozenset(needed)
    if expected is not None and expected < fewest and must_flush(load, needed):
        raise UserError(too_few(load, flushed, needed))


def too_few(
    load: Workload, flushed: float | None, needed: Iterable[str] = (), run: Metrics | None = None
) -> Message:
    """Return the message for too few flushes, with a sufficient number of records.

    The flushes are those of a `run` of the baseline, or the expected ones. A workload that also
    reads has another way: an objective without write amplification.
    """
    key, number = _size_of(load)
    flushes = expected_flushes(load, flushed) if run is None else run.get("flushes")
    what = "write amplification" if _is_of_flushes(needed) else "this workload"
    ways: list[str | Argument] = []
    if (enough := sufficient(load, flushed, run)) is not None:
        ways += "; ", f"use {enough} or more"
    if load.kind == "mixed":
        ways += (
            ", or " if ways else "; ",
            "choose objective and limits without write amplification, such as ",
            Argument("objective", _without_writes(load)),
        )
    return Message(
        f"{key}: {number} is too small: the baseline flushes its memtables {flushes or 0:.0f} "
        f"times, but {what} needs at least {FEWEST_FLUSHES} flushes",
        *ways,
    )


def sufficient(load: Workload, flushed: float | None, run: Metrics | None = None) -> int | None:
    """Return a number of records (operations, seconds) with which the baseline flushes enough.

    It is sufficient by the estimate, and by the flushes of the `run`. The last flush of a run ends
    the load, and its memtable need not be full. None if no number is sufficient.
    """
    number = _size_of(load)[1]
    if not (factors := _factors(load, flushed, run)):
        return None
    enough = _rounded_up(number * max(factors))
    while enough <= _MOST:
        expected = expected_flushes(_resized(load, enough), flushed)
        if expected is None or expected >= _NEARLY * _SPARE * FEWEST_FLUSHES:
            return enough
        if not expected:
            return None
        # Clients share the operations, so their number does not grow exactly with that of records.
        enough = _rounded_up(enough * _SPARE * FEWEST_FLUSHES / expected)
    return None


def _factors(load: Workload, flushed: float | None, run: Metrics | None) -> list[float]:
    """Return the factors by which the workload must become longer; none if it writes nothing."""
    expected = expected_flushes(load, flushed)
    if expected is None and run is not None:
        expected = _flushes_by_bytes(run, flushed)
    # The last flush ends the load, so only those before it had a full memtable.
    full = 0.0 if run is None else run.get("flushes", 0.0) - 1
    found = [_SPARE * FEWEST_FLUSHES / expected] if expected else []
    if full >= 1:
        found.append(_SPARE * (FEWEST_FLUSHES - 1) / full)
    return found if found or expected is not None else [_SPARE * FEWEST_FLUSHES]


def _flushes_by_bytes(run: Metrics, flushed: float | None) -> float | None:
    """Estimate the flushes from the bytes that the clients of a run wrote."""
    amplification = run.get("write_amp")
    if flushed is None or not amplification:
        return None
    written = run.get("flush_write_bytes", 0.0) + run.get("compact_write_bytes", 0.0)
    return written / amplification / flushed or None


def _without_writes(load: Workload) -> str:
    """Return an objective that suits a workload that mostly reads."""
    reads = [kind for kind in load.definition.measured_kinds if kind in READS]
    return f"{reads[0]}_p99_us" if reads else "throughput_ops_s"


def _size_of(load: Workload) -> tuple[str, int]:
    """Return the parameter that makes the workload longer, and its value."""
    return load.definition.size or ("workload.num", load.num)


def _resized(load: Workload, number: int) -> Workload:
    """Return the workload with another value of the parameter that makes it longer."""
    key = _size_of(load)[0].removeprefix("workload.")
    return load.model_copy(update={key: number})


def _rounded_up(value: float) -> int:
    """Return the value with two digits, rounded up."""
    step: int = 10 ** max(0, floor(log10(max(value, 1))) - 1)
    return ceil(value / step) * step
