"""Tickers and histograms of db_bench's stdout, of LOG and of MyRocks."""

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import ParseError
from lsmtune.metrics.statistics import HistogramSummary, parse_statistics

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
FINISHED = ["rocksdb-7.8.3-level", "rocksdb-11.8.1-level", "rocksdb-11.8.1-universal"]
DUMP = """STATISTICS:
rocksdb.bytes.written COUNT : 105600000
rocksdb.stall.micros COUNT : 7
rocksdb.db.get.micros P50 : 1.5 P95 : 2.0 P99 : 3.0 P100 : 4.0 COUNT : 5 SUM : 6
"""


def stdout_of(run: str) -> str:
    return (CAPTURED / run / "stdout.txt").read_text()


def log_of(run: str) -> str:
    return gzip.decompress((CAPTURED / run / "LOG.gz").read_bytes()).decode()


def test_tickers_and_histograms() -> None:
    statistics = parse_statistics(stdout_of("rocksdb-7.8.3-level"))
    assert statistics.tickers["rocksdb.bytes.written"] == 105_600_000
    assert statistics.tickers["rocksdb.compact.write.bytes"] == 218_731_323
    assert (len(statistics.tickers), len(statistics.histograms)) == (193, 58)
    assert statistics.incomplete == ()
    prefetched = statistics.histograms["rocksdb.prefetched.bytes.discarded"]
    assert prefetched == HistogramSummary(0, 0, 0, 0, 292, 0)


@pytest.mark.parametrize("run", FINISHED)
def test_the_last_dump_in_the_log_is_the_one_on_stdout(run: str) -> None:
    """Writes had ended before the last dump; of the reads a LOG of a short run sees less."""
    on_stdout, in_log = parse_statistics(stdout_of(run)), parse_statistics(log_of(run))
    assert on_stdout.tickers.keys() == in_log.tickers.keys()
    for written in ("bytes.written", "wal.bytes", "flush.write.bytes", "compact.write.bytes"):
        assert on_stdout.tickers[f"rocksdb.{written}"] == in_log.tickers[f"rocksdb.{written}"]
    stalls = on_stdout.histograms["rocksdb.db.write.stall"]
    assert stalls.count
    assert stalls == in_log.histograms["rocksdb.db.write.stall"]


def test_a_run_that_was_ended_has_its_statistics_in_the_log() -> None:
    assert parse_statistics(stdout_of("rocksdb-7.8.3-universal")).tickers == {}
    log = parse_statistics(log_of("rocksdb-7.8.3-universal"))
    assert log.tickers["rocksdb.compact.write.bytes"] == 179_296_891


def test_engine_status_of_myrocks() -> None:
    text = (CAPTURED / "myrocks-6.29-engine-status-universal.txt").read_text()
    statistics = parse_statistics(text)
    assert statistics.tickers["rocksdb.block.cache.miss"] == 181_414
    assert statistics.tickers["rocksdb.flush.write.bytes"] == 69_084_858
    commit = statistics.histograms["rocksdb.commit_latency"]
    assert commit == HistogramSummary(0.56, 2.41, 221.34, 12900.0, None, None)


def test_the_last_dump_wins() -> None:
    later = DUMP.replace("COUNT : 7", "COUNT : 8")
    assert parse_statistics(DUMP + later).tickers["rocksdb.stall.micros"] == 8


def test_a_last_dump_that_is_cut_off_is_told() -> None:
    cut = DUMP.splitlines(keepends=True)[:2]
    statistics = parse_statistics(DUMP + "".join(cut))
    assert list(statistics.tickers) == ["rocksdb.bytes.written"]
    (fault,) = statistics.incomplete
    assert " 2 entries " in fault


def test_a_number_that_may_be_cut_is_not_read() -> None:
    statistics = parse_statistics("rocksdb.bytes.written COUNT : 1056")
    assert statistics.tickers == {}
    (fault,) = statistics.incomplete
    assert "last line" in fault


def test_what_is_not_said_is_not_a_key() -> None:
    statistics = parse_statistics("")
    assert (statistics.tickers, statistics.histograms, statistics.incomplete) == ({}, {}, ())


@pytest.mark.parametrize(
    "line", ["rocksdb.x COUNT : -1", "rocksdb.x COUNT : many", "rocksdb.x P50 : 1 COUNT : 2"]
)
def test_an_entry_that_is_none_is_named(line: str) -> None:
    with pytest.raises(ParseError, match=r"line 2 .*rocksdb\.x"):
        parse_statistics(f"STATISTICS:\n{line}\n")


OLD = "rocksdb.db.get.micros statistics Percentiles :=> 50 : 1.5 95 : 2.5 99 : 9.5"


def test_a_histogram_of_an_old_version_has_no_maximum() -> None:
    assert parse_statistics(f"{OLD}\n").histograms["rocksdb.db.get.micros"] == (
        HistogramSummary(1.5, 2.5, 9.5, None, None, None)
    )
    newer = parse_statistics(f"{OLD} 100 : 12.0\n").histograms["rocksdb.db.get.micros"]
    assert newer.p100 == 12.0


def test_entries_that_cannot_be_read_are_left_out_and_told_on_request() -> None:
    unreadable = "rocksdb.x COUNT : ***@***.***\nrocksdb.y P50 : nan COUNT : 3\n"
    statistics = parse_statistics(DUMP + unreadable, leave_out=True)
    assert statistics.tickers == parse_statistics(DUMP).tickers
    assert statistics.histograms == parse_statistics(DUMP).histograms
    (fault,) = statistics.incomplete
    assert " 2 of the entries " in fault
    assert "rocksdb.x" in fault


def test_entries_that_a_mail_folds_are_put_together() -> None:
    folded = DUMP.replace(" P99 ", "\nP99 ").replace("COUNT : 7", "COUNT :\n7")
    assert folded.count("\n") == DUMP.count("\n") + 2
    assert parse_statistics(folded, leave_out=True) == parse_statistics(DUMP)


@given(st.text(), st.sampled_from([" COUNT : ", " statistics Percentiles :=> ", "STATISTICS:\n"]))
def test_any_text_gives_statistics_or_a_parse_error(text: str, hint: str) -> None:
    parse_statistics(text)
    parse_statistics(f"{DUMP}{text}\nrocksdb.{text}{hint}{text}\n{hint}", leave_out=True)
    with suppress(ParseError):
        parse_statistics(f"{DUMP}{text}\nrocksdb.{text}{hint}{text}\n{hint}")
