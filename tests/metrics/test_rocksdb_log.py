"""LOG files: their sums against the tickers of the same run, a follower, cut lines."""

import gzip
import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.rocksdb_log import LogFollower, parse_events, summarise_log
from lsmtune.metrics.statistics import parse_statistics

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
RUNS = sorted(path.name for path in CAPTURED.iterdir() if path.is_dir())
LOGS = [*(f"{run}/LOG.gz" for run in RUNS), "myrocks-6.29-tpcc-universal.LOG.gz"]
STAMP = "2026/11/21-21:17:44.881941 9854 "


@cache
def log_of(path: str) -> str:
    return gzip.decompress((CAPTURED / path).read_bytes()).decode()


def event(micros: int, job: int, name: str, **fields: object) -> str:
    payload = {"time_micros": micros, "job": job, "event": name, **fields}
    return f"{STAMP}EVENT_LOG_v1 {json.dumps(payload)}\n"


@pytest.mark.parametrize("run", RUNS)
def test_written_bytes_are_those_of_the_tickers(run: str) -> None:
    log = log_of(f"{run}/LOG.gz")
    summary, tickers = summarise_log(log), parse_statistics(log).tickers
    assert summary.compaction_write_bytes == tickers["rocksdb.compact.write.bytes"]
    assert summary.flush_write_bytes is not None
    assert summary.flush_count is not None
    manifest = tickers["rocksdb.flush.write.bytes"] - summary.flush_write_bytes
    assert 130 <= manifest / summary.flush_count <= 150


@pytest.mark.parametrize("run", RUNS)
def test_read_bytes_are_nearly_those_of_the_tickers(run: str) -> None:
    log = log_of(f"{run}/LOG.gz")
    read = parse_statistics(log).tickers["rocksdb.compact.read.bytes"]
    stated = summarise_log(log).compaction_read_bytes
    assert stated == pytest.approx(read, rel=0.002)
    assert stated is not None
    assert stated > read


@pytest.mark.parametrize("run", RUNS)
def test_counts_and_time_are_those_of_the_table(run: str) -> None:
    log = log_of(f"{run}/LOG.gz")
    summary, total = summarise_log(log), parse_compaction_tables(log)[-1].sum
    assert total is not None
    assert summary.flush_count is not None
    assert summary.compaction_count is not None
    assert summary.flush_count + summary.compaction_count == total.comp_count
    level_0 = parse_compaction_tables(log)[-1].rows[0]
    assert summary.compaction_s == pytest.approx(
        (total.comp_s or 0) - (level_0.comp_s or 0 if level_0.level == "L0" else 0), abs=0.05
    )


def test_summary_of_a_run() -> None:
    summary = summarise_log(log_of("rocksdb-7.8.3-level/LOG.gz"))
    assert (summary.version, summary.incomplete) == ("7.8.3", ())
    assert (summary.flush_count, summary.compaction_count) == (106, 56)
    assert summary.flush_write_bytes == 61_204_117
    assert summary.compaction_s == 2.885357
    assert summary.running_jobs == ()
    assert summary.last_finished_micros == 1_795_295_859_515_199
    assert summary.manual_flush_started_micros == 1_795_295_859_040_339
    assert summary.stalls == {"stopping: immutable memtables": 44, "stalling: level-0 files": 45}
    assert summary.block_cache_capacity_bytes == 8 * 2**20


def test_summary_of_myrocks() -> None:
    summary = summarise_log(log_of(LOGS[-1]))
    assert (summary.version, summary.incomplete) == ("6.29.5", ())
    assert (summary.flush_count, summary.compaction_count) == (49, 38)
    assert summary.compaction_write_bytes == 363_240_594
    assert summary.stalls == {}
    assert summary.block_cache_capacity_bytes == 64 * 2**20


@pytest.mark.parametrize("path", LOGS)
def test_every_event_line_of_every_version_is_read(path: str) -> None:
    log = parse_events(log_of(path).splitlines())
    assert log.incomplete == ()
    assert len(log.events) == log_of(path).count("EVENT_LOG_v1")
    assert all(event.payload["event"] == event.name for event in log.events)


def test_the_other_stalls() -> None:
    text = "".join(
        f"{STAMP}[WARN] [db/column_family.cc:1] [default] {words}\n"
        for words in (
            "Stalling writes because of estimated pending compaction bytes 500 rate 8388608",
            "Stopping writes because of estimated pending compaction bytes 900",
            "Stopping writes because we have 36 level-0 files",
            "Stalling writes because of reasons",
        )
    )
    assert summarise_log(text).stalls == {
        "stalling: estimated pending compaction bytes": 1,
        "stopping: estimated pending compaction bytes": 1,
        "stopping: level-0 files": 1,
    }


def test_blob_files_count() -> None:
    summary = summarise_log(
        event(1, 2, "flush_started")
        + event(2, 2, "table_file_creation", file_size=10)
        + event(3, 2, "blob_file_creation", total_blob_bytes=100)
        + event(4, 2, "flush_finished")
        + event(5, 3, "compaction_started", input_data_size=7)
        + event(6, 3, "table_file_creation", file_size=10_000)
        + event(7, 3, "compaction_finished", total_output_size=20, total_blob_output_size=200)
    )
    assert (summary.flush_write_bytes, summary.compaction_write_bytes) == (110, 220)
    assert summary.compaction_read_bytes == 7
    assert summary.compaction_s is None


def test_job_numbers_restart_with_the_db() -> None:
    first = event(1, 2, "flush_started") + event(2, 2, "flush_finished")
    second = event(3, 2, "compaction_started") + event(4, 2, "table_file_creation", file_size=10)
    summary = summarise_log(first + second)
    assert summary.flush_write_bytes == 0
    assert summary.running_jobs == (2,)
    assert summary.compaction_read_bytes is None


def test_the_last_manual_flush_and_the_latest_end_count() -> None:
    """A flush's end is written late and may stand behind what ended after it."""
    summary = summarise_log(
        event(1, 2, "flush_started", flush_reason="Manual Flush")
        + event(2, 3, "flush_started", flush_reason="Manual Flush")
        + event(3, 4, "flush_started", flush_reason="Write Buffer Full")
        + event(9, 2, "flush_finished")
        + event(8, 3, "flush_finished")
    )
    assert summary.manual_flush_started_micros == 2
    assert summary.last_finished_micros == 9
    assert summary.running_jobs == (4,)


def test_a_log_that_says_nothing() -> None:
    summary = summarise_log("")
    assert (summary.flush_count, summary.flush_write_bytes) == (None, None)
    assert (summary.compaction_count, summary.compaction_write_bytes) == (None, None)
    assert (summary.compaction_read_bytes, summary.compaction_s) == (None, None)
    assert (summary.version, summary.block_cache_capacity_bytes) == (None, None)
    assert len(summary.incomplete) == 1


def test_differing_block_caches_are_told() -> None:
    cache_of = "  block_cache_options:\n    capacity : {}\n"
    summary = summarise_log("RocksDB version: 7.8.3\n" + cache_of.format(1) + cache_of.format(2))
    assert summary.block_cache_capacity_bytes is None
    assert len(summary.incomplete) == 1


def test_a_cut_event_is_counted_not_guessed() -> None:
    whole = event(1, 2, "flush_started")
    log = parse_events([whole, event(2, 2, "flush_finished")[:-9], whole])
    assert len(log.events) == 2
    assert log.incomplete == ("1 event lines are cut off and not counted",)


@pytest.mark.parametrize("path", LOGS)
def test_the_follower_sees_what_the_summary_sees(path: str) -> None:
    summary, follower = summarise_log(log_of(path)), LogFollower()
    content = log_of(path).encode()
    for start in range(0, len(content), 777):
        follower.feed(content[start : start + 777])
    assert follower.running_jobs == set(summary.running_jobs) == set()
    assert follower.last_finished_micros == summary.last_finished_micros
    assert follower.finished_count == (summary.flush_count or 0) + (summary.compaction_count or 0)


@given(st.lists(st.integers(0, 600), max_size=8))
def test_where_the_follower_is_fed_does_not_matter(cuts: list[int]) -> None:
    content = (
        event(1, 2, "flush_started")
        + event(5, 2, "flush_finished", lsm_state=[1, 0])
        + event(3, 7, "compaction_started", files_L0=[1, 2])
        + event(4, 8, "trivial_move")
    ).encode()
    follower = LogFollower()
    edges = [0, *sorted(cuts), len(content)]
    for start, end in pairwise(edges):
        follower.feed(content[start:end])
    assert follower.running_jobs == {7}
    assert (follower.finished_count, follower.last_finished_micros) == (1, 5)


def test_the_follower_waits_for_the_whole_line() -> None:
    follower, line = LogFollower(), event(1, 2, "flush_started").encode()
    follower.feed(line[:-1])
    assert follower.running_jobs == set()
    follower.feed(line[-1:])
    assert follower.running_jobs == {2}


def test_the_follower_keeps_the_latest_end() -> None:
    follower = LogFollower()
    for micros in (8, 9, 7):
        follower.feed(event(micros, micros, "flush_finished").encode())
    assert (follower.last_finished_micros, follower.finished_count) == (9, 3)


def test_the_follower_counts_an_end_that_rocksdb_cut() -> None:
    follower = LogFollower()
    follower.feed(event(1, 2, "compaction_started").encode())
    follower.feed(event(2, 2, "compaction_finished", lsm_state=[1])[:-8].encode() + b"\n")
    assert (follower.running_jobs, follower.finished_count) == (set(), 1)


@given(st.text(), st.binary())
def test_any_text_is_summed_up(text: str, chunk: bytes) -> None:
    summarise_log(text)
    summarise_log(f"EVENT_LOG_v1 {text}\n{STAMP}EVENT_LOG_v1 [{text}]\n")
    LogFollower().feed(b'EVENT_LOG_v1 {"time_micros": ' + chunk + b"\n" + chunk)


def test_deep_json_is_a_cut_event() -> None:
    assert parse_events(["EVENT_LOG_v1 " + "[" * 100_000]).incomplete
