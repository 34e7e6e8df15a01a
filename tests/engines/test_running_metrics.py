"""Metrics of a trial of a running store, from events of the driver that are made by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.driver.running_metrics import (
    Files,
    RunningOutput,
    measure,
    owed_bytes,
    read_cost,
)
from lsmtune.engines.rocksdb.driver.running_plan import Style
from lsmtune.metrics.log_jobs import Job, JobLedger
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import usable_cores
from lsmtune.system.process import ExitStatus
from lsmtune.workloads import Workload

Event = dict[str, Any]

LOAD = Workload(name="mix", num=1000, mix={"get": 0.5, "put": 0.25, "scan": 0.25})
RECORD = 16 + 1024
TICKERS = (
    "flush.write.bytes", "compact.write.bytes", "compact.read.bytes", "wal.bytes", "stall.micros",
    "number.keys.read", "number.db.seek", "bloom.filter.useful", "block.cache.miss",
    "block.cache.add",
    *(f"block.cache.{kind}.{what}" for kind in ("data", "index", "filter")
      for what in ("hit", "miss")),
)  # fmt: skip
TABLE = """
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)
  L0      2/0    2.00 MB   0.5      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0     60.0      0.05              0.03         5    0.010       0      0       0.0       0.0
 Sum      2/0    2.00 MB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0     60.0      0.05              0.03         5    0.010       0      0       0.0       0.0
"""  # noqa: E501
LEVEL = '[CFOptions "default"]\n  compaction_style=kCompactionStyleLevel\n'
UNIVERSAL = (
    '[CFOptions "default"]\n  compaction_style=kCompactionStyleUniversal\n'
    "  compaction_options_universal={size_ratio=1;max_size_amplification_percent=50;}\n"
)
PARALLEL = LEVEL + "  compression_opts={level=1;parallel_threads=4;}\n"


def report(**fields: Any) -> Event:
    """A report; tickers that are not named are 0, in thousands."""
    counts = dict.fromkeys(TICKERS, 0) | fields.pop("tickers", {})
    return {
        "event": "report",
        "statistics": "\n".join(f"rocksdb.{name} COUNT : {n}" for name, n in counts.items()),
        "tables": {"default": TABLE}, "database": "", "table_readers_bytes": 500,
        "live_files": [[1, 6, 100]], "live_blob_bytes": 0, "pending_bytes": 0,
    } | fields  # fmt: skip


def operation(count: int, **fields: Any) -> Event:
    service = {f"{name}_us": 10.0 for name in ("mean", "p50", "p75", "p99", "p999", "p9999")}
    response = {f"{name}_us": 30.0 for name in ("mean", "p50", "p99", "p999", "p9999")}
    return {"count": count, "records": count, **service, "response": response} | fields


SENT: Event = {
    "get": operation(5000, blocks={"data": 11_250, "index": 9, "filter": 0}),
    "put": operation(2500),
    "scan": operation(2500),
}


def samples(phase: str = "window", **fields: Any) -> Event:
    """Three samples: at the begin, after 1 s and after 4 s."""
    return {
        "event": "samples", "phase": phase, "second": [0.0, 1.0, 4.0],
        "written_bytes": [0, 1000, 7000], "level_files": [[9, 0, 9], [4, 0, 1], [8, 1, 3]],
        "live_sst_bytes": [0, 100, 200], "live_blob_bytes": [0, 0, 100],
        "pending_bytes": [0, 40, 40], "memtable_bytes": [0, 4, 4], "folder_bytes": [50, 900, 300],
    } | fields  # fmt: skip


def ran(phase: str, operations: Mapping[str, Event], **fields: Any) -> Event:
    return {
        "event": "run", "phase": phase, "seconds": 4.0, "time_s": 104.0, "operations": operations,
        "behind_s": 0.02, "wakeup_us": {"count": 9, "p50_us": 3.0, "p99_us": 8.0},
        "cpu_s": {"background": 0.3, "calls": 0.1, "driver": 0.5},
    } | fields  # fmt: skip


def trial(
    window: Event | None = None,
    *,
    options: str = LEVEL,
    begin: Event | None = None,
    end: Event | None = None,
    course: Event | None = None,
    capacity: Event | None = None,
    jobs: tuple[Job, ...] = (),
    load: Workload = LOAD,
    old: frozenset[int] = frozenset(),
    folder: Path = Path("none"),
) -> Measurement:
    """Measure a trial whose window lies between two reports."""
    closed = {kind: operation(2000) for kind in ("get", "put", "scan")}
    events = [
        {"event": "opened", "version": "11.8.1", "options": options},
        report(), samples("capacity"), capacity or ran("capacity", closed), report(),
        begin or report(), course or samples(), window or ran("window", SENT), end or report(),
    ]  # fmt: skip
    output = RunningOutput(ExitStatus(0, None, 1.0, 777), events, assertions_enabled=False)
    log = LogContent(ledger=JobLedger(jobs=list(jobs)))
    return measure(load, output, log, Files(folder, old), {})


def test_means_are_over_the_time_of_the_window() -> None:
    m = trial().metrics
    assert m["live_sst_bytes"] == (1 * 100 + 3 * 300) / 4
    assert m["scan_sorted_runs"] == (1 * 5 + 3 * 10) / 4
    assert m["level0_files"] == (1 * 4 + 3 * 8) / 4
    assert m["pending_bytes"] == 40
    assert m["memtable_bytes"] == 4
    assert m["peak_space_bytes"] == 900


def test_latencies_are_service_times_and_response_times() -> None:
    m = trial().metrics
    assert {m["get_p50_us"], m["write_mean_us"], m["scan_p75_us"]} == {10}
    assert {m["get_p99_us"], m["write_p999_us"], m["scan_p9999_us"]} == {30}
    assert m["wakeup_p99_us"] == 8


def test_costs_per_operation() -> None:
    m = trial().metrics
    assert m["cpu_us_per_op"] == pytest.approx(0.4e6 / 10_000)
    assert m["driver_cpu_percent"] == pytest.approx(100 * 0.5 / 4 / usable_cores())
    assert m["get_data_blocks"] == 2.25
    # Two thirds of the reads are gets.
    assert m["read_cost"] == pytest.approx(2.5 ** (2 / 3) * (8.75 + 1) ** (1 / 3))


def test_a_workload_without_reads_has_no_read_cost() -> None:
    assert read_cost({}, {"get_data_blocks": 1.0}) is None
    assert read_cost({"get_missing": 0.1}, {"get_missing_data_blocks": 1.0}) == 1.25


def test_written_bytes_are_those_of_the_window_and_what_it_owes() -> None:
    before = {"flush.write.bytes": 500, "compact.write.bytes": 70}
    after = {"flush.write.bytes": 500 + 2500 * RECORD, "compact.write.bytes": 70 + 5000 * RECORD,
             "wal.bytes": 2500 * RECORD, "stall.micros": 400_000}  # fmt: skip
    # From the middle of the first quarter to that of the last one, three quarters of the growth.
    owed = samples(pending_bytes=[0, 10, 10 + 0.75 * 250 * RECORD])
    m = trial(begin=report(tickers=before), end=report(tickers=after), course=owed).metrics
    assert m["write_amp"] == pytest.approx(3.1)
    assert m["wal_inclusive_write_amp"] == pytest.approx(4.1)
    assert m["flush_write_bytes"] == 2500 * RECORD
    assert (m["stall_s"], m["stall_percent"]) == pytest.approx((0.4, 10))


def test_with_parallel_compression_jobs_of_the_window_are_counted() -> None:
    def job(end_s: float) -> Job:
        return Job("compaction", "default", None, 0, int(end_s * 1e6), table_bytes=2500 * RECORD)

    jobs = (job(99.9), job(101.0), job(104.1))
    assert trial(jobs=jobs).metrics["write_amp"] == 0
    assert trial(jobs=jobs, options=PARALLEL).metrics["write_amp"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("files", "owed"),
    [
        ([], 0),
        ([[1, 6, 1000]], 0),
        # A tenth of the last run, of a half at which all is merged: a fifth of all bytes.
        ([[2, 0, 60], [3, 0, 40], [1, 6, 1000]], 1100 / 5),
        ([[2, 0, 900], [1, 6, 600], [3, 6, 400]], 1900),
        # Without levels, the largest run is the last one.
        ([[2, 0, 100], [3, 0, 1000]], 1100 / 5),
    ],
)
def test_universal_compaction_owes_a_part_of_the_next_full_merge(
    files: list[list[int]], owed: float
) -> None:
    full_merge = Style.of(UNIVERSAL).full_merge
    assert full_merge == 0.5
    assert owed_bytes([(n, level, size) for n, level, size in files], full_merge) == (
        pytest.approx(owed)
    )


def test_universal_compaction_is_charged_with_what_it_owes() -> None:
    client_bytes = 2500 * RECORD
    begin = report(live_files=[[1, 6, 4 * client_bytes]])
    end = report(live_files=[[2, 0, client_bytes], [1, 6, 4 * client_bytes]])
    assert trial(begin=begin, end=end, options=LEVEL).metrics["write_amp"] == 0
    m = trial(begin=begin, end=end, options=UNIVERSAL).metrics
    assert m["write_amp"] == pytest.approx(5 / 2)


def test_overload_is_the_larger_of_lateness_and_growth() -> None:
    assert trial().metrics["overload"] == 0.5  # 20 ms late of 80 ms that are allowed
    assert trial(ran("window", SENT, behind_s=0.16)).metrics["overload"] == pytest.approx(2)
    end = report(tickers={"flush.write.bytes": 1000})
    owed = samples(pending_bytes=[0, 10, 235])
    assert trial(end=end, course=owed).metrics["overload"] == pytest.approx(10_000 / 6000)
    fewer = {kind: operation(100) for kind in ("get", "put", "scan")}
    calm = trial(ran("window", fewer), end=end, course=owed).metrics
    assert calm["overload"] == 0.5  # it owes three times what is allowed, but can take more


def test_universal_compaction_lags_if_flushed_files_pile_up() -> None:
    # It owes ten times what it wrote, but keeps the number of files.
    begin = report(live_files=[[1, 6, 1000]])
    tickers = {"flush.write.bytes": 1000, "compact.write.bytes": 3000}
    end = report(live_files=[[1, 6, 1000], [2, 0, 1000]], tickers=tickers)
    jobs = tuple(Job("flush", "default", None, 0, int(t * 1e6), table_bytes=9) for t in (101, 102))
    for files, overload in (([5, 5], 0.5), ([5, 8], 10_000 / 6000)):
        course = samples(level_files=[[9], *([count] for count in files)])
        m = trial(begin=begin, end=end, course=course, jobs=jobs, options=UNIVERSAL).metrics
        assert m["overload"] == pytest.approx(overload)


def test_clients_that_stand_still_are_an_overload() -> None:
    still = {kind: operation(0) for kind in ("get", "put", "scan")}
    measurement = trial(ran("window", still, behind_s=None, wakeup_us=None))
    assert measurement.metrics["overload"] > 10
    assert "write_p99_us" not in measurement.metrics


def test_capacity_is_less_by_what_is_owed() -> None:
    assert trial().metrics["capacity_ops_s"] == pytest.approx(6000 / 4)
    events = ran("capacity", {"put": operation(8000)}, behind_s=None)
    overwrite = Workload(name="overwrite", num=1000)
    assert trial(capacity=events, load=overwrite).metrics["capacity_ops_s"] == pytest.approx(2000)


def test_capacity_of_a_mix_with_clients_for_missing_keys_keeps_the_shares() -> None:
    # A client takes 1 ms for an operation of the first group and 4 ms for one of the second.
    sent = {"get": operation(2000), "put": operation(2000), "get_missing": operation(1000)}
    mix = Workload(name="mix", num=1000, mix={"get": 0.4, "put": 0.4, "get_missing": 0.2})
    m = trial(capacity=ran("capacity", sent), load=mix).metrics
    assert m["capacity_ops_s"] == pytest.approx(2 / (0.8 * 1e-3 + 0.2 * 4e-3))


def test_old_files_are_those_from_before_the_opening(tmp_path: Path) -> None:
    for number, size in ((3, 50), (8, 150)):
        (tmp_path / f"{number:06}.blob").write_bytes(b"x" * size)
    end = report(live_files=[[2, 6, 250], [7, 0, 550]])
    m = trial(end=end, folder=tmp_path, old=frozenset({1, 2, 3})).metrics
    assert m["old_percent"] == pytest.approx(30)


def test_the_course_of_the_window_has_few_moments() -> None:
    first, second = trial().window
    assert (first.second, first.write_bytes_s, first.level0_files) == (1, 1000, 4)
    assert (second.second, second.write_bytes_s, second.live_bytes) == (4, 2000, 300)


def test_a_missing_event_is_told() -> None:
    output = RunningOutput(ExitStatus(0, None, 1.0, 1), [], assertions_enabled=False)
    with pytest.raises(TrialFailedError, match="no event"):
        output.step("window", ())
