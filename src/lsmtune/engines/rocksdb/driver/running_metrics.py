"""The measurement of a trial of a running store, from the events of the driver and the LOG."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, inf, prod
from pathlib import Path
from typing import Any

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.driver.output import one, stalls_in, table_in
from lsmtune.engines.rocksdb.driver.running_plan import CAPACITY, WINDOW, Style
from lsmtune.engines.tickers import cache_metrics, table_levels, ticker
from lsmtune.metrics.log_jobs import Job, bytes_by_level
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.measurement import Measurement, Moment
from lsmtune.metrics.statistics import Statistics, parse_statistics
from lsmtune.system.host import usable_cores
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Status
from lsmtune.workloads import PROBED, Records, Workload
from lsmtune.workloads.records import MISSING

Event = Mapping[str, Any]

_MICROS = 1e6
_MOMENTS = 80
"""Maximum number of moments of a window that are kept."""
_WRITES = ("put", "read_modify_write")
_PREFIXES = {**dict.fromkeys(_WRITES, "write"), **{kind: kind for kind in PROBED}}
"""Prefix of the latencies of each kind of operation."""
_SERVICE, _RESPONSE = ("mean", "p50", "p75"), ("p99", "p999", "p9999")
"""Latencies from the begin of an operation, and those from the time when it was due."""
_LEAST_BLOCKS, _SEEK = 0.25, 1.0
"""Cost of a get that reads no block, in blocks; cost of a scan that merges no run, in runs."""
_LATE, _GROWTH = 0.02, 0.1
"""What a store may fall behind: share of the window, and owed bytes / written bytes."""
_LEAST_OVERLOAD = 0.5
_PARTS = 4
"""The growth of what compactions owe is that from the first to the last of so many parts."""


@dataclass(frozen=True)
class RunningOutput:
    """Events of the driver from a trial of a running store, and the end of its process."""

    exit: ExitStatus
    events: Sequence[Event]
    assertions_enabled: bool

    @property
    def options(self) -> str:
        """The OPTIONS file that RocksDB wrote when it opened the store."""
        return str(one(self.events, "opened")["options"])

    def latency_us(self, metric: str) -> float:
        """Return a latency of the window; infinite if no operation of its kind ended."""
        operations = one(self.events, "run", WINDOW)["operations"]
        return dict(_latencies(operations)).get(metric, inf)

    def step(self, phase: str, jobs: Iterable[Job]) -> "Step":
        """Return the run of that name; `jobs` are those of the whole trial."""
        run = one(self.events, "run", phase)
        place = next(i for i, event in enumerate(self.events) if event is run)
        before = [event for event in self.events[:place] if event["event"] == "report"]
        after = one(self.events[place:], "report")
        if not before:
            raise TrialFailedError(Status.UNREADABLE, "the driver printed no event report")
        end_s = run["time_s"]
        begin_s = end_s - run["seconds"]
        ended = [j for j in jobs if begin_s < (j.finished_micros or 0) / _MICROS <= end_s]
        samples = one(self.events, "samples", phase)
        return Step(run, samples, before[-1], after, ended, Style.of(self.options))


@dataclass(frozen=True, slots=True)
class Files:
    """The folder of a store, and the numbers of the data files that it had before it was opened."""

    database: Path
    old: frozenset[int]

    @classmethod
    def before(cls, database: Path) -> "Files":
        """Look at a store that is closed."""
        found = (*database.glob("*.sst"), *database.glob("*.blob"))
        return cls(database, frozenset(int(path.stem) for path in found))

    def old_percent(self, report: Event) -> float:
        """Return the share of live bytes in files that are older than the opening.

        The report lists live tables. RocksDB deletes a blob file when no table needs it.
        """
        blobs = {int(path.stem): path.stat().st_size for path in self.database.glob("*.blob")}
        tables: dict[int, int] = {number: size for number, _, size in report["live_files"]}
        live = tables | blobs
        old = sum(size for number, size in live.items() if number in self.old)
        return 100 * old / max(1, sum(live.values()))


@dataclass(frozen=True)
class Step:
    """A run between two reports, its samples, and the jobs that ended while it lasted."""

    run: Event
    samples: Event
    before: Event
    after: Event
    jobs: Sequence[Job]
    style: Style

    @property
    def seconds(self) -> float:
        """Duration of the run."""
        return float(self.run["seconds"])

    @cached_property
    def counted(self) -> Statistics:
        """What RocksDB counted while the run lasted."""
        begin, end = (parse_statistics(r["statistics"] + "\n") for r in (self.before, self.after))
        return end.since(begin)

    def count(self, kinds: Iterable[str]) -> int:
        """Return the number of operations of these kinds."""
        sent = self.run["operations"]
        return sum(sent[kind]["count"] for kind in kinds if kind in sent)

    @cached_property
    def flushed_bytes(self) -> int:
        """Bytes that flushes wrote."""
        return self._written("flush", "rocksdb.flush.write.bytes")

    @cached_property
    def compacted_bytes(self) -> int:
        """Bytes that compactions wrote."""
        return self._written("compaction", "rocksdb.compact.write.bytes")

    @property
    def written_bytes(self) -> int:
        """Bytes that flushes and compactions wrote, with those of blob files."""
        return self.flushed_bytes + self.compacted_bytes

    @cached_property
    def growth_bytes(self) -> float:
        """Growth of the bytes that compactions owe.

        RocksDB counts the files of level 0 when they are enough for a compaction, and until it has
        ended. So a moment says little: the growth is that of the mean from the first to the last
        part of the run.
        """
        if self.style.full_merge is not None:
            before, after = (
                owed_bytes(report["live_files"], self.style.full_merge)
                for report in (self.before, self.after)
            )
            return after - before
        return self._growth(self.samples["pending_bytes"])

    @property
    def lag_bytes(self) -> float:
        """Growth of the bytes that compactions should have rewritten already.

        With universal compaction, these are flushed files that pile up in level 0. What is owed
        there grows in every store, until the next full merge.
        """
        if self.style.full_merge is None:
            return self.growth_bytes
        flushes = sum(job.kind == "flush" for job in self.jobs)
        files = self._growth([files[0] for files in self.samples["level_files"]])
        return files * self.flushed_bytes / max(1, flushes)

    def mean(self, values: Iterable[float], since: float = 0, until: float = 1) -> float:
        """Return the mean over a part of the time, from `since` to `until` as shares of it.

        There is a value per sample. It counts for the time since the sample before.
        """
        times: list[float] = [0.0, *self.samples["second"]]
        begin, end = since * times[-1], until * times[-1]
        if end <= begin:
            raise TrialFailedError(Status.UNREADABLE, "the driver printed no samples of the store")
        widths = [max(0.0, min(to, end) - max(from_, begin)) for from_, to in pairwise(times)]
        return sum(v * width for v, width in zip(values, widths, strict=True)) / (end - begin)

    def _growth(self, values: Sequence[float]) -> float:
        part = 1 / _PARTS
        return (self.mean(values, 1 - part, 1) - self.mean(values, 0, part)) / (1 - part)

    def _written(self, kind: str, counter: str) -> int:
        # Counters are more exact, because they also have the bytes of jobs that still run.
        by_counter = ticker(self.counted, counter)
        if not self.style.parallel:
            return by_counter
        return max(by_counter, sum(job.written_bytes or 0 for job in self.jobs if job.kind == kind))


def measure(
    load: Workload,
    output: RunningOutput,
    log: LogContent,
    files: Files,
    as_run: Mapping[str, str],
) -> Measurement:
    """Return the measurement of a trial; TrialFailedError if a result is missing.

    Without a window, it has little more than the capacity.
    """
    jobs = log.ledger.jobs
    capacity = output.step(CAPACITY, jobs)
    has_window = any(event.get("phase") == WINDOW for event in output.events)
    step = output.step(WINDOW, jobs) if has_window else capacity
    metrics = {
        "capacity_ops_s": capacity_ops_s(load, capacity),
        "driver_cpu_percent": 100 * step.run["cpu_s"]["driver"] / step.seconds / usable_cores(),
        "peak_rss_bytes": float(output.exit.peak_rss_bytes),
    }
    readers = step.after.get("table_readers_bytes")
    if readers is not None:
        metrics["table_readers_bytes"] = float(readers)
    if has_window:
        metrics |= window_metrics(load, step, metrics["capacity_ops_s"])
        metrics["old_percent"] = files.old_percent(step.after)
    stalls = Counter(stalls_in(step.after))
    stalls.subtract(stalls_in(step.before))
    return Measurement(
        metrics=metrics,
        levels=table_levels(table_in(step.after), bytes_by_level(jobs)),
        stalls={cause: count for cause, count in stalls.items() if count > 0},
        engine_version=one(output.events, "opened")["version"],
        assertions_enabled=output.assertions_enabled,
        as_run=dict(as_run),
        window=tuple(_moments(step.samples)) if has_window else (),
    )


def capacity_ops_s(load: Workload, step: Step) -> float:
    """Return the operations per second that the store can take for long.

    What compactions owe at the end has to be written later, so it lengthens the step. Gets of
    missing keys have clients of their own in a mix. The result is the speed of as many clients that
    send all operations in their shares.
    """
    shares = load.definition_of(Records).shares
    parts = ([MISSING], [kind for kind in shares if kind != MISSING])
    found = [(sum(shares.get(kind, 0.0) for kind in part), step.count(part)) for part in parts]
    groups = [(share, count) for share, count in found if share]
    seconds_each = sum(share * step.seconds / max(1, count) for share, count in groups)
    owed = max(0.0, step.growth_bytes) / max(1, step.written_bytes)
    return len(groups) / seconds_each / (1 + owed)


def window_metrics(load: Workload, step: Step, capacity: float) -> dict[str, float]:
    """Return the metrics of the window; `capacity` is what the store can take per second."""
    stall_s = ticker(step.counted, "rocksdb.stall.micros") / _MICROS
    metrics = {
        **_written(load, step),
        **_means(load, step),
        **dict(_latencies(step.run["operations"])),
        **_blocks(step.run["operations"]),
        **_keeping(load, step, capacity),
        "stall_s": stall_s,
        "stall_percent": 100 * stall_s / step.seconds,
        "peak_space_bytes": float(max(step.samples["folder_bytes"])),
    }
    kinds = load.definition_of(Records).rates(1.0)
    cpu = step.run["cpu_s"]
    cpu_us = (cpu["background"] + cpu["calls"]) * _MICROS
    metrics["cpu_us_per_op"] = cpu_us / max(1, step.count(kinds))
    caches = cache_metrics(step.counted)
    # The other counts have reads of compactions too.
    metrics |= {n: v for n, v in caches.items() if n.startswith("cache_hit") or n == "bloom_useful"}
    cost = read_cost(load.definition.read_shares, metrics)
    return metrics if cost is None else {**metrics, "read_cost": cost}


def owed_bytes(files: Iterable[tuple[int, int, int]], full_merge: float) -> float:
    """Return the bytes that universal compaction owes, of which RocksDB counts none.

    Its largest cost is the merge of all sorted runs. This merge comes when all runs but the last
    have `full_merge` times the size of the last one. So each byte outside the last run brings its
    part of this merge with it, and a merge that happens to be in the window does not count for more
    than its part. `files` have number, level and size.
    """
    runs = _sorted_runs(files)
    if not runs or not full_merge:
        return 0.0
    total, last = sum(runs), max(1, runs[-1])
    return total * min(1.0, (total - runs[-1]) / (last * full_merge))


def _sorted_runs(files: Iterable[tuple[int, int, int]]) -> list[int]:
    """Return the sizes of the sorted runs; the last one is that with the oldest data.

    In a store that only has level 0, this is the largest file.
    """
    level0, deeper = list[int](), Counter[int]()
    for _, level, size in files:
        if level:
            deeper[level] += size
        else:
            level0.append(size)
    return [*sorted(level0), *(deeper[level] for level in sorted(deeper))]


def read_cost(shares: Mapping[str, float], metrics: Mapping[str, float]) -> float | None:
    """Return the work of the reads of a workload; None if it does not read."""
    costs = {
        "get": ("get_data_blocks", _LEAST_BLOCKS),
        MISSING: ("get_missing_data_blocks", _LEAST_BLOCKS),
        "scan": ("scan_sorted_runs", _SEEK),
    }
    found = {kind: metrics.get(costs[kind][0]) for kind in shares}
    if not found or None in found.values():
        return None
    all_reads = sum(shares.values())
    factors = (
        (value + costs[kind][1]) ** (shares[kind] / all_reads)
        for kind, value in found.items()
        if value is not None
    )
    return float(prod(factors))


def _written(load: Workload, step: Step) -> dict[str, float]:
    # A window in which nothing was written has a very large write amplification. What compactions
    # owe counts as written, or a config that postpones them until after the window would win.
    client_bytes = max(1, step.count(_WRITES)) * load.record_bytes
    written = step.written_bytes + step.growth_bytes
    logged = ticker(step.counted, "rocksdb.wal.bytes")
    return {
        "write_amp": written / client_bytes,
        "wal_inclusive_write_amp": (written + logged) / client_bytes,
        "flush_write_bytes": float(step.flushed_bytes),
        "compact_write_bytes": float(step.compacted_bytes),
        "compact_read_bytes": float(ticker(step.counted, "rocksdb.compact.read.bytes")),
        "flushes": float(sum(job.kind == "flush" for job in step.jobs)),
    }


def _means(load: Workload, step: Step) -> dict[str, float]:
    samples = step.samples
    live = step.mean(_live_bytes(samples))
    levels = samples["level_files"]
    metrics = {
        "live_sst_bytes": live,
        "scan_sorted_runs": step.mean(files[0] + sum(map(bool, files[1:])) for files in levels),
        "level0_files": step.mean(files[0] for files in levels),
        "pending_bytes": step.mean(samples["pending_bytes"]),
        "memtable_bytes": step.mean(samples["memtable_bytes"]),
    }
    if load.distinct_bytes is not None:
        metrics["space_amp"] = live / load.distinct_bytes
    return metrics


def _live_bytes(samples: Event) -> list[int]:
    pairs = zip(samples["live_sst_bytes"], samples["live_blob_bytes"], strict=True)
    return [tables + blobs for tables, blobs in pairs]


def _latencies(sent: Mapping[str, Event]) -> Iterator[tuple[str, float]]:
    for kind, values in sent.items():
        if kind in _PREFIXES and values["count"]:
            for names, times in ((_SERVICE, values), (_RESPONSE, values["response"])):
                for name in names:
                    yield f"{_PREFIXES[kind]}_{name}_us", times[f"{name}_us"]


def _blocks(sent: Mapping[str, Event]) -> dict[str, float]:
    gets = {kind: sent[kind] for kind in ("get", MISSING) if kind in sent}
    return {
        f"{kind}_data_blocks": values["blocks"]["data"] / values["count"]
        for kind, values in gets.items()
        if values["count"] and values.get("blocks")
    }


def _keeping(load: Workload, step: Step, capacity: float) -> dict[str, float]:
    """Return how well the store keeps the rate. `capacity` is what it can take.

    What compactions owe also grows for some seconds in a store that can take much more. So the
    growth counts only as far as the rate is above the capacity. In one of eight windows of a quiet
    baseline at 43 % of its capacity, it was 4 times the bound.
    """
    behind_s = step.run["behind_s"]
    if behind_s is None:  # no operation began in the last quarter
        behind_s = step.seconds
    late = behind_s / (_LATE * step.seconds)
    grown = step.lag_bytes / (_GROWTH * max(1, step.written_bytes))
    used = step.count(load.definition_of(Records).shares) / step.seconds / capacity
    overload = max(_LEAST_OVERLOAD, late, min(grown, used))
    metrics = {"behind_s": behind_s, "overload": overload}
    wakeups = step.run["wakeup_us"]
    return metrics if wakeups is None else {**metrics, "wakeup_p99_us": wakeups["p99_us"]}


def _moments(samples: Event) -> Iterator[Moment]:
    seconds, written, live = samples["second"], samples["written_bytes"], _live_bytes(samples)
    step = ceil(len(seconds) / _MOMENTS)
    # The first sample is taken at the begin.
    for since, place in pairwise(range(0, len(seconds), step)):
        yield Moment(
            second=seconds[place],
            write_bytes_s=(written[place] - written[since]) / (seconds[place] - seconds[since]),
            level0_files=samples["level_files"][place][0],
            live_bytes=live[place],
        )
