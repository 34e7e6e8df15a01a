"""The loads of SQL in sysbench's words, and what it prints of them."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.myrocks.server import DATABASE
from lsmtune.trials import Protocol, Status
from lsmtune.workloads import Records, Workload
from lsmtune.workloads.sql import Sql, parameter_flags

PROBES = ("get", "get_missing", "scan")
"""The parts of the probe that follows a load of nothing but writes."""
Transaction = Literal["new_order", "payment", "order_status", "delivery", "stock_level"]
TRANSACTIONS: tuple[Transaction, ...] = get_args(Transaction)
PERCENTILES = {"p50": 0.5, "p75": 0.75, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}

_RECORDS = "records.lua"
"""The script of workloads of records."""
_WIDTH = 1.02
"""A bucket of our scripts' histograms reaches so many times as far as the one before."""
_RETRIED = "1213,1205,1020"
"""Deadlock, lock wait timeout, snapshot conflict: the same transaction runs again."""
_ENDLESS = ("--events=0", "--time=0")
_INT, _DECIMAL = r"(\d{1,15})", r"(\d{1,15}(?:\.\d{1,15})?)"
_TOTAL = re.compile(rf"total number of events:\s+{_INT}\b")
_TIME = re.compile(rf"total time:\s+{_DECIMAL}s")
_RETRIED_EVENTS = re.compile(rf"ignored errors:\s+{_INT}\b")
_BAR = re.compile(rf"\s*{_DECIMAL} \|\**\s*{_INT}")

_Count = Annotated[int, Field(ge=0, lt=1 << 53)]
_Bucket = Annotated[int, Field(ge=0, lt=10_000)]
_Latency = list[tuple[_Bucket, _Count]]


class _Client(BaseModel):
    """What a thread of a script of ours prints of itself."""

    start_s: FiniteFloat
    end_s: FiniteFloat


class _Operations(_Client):
    operations: _Count
    latency: _Latency


class _Lookups(_Operations):
    found: _Count


class _OfKind(BaseModel):
    commits: _Count
    retries: _Count
    latency: _Latency


class _Transactions(_Client):
    transactions: Annotated[dict[Transaction, _OfKind], Field(min_length=len(TRANSACTIONS))]


class _Check(BaseModel):
    condition: _Count
    violations: _Count


_Read = TypeVar("_Read")
_OPERATIONS = TypeAdapter(dict[str, _Operations])
_LOOKUPS = TypeAdapter(dict[str, _Lookups])
_TRANSACTIONS = TypeAdapter(dict[str, _Transactions])
_CHECK = TypeAdapter(_Check)


@dataclass(frozen=True, slots=True)
class Run:
    """What a load did: transactions that were committed, its time, and latencies by kind.

    An operation of records.lua is a transaction.

    `latencies` are pairs of a time in µs, the middle or the end of a bucket, and how many fell
    into it. `retries` counts transactions that ran again; `new_orders` is None but for TPC-C, and
    so is `found`, the gets that found a record, but for lookups.
    """

    transactions: int
    load_s: float
    latencies: Mapping[str, tuple[tuple[float, int], ...]]
    retries: int
    new_orders: int | None = None
    found: int | None = None

    def metrics(self) -> dict[str, float]:
        """The run in lsmtune's metrics, but for how fast it was."""
        found = {"retries": float(self.retries)}
        if self.new_orders is not None:
            found["tpmc"] = 60 * self.new_orders / self.load_s
        if self.found is not None:
            found["get_found"] = self.found / max(1, self.transactions)
        return found | self.latency_metrics()

    def latency_metrics(self) -> dict[str, float]:
        """The mean and the percentiles of each kind that there was."""
        found: dict[str, float] = {}
        for kind, counted in self.latencies.items():
            if any(count for _, count in counted):
                found[f"{kind}_mean_us"] = _mean(counted)
                found |= {f"{kind}_{p}_us": _at(counted, s) for p, s in PERCENTILES.items()}
        return found


def _mean(counted: tuple[tuple[float, int], ...]) -> float:
    return sum(bound * count for bound, count in counted) / sum(count for _, count in counted)


def _at(counted: tuple[tuple[float, int], ...], share: float) -> float:
    """The bound that this share of the transactions stayed within."""
    wanted = share * sum(count for _, count in counted)
    passed = 0
    for bound, count in counted:
        passed += count
        if passed >= wanted:
            return bound
    return counted[-1][0]


def sysbench_argv(
    load: Workload, socket: Path, command: str, seed: int, *, endless: bool = False
) -> list[str]:
    """The command line: `prepare`, `run` (to its end, or without one), or TPC-C's `check`."""
    ends = _ends(load, endless=endless) if command == "run" else ()
    return _argv(load, socket, load.threads, seed, (*_size(load), *ends, command))


def probe_argv(load: Workload, socket: Path, part: str, seed: int, protocol: Protocol) -> list[str]:
    """The command line of a part of the probe: one client reads what the load has written."""
    told = {
        "part": part,
        "operations": protocol.probe_reads,
        "written": load.client_operations,
        "clients": load.threads,
        "scan-length": protocol.scan_length,
    }
    flags = [f"--{name}={value}" for name, value in told.items()]
    return _argv(load, socket, 1, seed, (*_size(load), *flags, *_ENDLESS, "run"))


def is_of_records(load: Workload) -> bool:
    """Whether it is a load of db_bench's, run as SQL."""
    return isinstance(load.definition, Records)


def is_of_sysbench(load: Workload) -> bool:
    """Whether the script of a workload is one of sysbench itself."""
    return not is_of_records(load) and load.definition_of(Sql).is_of_sysbench


def has_check(load: Workload) -> bool:
    """Whether the tables can be checked after a run."""
    return not is_of_records(load) and load.definition_of(Sql).has_check


def _argv(load: Workload, socket: Path, threads: int, seed: int, more: Sequence[str]) -> list[str]:
    named = _RECORDS if is_of_records(load) else load.definition_of(Sql).script
    script = named if is_of_sysbench(load) else str(files(__package__) / named)
    return [
        "sysbench", script, "--db-driver=mysql", f"--mysql-socket={socket}", "--mysql-user=root",
        f"--mysql-db={DATABASE}", "--db-ps-mode=disable", f"--mysql-ignore-errors={_RETRIED}",
        f"--threads={threads}", f"--rand-seed={seed}", *more,
    ]  # fmt: skip


def _size(load: Workload) -> tuple[str, ...]:
    if is_of_records(load):
        return parameter_flags(load, "num", "key_size", "value_size", "compression_ratio")
    flags = load.definition_of(Sql).size_flags()
    return (*flags, "--mysql-storage-engine=rocksdb") if is_of_sysbench(load) else flags


def _ends(load: Workload, *, endless: bool) -> tuple[str, ...]:
    if load.transactions_s is not None:
        free = load.model_copy(update={"transactions_s": None})
        return (f"--rate={load.transactions_s}", *_ends(free, endless=endless))
    if endless:
        return _ENDLESS
    if is_of_records(load) or load.definition_of(Sql).output == "lookups":
        return (f"--operations={load.client_operations}", *_ENDLESS)
    if load.client_operations is None:
        ends = ("--events=0", f"--time={load.duration_s}")
    else:
        ends = (f"--events={load.client_operations * load.threads}", "--time=0")
    return (*ends, "--histogram=on") if is_of_sysbench(load) else ends


def read_run(load: Workload, printed: str) -> Run:
    """What sysbench printed; TrialFailedError where something is missing."""
    if is_of_records(load):
        return _records_run(printed, "write", load.threads)
    output = load.definition_of(Sql).output
    if output == "lookups":
        return _lookup_run(printed, load.threads)
    return _tpcc_run(printed, load.threads) if output == "transactions" else _oltp_run(printed)


def read_probe(part: str, printed: str) -> Run:
    """What sysbench printed of a part of the probe."""
    return _records_run(printed, part, threads=1)


def _records_run(printed: str, part: str, threads: int) -> Run:
    return _counted_run(_told(_OPERATIONS, printed, "records", threads), part)


def _counted_run(told: Sequence[_Operations], kind: str) -> Run:
    return Run(
        transactions=sum(thread.operations for thread in told),
        load_s=_span_s(told),
        latencies={kind: tuple(_buckets(thread.latency for thread in told))},
        retries=0,
    )


def _lookup_run(printed: str, threads: int) -> Run:
    told = _told(_LOOKUPS, printed, "lookup", threads)
    run = _counted_run(told, "get")
    return replace(run, found=sum(thread.found for thread in told))


def _told(
    whole: TypeAdapter[dict[str, _Read]], printed: str, script: str, threads: int
) -> list[_Read]:
    """What each thread of a script of ours told of itself."""
    told = [_read(whole, line)[script] for line in _lines(printed, script)]
    if len(told) != threads:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"only {len(told)} of {threads} threads of the sysbench script {script} printed "
            "results",
        )
    return told


def _lines(printed: str, script: str) -> list[str]:
    """Return the lines that a script of ours has printed."""
    return [line for line in printed.splitlines() if line.startswith(f'{{"{script}"')]


def _read(whole: TypeAdapter[_Read], line: str) -> _Read:
    try:
        return whole.validate_json(line)
    except ValidationError as error:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"a sysbench script printed an invalid result: {error.errors()[0]['msg']}",
        ) from error


def _span_s(told: Sequence[_Client]) -> float:
    span_s = max(thread.end_s for thread in told) - min(thread.start_s for thread in told)
    if not 0 < span_s < math.inf:
        reason = f"the clients of sysbench ran for {span_s:g} s, which is not possible"
        raise TrialFailedError(Status.UNREADABLE, reason)
    return span_s


def _tpcc_run(printed: str, threads: int) -> Run:
    told = _told(_TRANSACTIONS, printed, "tpcc", threads)
    by_kind = {kind: [thread.transactions[kind] for thread in told] for kind in TRANSACTIONS}
    committed = {kind: sum(part.commits for part in parts) for kind, parts in by_kind.items()}
    return Run(
        transactions=sum(committed.values()),
        load_s=_span_s(told),
        latencies={
            kind: tuple(_buckets(part.latency for part in parts)) for kind, parts in by_kind.items()
        },
        retries=sum(part.retries for parts in by_kind.values() for part in parts),
        new_orders=committed["new_order"],
    )


def _buckets(parts: Iterable[_Latency]) -> Iterator[tuple[float, int]]:
    """The histograms of all threads as one; a bucket stands for its middle."""
    counts: dict[int, int] = {}
    for part in parts:
        for bucket, count in part:
            counts[bucket] = counts.get(bucket, 0) + count
    for bucket in sorted(counts):
        yield _WIDTH ** (bucket + 1 / 2), counts[bucket]


def _oltp_run(printed: str) -> Run:
    total, took = _TOTAL.search(printed), _TIME.search(printed)
    retried = _RETRIED_EVENTS.search(printed)
    bars = [_BAR.fullmatch(line) for line in printed.splitlines()]
    counted = tuple((1000 * float(bar[1]), int(bar[2])) for bar in bars if bar)
    if total is None or took is None or not counted or math.isclose(float(took[1]), 0):
        raise TrialFailedError(Status.UNREADABLE, "sysbench printed no result")
    return Run(
        transactions=int(total[1]),
        load_s=float(took[1]),
        latencies={"transaction": counted},
        retries=int(retried[1]) if retried else 0,
    )


def read_check(printed: str) -> dict[int, int]:
    """How many warehouses or districts break each of TPC-C's consistency conditions.

    TrialFailedError where a line is not as the script prints it.
    """
    told = [_read(_CHECK, line) for line in _lines(printed, "condition")]
    return {line.condition: line.violations for line in told}
