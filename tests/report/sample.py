"""A study as it comes out of two hours of tuning: the view that the report's tests draw."""

from dataclasses import replace
from functools import cache
from math import exp
from typing import Any
from zlib import crc32

import numpy as np

from fakes.facts import HOST
from lsmtune.analysis.study_view import (
    ONLINE,
    Change,
    OnlineCall,
    Pace,
    StudyView,
    TrialView,
    VerificationView,
    Windows,
)
from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Value
from lsmtune.limits import default_limits
from lsmtune.metrics.measurement import Level, Measurement, Moment
from lsmtune.objective import Metrics, Objective, median_metrics, parse_objective
from lsmtune.stats import Interval, geometric_mean
from lsmtune.study.ranking import check_medians
from lsmtune.trials import Judgement, OnlineChange, Role, Status
from lsmtune.units import MIB
from lsmtune.verdict import Pair, judge
from lsmtune.workloads import Workload

CATALOGUE = load("rocksdb")
WORKLOAD = Workload(num=200_000)
LIMITS = default_limits(WORKLOAD, ENGINES["rocksdb"])
OBJECTIVE = replace(parse_objective("balanced", (), LIMITS), most_pairs=12)

BASE_METRICS = {
    "write_amp": 2.68, "wal_inclusive_write_amp": 3.70, "w_amp_table": 4.61,
    "flush_write_bytes": 109.0e6, "compact_write_bytes": 448.4e6, "live_sst_bytes": 80.0e6,
    "peak_space_bytes": 171.3e6, "space_amp": 0.61, "load_s": 6.31, "settle_s": 0.92,
    "total_s": 7.23, "throughput_ops_s": 31_700.0, "sustained_ops_s": 27_660.0,
    "rate_mb_s": 31.4, "stall_s": 2.71, "stall_percent": 42.9,
    "write_p50_us": 4.1, "write_p75_us": 5.9, "write_p99_us": 1140.0, "write_p999_us": 1920.0,
    "write_p9999_us": 6700.0,
    "get_p50_us": 9.2, "get_p75_us": 13.4, "get_p99_us": 41.0, "get_p999_us": 122.0,
    "get_p9999_us": 640.0,
    "get_missing_p50_us": 7.8, "get_missing_p75_us": 10.9, "get_missing_p99_us": 36.0,
    "get_missing_p999_us": 108.0, "get_missing_p9999_us": 590.0,
    "scan_p50_us": 31.0, "scan_p75_us": 38.0, "scan_p99_us": 97.0, "scan_p999_us": 310.0,
    "scan_p9999_us": 1250.0,
    "read_amp": 1.94, "cache_hit_data": 0.31, "cache_hit_index": 0.98, "cache_hit_filter": 0.0,
    "bloom_useful": 0.0, "build_s": 5.4, "compaction_cpu_s": 5.12, "cpu_s": 9.85,
    "others_cpu_percent": 1.2, "peak_rss_bytes": 61.0e6,
    "compact_read_bytes": 470.1e6, "background_jobs": 180.0, "background_s": 9.4,
    "memtable_hit": 0.0, "disk_write_bytes": 790.0e6, "disk_write_amp": 3.8, "disk_bytes": 81.0e6,
    "flushes": 104.0, "get_found": 0.63, "block_reads": 1.7, "write_mean_us": 29.4,
    "get_mean_us": 11.5,
    "get_missing_mean_us": 9.6, "scan_mean_us": 37.2, "get_data_blocks": 1.62,
    "get_missing_data_blocks": 1.9, "scan_sorted_runs": 3.0, "table_readers_bytes": 1.1e6,
    "memory_bytes": 172.0e6,
}  # fmt: skip

_BEST_OVER_BASE = {
    "write_amp": 0.69, "wal_inclusive_write_amp": 0.775, "w_amp_table": 0.71,
    "flush_write_bytes": 1.01, "compact_write_bytes": 0.61, "live_sst_bytes": 0.93,
    "peak_space_bytes": 0.97, "space_amp": 0.93, "load_s": 0.60, "settle_s": 0.82,
    "total_s": 0.63, "throughput_ops_s": 1.66, "sustained_ops_s": 1.59, "rate_mb_s": 1.66,
    "stall_s": 0.34, "stall_percent": 0.57, "write_p99_us": 0.58, "write_p999_us": 0.81,
    "get_p50_us": 1.04, "get_p99_us": 1.03, "scan_p99_us": 0.97, "compaction_cpu_s": 0.72,
    "cpu_s": 0.86, "peak_rss_bytes": 1.09, "read_amp": 1.05, "get_data_blocks": 1.06,
    "get_missing_data_blocks": 1.04,
}  # fmt: skip

_CHANGES: dict[str, tuple[Value, Value]] = {
    "write_buffer_size": (1 * MIB, 2 * MIB),
    "compaction_pri": (0, 3),
    "level0_file_num_compaction_trigger": (4, 7),
    "max_bytes_for_level_base": (4 * MIB, 11_534_336),
    "compression_type": ("snappy", "lz4"),
    "open_files": (-1, 10_000),
    "cache_index_and_filter_blocks": (False, True),
}
BASE_CONFIG = {name: values[0] for name, values in _CHANGES.items()}
BEST_CONFIG = {name: values[1] for name, values in _CHANGES.items()}

_FAILED = {
    3: (Status.CRASHED, "db_bench ended with signal 6: Assertion `num_levels >= 2' failed"),
    7: (Status.REFUSED, "Invalid argument: compression type LZ4 is not linked <with> the binary"),
    11: (Status.TIMED_OUT, "nothing happened for 60 s while waiting for compactions"),
}
_VALUES = (1.18, 0.97, 0, 1.46, 0.91, 0.84, 0, 0.79, 0.88, 0.73, 0, 0.76, 0.71, 0.82, 0.725, 0.77)
_INFEASIBLE = (6, 13)
_BEST_NUMBER = 18


def metrics(ratio: dict[str, float], noise: float, rng: np.random.Generator) -> dict[str, float]:
    """The base's metrics times a ratio each, with multiplicative noise."""
    run = int(rng.integers(2**32))
    return {
        name: value * ratio.get(name, 1.0) * exp(noise * _noisiness(name) * _drawn(run, name))
        for name, value in BASE_METRICS.items()
    }


@cache
def _drawn(run: int, name: str) -> float:
    """A standard normal that hangs on the metric's name, not on which other metrics there are."""
    return float(np.random.default_rng([run, crc32(name.encode())]).normal())


def _noisiness(name: str) -> float:
    return 4.0 if "p999" in name else 2.0 if name.endswith(("_us", "_s", "percent")) else 0.8


def pairs(
    count: int = 6, noise: float = 0.02, shift: dict[str, float] | None = None
) -> tuple[Pair, ...]:
    """Runs of best and base, paired; `shift` replaces how best differs."""
    rng = np.random.default_rng(5)
    ratio = _BEST_OVER_BASE if shift is None else shift
    return tuple((metrics(ratio, noise, rng), metrics({}, noise, rng)) for _ in range(count))


def measurement(best: bool) -> Measurement:
    """The measurement of base or best, with a tree of plausible levels."""
    rows = (
        [("L0", 2, 3.1, 108.9), ("L1", 9, 10.2, 119.4), ("L2", 34, 61.1, 147.0)]
        if best
        else [("L0", 0, 0.0, 108.1), ("L1", 4, 3.9, 233.6), ("L2", 73, 76.1, 215.7)]
    )
    stalls = {"l0-file-count-limit-delays": 44, "memtable-limit-stops": 54}
    totals = {"total-delays": 44, "total-stops": 54, "pending-compaction-bytes-stops": 0}
    return Measurement(
        metrics=metrics(_BEST_OVER_BASE if best else {}, 0.0, np.random.default_rng(0)),
        levels=tuple(
            Level(
                level=name,
                files=files,
                size_bytes=round(size * 1e6),
                read_bytes=None,
                write_bytes=round(written * 1e6),
                w_amp_table=None,
            )
            for name, files, size, written in [*rows, ("L3", 0, 0.0, 0.0)]
        ),
        stalls={"memtable-limit-stops": 21, "total-stops": 21} if best else stalls | totals,
        engine_version="11.8.1",
        assertions_enabled=False,
        as_run={},
    )


def trial(number: int, role: Role, value: float | None, **fields: object) -> TrialView:
    """A trial of the study, complete unless the fields say otherwise."""
    config = fields.get("config", BASE_CONFIG)
    assert isinstance(config, dict)
    view = TrialView(
        number=number,
        role=role,
        status=Status.COMPLETE,
        reason=None,
        duration_s=14.2,
        config=BASE_CONFIG,
        metrics=BASE_METRICS,
        value=value,
        violation=None if value is None else -0.05,
        values=() if value is None else (value,),
        changes=changes_to(config),
    )
    return replace(view, **fields)  # type: ignore[arg-type]


def _searched(position: int, value: float) -> TrialView:
    number = position + 3
    config = BEST_CONFIG | {"level0_file_num_compaction_trigger": 3 + position % 6}
    if position in _FAILED:
        status, reason = _FAILED[position]
        failed = {"status": status, "reason": reason, "metrics": {}, "config": config}
        return trial(number, Role.TRIAL, None, **failed)
    violation = 0.19 if position in _INFEASIBLE else -0.02
    return trial(number, Role.TRIAL, value, violation=violation, config=config)


def trials() -> tuple[TrialView, ...]:
    """Three runs of the base, then 16 trials of which one crashed, one was refused, one hung."""
    base = [trial(n, Role.BASE, value) for n, value in enumerate((1.0, 1.03, 0.98), start=1)]
    return (*base, *(_searched(n, value) for n, value in enumerate(_VALUES, start=1)))


def changes_to(config: dict[str, Value]) -> tuple[Change, ...]:
    """How a config differs from the base's, with the knobs as the catalogue describes them."""
    return tuple(
        Change(CATALOGUE.knob(name), BASE_CONFIG[name], value)
        for name, value in config.items()
        if BASE_CONFIG.get(name) != value and name in BASE_CONFIG
    )


def verification(
    measured: tuple[Pair, ...] | None = None, scale: str = "1/64", objective: Objective = OBJECTIVE
) -> VerificationView:
    """A verification, at the study's own scale unless another is given."""
    runs = pairs() if measured is None else measured
    return VerificationView(scale, WORKLOAD, runs, judge(runs, objective))


def study_view(**fields: object) -> StudyView:
    """The finished, verified study; the fields replace its parts."""
    view = replace(_whole_view(), **fields)  # type: ignore[arg-type]
    if view.verification is not None:
        return replace(view, limits=view.verification.verdict.limits)
    if view.best_trial is None:
        return view
    base, best = median_metrics(view.base_runs), view.best_trial.metrics
    return replace(view, limits=check_medians(view.objective.limits, best, base))


@cache
def _whole_view() -> StudyView:
    runs = trials()
    rng = np.random.default_rng(3)
    return StudyView(
        name="night-run",
        engine="rocksdb",
        engine_version="11.8.1",
        assertions_enabled=True,
        origin=None,
        host=HOST,
        workload=WORKLOAD,
        scale="1/64",
        objective=OBJECTIVE,
        optimizer="guided",
        seed=7,
        memory_limit_bytes=10 * MIB,
        trials=runs,
        base=measurement(best=False),
        base_runs=tuple(metrics({}, 0.02, rng) for _ in range(3)),
        best=measurement(best=True),
        best_trial=_winner(measurement(best=True).metrics),
        verifications=(verification(),),
        best_within_limits=next(run for run in runs if run.number == _BEST_NUMBER - 1),
    )  # fmt: skip


def _winner(medians: Metrics) -> TrialView:
    """The best trial of the search with the medians of all runs of its config."""
    found = next(run for run in trials() if run.number == _BEST_NUMBER)
    return replace(found, metrics=dict(medians))


EMPTY: dict[str, Any] = {
    "best": None, "best_trial": None, "verifications": (),
    "best_within_limits": None,
}  # fmt: skip
"""What a study lacks that has found nothing."""

_FRONT = {5: (0.62, 1.24), 8: (0.66, 0.97), 12: (0.79, 0.83), 18: (0.71, 0.88), 19: (0.93, 0.71)}
_BEATEN = {4: (1.1, 1.02), 9: (0.81, 1.1), 11: (0.97, 0.9), 13: (1.3, 0.86), 15: (9.0, 7.0)}
_THIRD = {5: 0.9, 8: 1.3, 12: 0.8, 18: 1.05, 19: 0.95}


def window_view() -> StudyView:
    """A study of a running store: its runs have a window of eight seconds."""
    return study_view(name="running", windows=Windows(_moments(7.3), _moments(4.1), is_pair=True))


def _moments(files: float) -> tuple[Moment, ...]:
    """Return a window in which level 0 fills and is emptied again and again."""
    rng, moments = np.random.default_rng(round(files)), []
    for number in range(160):
        filled = (number / 160 * 9) % 1
        moments.append(
            Moment(
                second=(number + 1) / 20, write_bytes_s=24e6 * (1 + 0.03 * float(rng.normal())),
                level0_files=round(2 * files * filled),
                live_bytes=round((118 + files * (1 + filled)) * MIB),
            )
        )  # fmt: skip
    return tuple(moments)


def pareto_view(goals: tuple[str, ...] = ("write_amp", "throughput_ops_s")) -> StudyView:
    """A study with two goals or three: five trials on the front, five beaten, one cut."""
    objective = parse_objective(goals, (), LIMITS)
    front = tuple(_placed(number, *_goals(number, _FRONT, goals)) for number in _FRONT)
    beaten = tuple(_placed(number, *_goals(number, _BEATEN, goals)) for number in _BEATEN)
    too_slow = trial(
        10, Role.TRIAL, None, status=Status.CUT, reason="write_amp is beyond its limit at best",
        metrics={}, bound=(1.4, 0.97, 1.1)[: len(goals)],
    )  # fmt: skip
    broken = replace(_placed(16, *(0.6,) * len(goals)), violation=0.3)
    base = tuple(run for run in trials() if run.role is Role.BASE)
    runs = sorted((*front, *beaten, too_slow, broken), key=lambda run: run.number)
    best = next(run for run in front if run.number == _BEST_NUMBER)
    return study_view(
        name="two-goals",
        objective=objective,
        trials=(*base, *runs),
        front=tuple(sorted(front, key=lambda run: run.values)),
        best_trial=best,
        verifications=(verification(objective=objective),),
    )


def _goals(
    number: int, places: dict[int, tuple[float, float]], goals: tuple[str, ...]
) -> tuple[float, ...]:
    return (*places[number], _THIRD.get(number, 1.4))[: len(goals)]


def _placed(number: int, *values: float) -> TrialView:
    """A trial with these values for write amplification, throughput and a third goal."""
    config = BEST_CONFIG | {"level0_file_num_compaction_trigger": 2 + number % 6}
    ratios = {"write_amp": values[0], "throughput_ops_s": 1 / values[1], "total_s": values[1]}
    measured = {name: value * ratios.get(name, 1.0) for name, value in BASE_METRICS.items()}
    mean = geometric_mean(values)
    return trial(number, Role.TRIAL, mean, values=values, config=config, metrics=measured)


RUNNING_LOAD = Workload(name="overwrite", num=200_000)
RUNNING_LIMITS = default_limits(RUNNING_LOAD, ENGINES["rocksdb"], "running")
RUNNING = parse_objective("balanced", (), RUNNING_LIMITS, measure="running")
PACE = Pace(24_000.0, 24_960_000.0, 0.504, 6.0, given=False)
_RUNNING_BASE: dict[str, float] = {
    "write_amp": 6.08, "live_sst_bytes": 130.0e6, "cpu_us_per_op": 31.0, "capacity_ops_s": 47_600.0,
    "overload": 0.5, "behind_s": 0.001, "get_data_blocks": 2.6, "get_missing_data_blocks": 2.9,
    "scan_sorted_runs": 7.2, "get_p50_us": 23.0, "get_missing_p50_us": 19.0, "scan_p50_us": 43.0,
    "write_p50_us": 3.1, "write_p99_us": 21.0, "write_p999_us": 210.0, "get_p99_us": 80.0,
    "peak_space_bytes": 171.0e6, "stall_s": 0.4, "level0_files": 4.1, "pending_bytes": 9.0e6,
    "memtable_bytes": 1.1e6, "wakeup_p99_us": 1.2, "driver_cpu_percent": 8.0, "old_percent": 0.4,
}  # fmt: skip
_RUNNING_RATIOS = {
    "write_amp": 0.68, "live_sst_bytes": 1.03, "cpu_us_per_op": 0.81, "capacity_ops_s": 1.2,
    "get_p50_us": 0.33, "scan_p50_us": 0.9, "get_data_blocks": 0.5, "get_missing_data_blocks": 0.1,
}  # fmt: skip


def running_pairs(**ratios: float) -> tuple[Pair, ...]:
    """Pairs of runs of a running store; the ratios replace how the winner differs."""
    rng = np.random.default_rng(11)
    exact = ("overload", "behind_s")
    sides = ({**_RUNNING_RATIOS, **ratios}, {})
    runs = [
        {
            name: value
            * side.get(name, 1.0)
            * (1.0 if name in exact else exp(rng.normal(0, 0.02 * _noisiness(name))))
            for name, value in _RUNNING_BASE.items()
        }
        for side in sides * 6
    ]
    return tuple(zip(runs[::2], runs[1::2], strict=True))


def running_view(objective: Objective = RUNNING, **ratios: float) -> StudyView:
    """A verified study of a running store."""
    measured = running_pairs(**ratios)
    best, base = measured[0]
    found = VerificationView(
        "1/64", RUNNING_LOAD, measured, judge(measured, objective), (0, 12), PACE
    )
    bare: dict[str, Any] = {"levels": (), "stalls": {}}
    return study_view(
        name="running",
        workload=RUNNING_LOAD,
        objective=objective,
        base=measurement(best=False).model_copy(update={**bare, "metrics": base}),
        best=measurement(best=True).model_copy(update={**bare, "metrics": best}),
        best_trial=_winner(best),
        base_runs=(base,),
        verifications=(found,),
        pace=PACE,
    )


READ_LOAD = Workload(name="readhalfmissing", num=200_000)
_READ_BASE: dict[str, float] = {
    "throughput_ops_s": 21_400.0, "load_s": 9.3, "get_p50_us": 37.0, "get_p75_us": 61.0,
    "get_p99_us": 210.0, "get_p999_us": 480.0, "get_p9999_us": 1900.0, "read_amp": 1.12,
    "cache_hit_data": 0.21, "cache_hit_index": 0.93, "cache_hit_filter": 0.88,
    "bloom_useful": 0.31, "live_sst_bytes": 80.0e6, "peak_space_bytes": 121.0e6,
    "space_amp": 0.61, "write_amp": 2.7, "flush_write_bytes": 109.0e6, "build_s": 6.8,
    "compact_write_bytes": 448.0e6, "cpu_s": 7.1, "peak_rss_bytes": 44.0e6,
}  # fmt: skip
_READ_RATIOS = {
    "throughput_ops_s": 1.44, "load_s": 0.69, "get_p50_us": 0.64, "get_p99_us": 0.81,
    "read_amp": 0.6, "cache_hit_data": 1.5, "cache_hit_index": 1.05, "bloom_useful": 1.6,
    "write_amp": 1.06, "build_s": 1.08, "peak_rss_bytes": 1.02,
}  # fmt: skip


def read_view() -> StudyView:
    """A verified study of a load that only reads: no writes, no stalls, no levels."""
    rng = np.random.default_rng(8)
    limits = default_limits(READ_LOAD, ENGINES["rocksdb"])
    objective = parse_objective("throughput_ops_s", (), limits)
    measured = [_reads(_READ_RATIOS if best else {}, rng) for best in (True, False) * 6]
    runs = tuple((measured[i], measured[i + 1]) for i in range(0, 12, 2))
    found = VerificationView("1/64", READ_LOAD, runs, judge(runs, objective))
    bare: dict[str, Any] = {"levels": (), "stalls": {}}
    base, best = _reads({}, rng), _reads(_READ_RATIOS, rng)
    return study_view(
        name="reads",
        workload=READ_LOAD,
        objective=objective,
        base=measurement(best=False).model_copy(update={**bare, "metrics": base}),
        best=measurement(best=True).model_copy(update={**bare, "metrics": best}),
        best_trial=_winner(best),
        base_runs=(base,),
        verifications=(found,),
    )


def _reads(ratio: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    return {
        name: value * ratio.get(name, 1.0) * exp(rng.normal(0, 0.01 * _noisiness(name)))
        for name, value in _READ_BASE.items()
    }


_ONLINE_LOAD = Workload(name="overwrite", num=200_000)
_TRIED: tuple[tuple[Judgement, dict[str, Value], float | None, str], ...] = (
    (Judgement.LOST, {"write_buffer_size": MIB // 2}, 0.81, "throughput_ops_s became worse"),
    (
        Judgement.KEPT,
        {"level0_file_num_compaction_trigger": 7},
        1.24,
        "throughput_ops_s was better",
    ),
    (Judgement.NOT_SHOWN, {"compression_type": "lz4"}, 1.01, "no gain is proven"),
    (Judgement.REFUSED, {"max_bytes_for_level_base": 11_534_336}, None, "RocksDB: <Invalid>"),
    (Judgement.LOST, {"compression_type": "zstd"}, None, "the load did no operation within 10 s"),
    (Judgement.KEPT, {"write_buffer_size": 2 * MIB}, 1.08, "throughput_ops_s was better"),
)


def online_view() -> StudyView:
    """A study of online tuning: 2 of 6 changes were kept, and an earlier call tried 3."""
    config, speed = dict(BASE_CONFIG), 30_000.0
    tried: list[TrialView] = []
    rng = np.random.default_rng(4)
    for number, (judgement, wanted, ratio, reason) in enumerate(_TRIED, start=1):
        before, during, after = (
            tuple(speed * factor * exp(rng.normal(0, 0.02)) for _ in range(count))
            for factor, count in ((1.0, 5), (ratio or 1.0, 5 if ratio else 0), (1.0, 5))
        )
        is_kept = judgement is Judgement.KEPT
        record = OnlineChange(
            number=number, judgement=judgement, previous=dict(config), before=before,
            during=during, after=after if is_kept else (),
            cost=Interval(1 / ratio, 0.97 / ratio, 1.03 / ratio) if ratio else None,
        )  # fmt: skip
        knobs = {name: CATALOGUE.knob(name) for name in wanted}
        tried.append(trial(
            number + 2, Role.ONLINE, None, reason=f"{judgement.meaning}: {reason}",
            status=Status.COMPLETE if ratio else Status.REFUSED, config=config | wanted,
            changes=tuple(Change(knobs[n], config[n], value) for n, value in wanted.items()),
            online=record,
        ))  # fmt: skip
        if is_kept and ratio:
            config, speed = config | wanted, speed * ratio
    call = OnlineCall(
        tried=tuple(tried), earlier=3, config=config, kept=changes_to(config), trial=8, windows=5,
        window_s=10.0,
    )  # fmt: skip
    return study_view(
        **EMPTY, name="online", workload=_ONLINE_LOAD, trials=tuple(tried), base=None, base_runs=(),
        objective=parse_objective("throughput_ops_s", (), ()), no_search=ONLINE, online=call,
    )  # fmt: skip
