"""From the events of the driver to the records of a trial."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.bench import HeldRun, Latency, LoadOutput, Part, ProbeOutput, RunResult
from lsmtune.engines.rocksdb.driver.plans import GETS, LOAD, MISSING, SCANS
from lsmtune.engines.tickers import data_block_lookups
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    parse_compaction_tables,
    parse_stall_summary,
)
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.statistics import parse_statistics
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Status
from lsmtune.units import MIB

Event = Mapping[str, Any]

_LATENCIES = {
    "put": "write", "delete": "write", "read_modify_write": "write", "get": "get",
    "get_missing": "get_missing", "scan": "scan",
}  # fmt: skip
"""Operations of the driver, and the prefix of their metrics."""
PERCENTILES = ("p50", "p75", "p99", "p999", "p9999")
"""Percentiles in the events of the driver, each as a key `NAME_us`."""
_NOT_SENT = RunResult(0.0, 0, None, None, None, {})


def load_output(
    run: HeldRun, events: Sequence[Event], part: Part, log: LogContent, *, assertions_enabled: bool
) -> LoadOutput:
    """Return the results of a part that loads or settles; TrialFailedError if one is missing."""
    opened, report = one(events, "opened"), one(events, "report")
    sent = [event for event in events if event["event"] == "run"]
    result = result_of(one(events, "run", LOAD), part) if sent else _NOT_SENT
    return LoadOutput(
        run=run,
        result=result,
        statistics=parse_statistics(report["statistics"] + "\n"),
        table=table_in(report),
        stalls=stalls_in(report),
        version=opened["version"],
        assertions_enabled=assertions_enabled,
        log=log,
        database=part.database,
        table_readers_bytes=report.get("table_readers_bytes"),
    )


def table_in(report: Event) -> CompactionTable:
    """Return the compaction table of a report; TrialFailedError if it has none."""
    tables = [t for t in parse_compaction_tables(_counted(report)) if t.column_family == "default"]
    if not tables:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB's report has no compaction table")
    return tables[-1]


def stalls_in(report: Event) -> Mapping[str, int]:
    """Return the number of write stalls since the store was opened, by cause."""
    return parse_stall_summary(_counted(report)).counts


def _counted(report: Event) -> str:
    return f"{report['tables']['default']}\n{report['database']}"


def probe_output(status: ExitStatus, events: Sequence[Event], part: Part) -> ProbeOutput:
    """Return the results of the read probe."""
    reports = [parse_statistics(text) for text in _statistics(events)]
    if len(reports) != len(names := (GETS, MISSING, SCANS)):
        raise TrialFailedError(
            Status.UNREADABLE, f"the driver printed {len(reports)} of {len(names)} events report"
        )
    total = [data_block_lookups(report) for report in reports]
    gets, missing, scans = (
        replace(result_of(one(events, "run", name), part), data_blocks=now - before)
        for name, (before, now) in zip(names, pairwise([0, *total]), strict=True)
    )
    return ProbeOutput(status, gets, missing, scans, reports[-1])


def _statistics(events: Sequence[Event]) -> Iterator[str]:
    """Yield the statistics of each report, as text with its last line end."""
    return (event["statistics"] + "\n" for event in events if event["event"] == "report")


def result_of(event: Event, part: Part) -> RunResult:
    """Return the operations of a phase. Those of a writer next to readers are not counted."""
    sent = dict(event["operations"])
    # Range deletions run in addition to the operations of the workload.
    sent.pop("range_delete", None)
    if part.name == "load" and part.workload.write_rate_bytes_s is not None:
        sent.pop("put")
    gets = sent.get("get", sent.get("get_missing"))
    seconds = event["seconds"]
    return RunResult(
        seconds=seconds,
        operations=sum(kind["count"] for kind in sent.values()),
        rate_mb_s=_records(sent) * part.workload.record_bytes / MIB / seconds,
        found=None if gets is None else gets["records"],
        looked_up=None if gets is None else gets["count"],
        latencies=dict(_latencies(sent)),
    )


def _records(sent: Mapping[str, Event]) -> int:
    return sum(kind["records"] for name, kind in sent.items() if name != "delete")


def _latencies(sent: Mapping[str, Event]) -> Iterator[tuple[str, Latency]]:
    for kind, values in sent.items():
        if kind in _LATENCIES and values["count"]:
            percentiles = {name: values[f"{name}_us"] for name in PERCENTILES}
            yield _LATENCIES[kind], Latency(values["mean_us"], percentiles)


def one(events: Sequence[Event], kind: str, phase: str | None = None) -> Event:
    """Return the event of that kind, and of that phase if named; TrialFailedError without one."""
    for event in events:
        if event["event"] == kind and phase in (None, event.get("phase")):
            return event
    raise TrialFailedError(Status.UNREADABLE, f"the driver printed no event {kind}")
