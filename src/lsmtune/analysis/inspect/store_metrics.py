"""Metrics of a store that LOGs and statistics contain, for a comparison before and after."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.judging import JudgedPair, Pair, Sample, judge

WRITES = "writes_s"
STALLS = "stall_percent"

_MOST_RATE_RATIO = 2.0
_MOST_SIZE_RATIO = 1.5
_MOST_READ_POINTS = 20.0

Logs = Sequence[Inspection]


def workload_pairs(before: Logs, after: Logs) -> dict[str, Pair]:
    """Return the load of both sides; of several LOGs the means."""
    return {
        name: Pair(
            _mean([getattr(log.load, name) for log in before]),
            _mean([getattr(log.load, name) for log in after]),
        )
        for name in ("writes_s", "ingest_bytes_s", "gets_s", "seeks_s", "read_percent",
                     "key_bytes", "value_bytes")
    }  # fmt: skip


def load_differences(workload: Mapping[str, Pair]) -> list[str]:
    """Return why the workloads are too different; empty if they are similar.

    A rate that both sides lack is no difference: `unknown_rate` gives it.
    """
    found = list(_rate_differences(workload))
    reads = workload["read_percent"]
    for name, what in (("value_bytes", "values"), ("key_bytes", "keys")):
        if _is_far(workload[name], _MOST_SIZE_RATIO):
            times = workload[name].ratio
            found.append(f"the size of {what} changed: {times:.2g} times the size before")
    if (
        reads.before is not None
        and reads.after is not None
        and (abs(reads.after - reads.before) > _MOST_READ_POINTS)
    ):
        found.append(f"the share of reads changed from {reads.before:.0f} % to {reads.after:.0f} %")
    return found


def metric_pairs(before: Logs, after: Logs) -> dict[str, JudgedPair]:
    """Judge each metric that a side contains, as if the loads were the same."""
    found = {}
    for name, value in _METRICS.items():
        samples = [_sample([value(log) for log in side]) for side in (before, after)]
        if any(sample.values for sample in samples):
            found[name] = judge(name, *samples)
    if WRITES in found:
        found[WRITES] = _with_stalls(found[WRITES], found.get(STALLS))
    return found


def _rate_differences(workload: Mapping[str, Pair]) -> list[str]:
    found = []
    for name, pair in _rates(workload).items():
        if pair.ratio is None:
            if pair.before != pair.after:
                found.append(f"the rate of {name} is missing or 0 on one side")
        elif _is_far(pair, _MOST_RATE_RATIO):
            found.append(f"the rate of {name} changed: {pair.ratio:.2g} times the rate before")
    return found


def unknown_rate(workload: Mapping[str, Pair]) -> str | None:
    """Return the rate that both sides lack, as in a text of tickers without a time."""
    rates = _rates(workload).items()
    return next((name for name, pair in rates if pair.before is pair.after is None), None)


def _rates(workload: Mapping[str, Pair]) -> dict[str, Pair]:
    """Return the rates that the load has; stores that only read have no rate of writes."""
    writes = workload[WRITES]
    reads = {name: workload[name] for name in ("gets_s", "seeks_s")}
    only_read = not writes.before and not writes.after
    rates = {"writes": writes}
    if only_read and any(pair.before and pair.after for pair in reads.values()):
        names = {"gets_s": "gets", "seeks_s": "seeks"}
        rates = {names[name]: pair for name, pair in reads.items() if pair.before or pair.after}
    return rates


def _is_far(pair: Pair, most: float) -> bool:
    return pair.ratio is not None and not 1 / most <= pair.ratio <= most


def _with_stalls(writes: JudgedPair, stalls: JudgedPair | None) -> JudgedPair:
    """Return the verdict on the rate of writes.

    A rate that changed is judged only if the stalls show the same. Else the program may have
    written less or more.
    """
    changed = writes.direction(WRITES)
    if changed is None or (stalls is not None and stalls.direction(STALLS) == changed):
        return writes
    return replace(writes, verdict="depends_on_program")


def _sample(values: Sequence[float | None]) -> Sample:
    return Sample(tuple(value for value in values if value is not None))


def _mean(values: Sequence[float | None]) -> float | None:
    return _sample(values).centre(of_logs=False)


def _per(
    count: Callable[[Inspection], float | None], of: Callable[[Inspection], float | None]
) -> Callable[[Inspection], float | None]:
    def value(log: Inspection) -> float | None:
        above, below = count(log), of(log)
        return above / below if above is not None and below else None

    return value


def _ticker(*names: str) -> Callable[[Inspection], float | None]:
    return lambda log: (
        sum(log.ticker(name) for name in names)
        if any(f"rocksdb.{n}" in log.tickers for n in names)
        else None
    )


def _live_bytes(log: Inspection) -> float | None:
    sizes = [row.size_bytes for row in log.levels if row.size_bytes is not None]
    return float(sum(sizes)) if sizes else None


_DATA = ("block.cache.data.hit", "block.cache.data.miss")
_METRICS: dict[str, Callable[[Inspection], float | None]] = {
    WRITES: lambda log: log.load.writes_s,
    "write_amp": lambda log: log.totals.write_amp,
    STALLS: lambda log: log.totals.stall_percent,
    "live_sst_bytes": _live_bytes,
    "compaction_s_per_gib": _per(
        lambda log: log.totals.compaction_s,
        lambda log: (log.totals.ingest_bytes or 0) / 2**30 or None,
    ),
    "data_blocks_per_get": _per(_ticker(*_DATA), _ticker("number.keys.read")),
    "cache_hit_percent": _per(
        lambda log: 100.0 * log.ticker("block.cache.hit") if log.tickers else None,
        _ticker("block.cache.hit", "block.cache.miss"),
    ),
    "skipped_per_seek": _per(_ticker("number.iter.skip"), _ticker("number.db.seek")),
}
