"""Did a change help? Two LOGs of one store, before and after the change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.metrics.log_reader import TimedDump

Judgement = Literal["better", "worse", "unchanged", "not_comparable", "depends_on_program"]
"""`depends_on_program`: the program may have written less or more, so the store is not judged."""

_MOST_RATE_RATIO = 2.0
_MOST_SIZE_RATIO = 1.5
_MOST_READ_POINTS = 20.0
_USUAL_SPREAD = 0.1
"""Changes below this share are unchanged where the dumps of a LOG do not show its own spread."""
_FEWEST_INTERVALS = 3
_LEAST_SHARE = 1.0
"""Differences of shares below this number of percentage points are unchanged."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A value before and after; None where a LOG does not tell it."""

    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """After / before."""
        if self.before is None or self.after is None or self.before == 0:
            return None
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A metric before and after, and whether it got better."""

    values: Pair
    verdict: Judgement


@dataclass(frozen=True, slots=True)
class Compared:
    """What changed. `why` says why the LOGs are not comparable.

    `options` has the options that differ: text before and text after, None where it is not told.
    """

    comparable: bool
    why: tuple[str, ...]
    workload: Mapping[str, Pair]
    metrics: Mapping[str, JudgedPair]
    options: Mapping[str, tuple[str | None, str | None]]

    @property
    def one_sided(self) -> tuple[int, int]:
        """Number of options that only the LOG before has, and that only the LOG after has."""
        missing = [(old is None, new is None) for old, new in self.options.values()]
        return sum(new for _, new in missing), sum(old for old, _ in missing)


def compare(before: Inspection, after: Inspection) -> Compared:
    """Compare two LOGs. Rates count per byte that clients wrote, or per read."""
    workload = {
        name: Pair(getattr(before.load, name), getattr(after.load, name))
        for name in ("writes_s", "ingest_bytes_s", "gets_s", "seeks_s", "read_percent",
                     "key_bytes", "value_bytes")
    }  # fmt: skip
    why = tuple(_differences(workload))
    spreads = {
        name: max(_spread(before.dumps, value), _spread(after.dumps, value))
        for name, value in _OF_INTERVALS.items()
    }
    metrics = {}
    for name, value in _METRICS.items():
        pair = Pair(value(before), value(after))
        if pair.before is None and pair.after is None:
            continue
        spread = spreads.get(name, _USUAL_SPREAD)
        metrics[name] = JudgedPair(pair, "not_comparable" if why else _judged(name, pair, spread))
    if _WRITES in metrics:
        metrics[_WRITES] = _with_stalls(metrics[_WRITES], metrics.get("stall_percent"))
    return Compared(not why, why, workload, metrics, _options(before, after))


def compared_document(compared: Compared) -> dict[str, Any]:
    """Return the comparison as JSON; unknown is null."""
    return {
        "comparable": compared.comparable,
        "why": list(compared.why),
        "workload": {
            name: {"before": pair.before, "after": pair.after}
            for name, pair in compared.workload.items()
        },
        "metrics": {
            name: {
                "before": judged.values.before,
                "after": judged.values.after,
                "ratio": judged.values.ratio,
                "verdict": judged.verdict,
            }
            for name, judged in compared.metrics.items()
        },
        "options": [
            {"name": name, "before": before, "after": after}
            for name, (before, after) in compared.options.items()
        ],
    }


def _differences(workload: Mapping[str, Pair]) -> list[str]:
    """Why the workloads are too different; empty if they are alike."""
    found = []
    rates, sizes, reads = (workload[n] for n in ("writes_s", "value_bytes", "read_percent"))
    if rates.ratio is None:
        found.append("the rate of writes is missing in a LOG")
    elif not 1 / _MOST_RATE_RATIO <= rates.ratio <= _MOST_RATE_RATIO:
        found.append(f"the rate of writes changed: {rates.ratio:.2g} times the rate before")
    if sizes.ratio is not None and not (1 / _MOST_SIZE_RATIO <= sizes.ratio <= _MOST_SIZE_RATIO):
        found.append(f"the size of values changed: {sizes.ratio:.2g} times the size before")
    if (
        reads.before is not None
        and reads.after is not None
        and (abs(reads.after - reads.before) > _MOST_READ_POINTS)
    ):
        found.append(f"the share of reads changed from {reads.before:.0f} % to {reads.after:.0f} %")
    return found


def _judged(name: str, pair: Pair, spread: float) -> Judgement:
    if pair.before is None or pair.after is None:
        return "not_comparable"
    change = pair.after - pair.before
    if name in _SHARES:
        is_small = abs(change) < max(_LEAST_SHARE, spread * max(pair.before, pair.after))
    else:
        is_small = abs(change) <= spread * abs(pair.before)
    if is_small:
        return "unchanged"
    return "better" if (change > 0) == (name in _HIGHER_IS_BETTER) else "worse"


def _with_stalls(writes: JudgedPair, stalls: JudgedPair | None) -> JudgedPair:
    """Return the verdict on the rate of writes.

    A rate that changed is judged only if the stalls show the same. Else the program may have
    written less or more.
    """
    if writes.verdict not in ("better", "worse"):
        return writes
    if stalls is not None and stalls.verdict == writes.verdict:
        return writes
    return replace(writes, verdict="depends_on_program")


def _spread(
    dumps: tuple[TimedDump, ...], value: Callable[[TimedDump, TimedDump], float | None]
) -> float:
    """Half of the range of the values between dumps, as a share of their mean."""
    pairs = pairwise(dumps)
    found = [one for first, second in pairs if (one := value(first, second)) is not None]
    mean = sum(found) / len(found) if found else 0.0
    if len(found) < _FEWEST_INTERVALS or not mean:
        return _USUAL_SPREAD
    return (max(found) - min(found)) / 2 / mean


def _write_amp_between(first: TimedDump, second: TimedDump) -> float | None:
    one, two = first.dump, second.dump
    if None in (one.ingest_bytes, two.ingest_bytes, one.compacted_bytes, two.compacted_bytes):
        return None
    ingested = (two.ingest_bytes or 0) - (one.ingest_bytes or 0)
    return (
        ((two.compacted_bytes or 0) - (one.compacted_bytes or 0)) / ingested
        if ingested > 0
        else None
    )


def _stalled_between(first: TimedDump, second: TimedDump) -> float | None:
    one, two = first.dump, second.dump
    seconds = two.uptime_s - one.uptime_s
    if one.stall_s is None or two.stall_s is None or seconds <= 0:
        return None
    return 100 * (two.stall_s - one.stall_s) / seconds


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
_WRITES = "writes_s"
_METRICS: dict[str, Callable[[Inspection], float | None]] = {
    _WRITES: lambda log: log.load.writes_s,
    "write_amp": lambda log: log.totals.write_amp,
    "stall_percent": lambda log: log.totals.stall_percent,
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
_HIGHER_IS_BETTER = {_WRITES, "cache_hit_percent"}
_SHARES = {"stall_percent", "cache_hit_percent"}
_OF_INTERVALS = {"write_amp": _write_amp_between, "stall_percent": _stalled_between}


def _options(before: Inspection, after: Inspection) -> dict[str, tuple[str | None, str | None]]:
    found: dict[str, tuple[str | None, str | None]] = {}
    for scope in dict.fromkeys((*before.options, *after.options)):
        old, new = before.options.get(scope, {}), after.options.get(scope, {})
        if not old or not new:
            continue
        for name in dict.fromkeys((*old, *new)):
            texts = old.get(name), new.get(name)
            if texts[0] != texts[1] and not any("0x" in (text or "") for text in texts):
                found[f"{scope}.{name}" if scope and scope != "default" else name] = texts
    return found
