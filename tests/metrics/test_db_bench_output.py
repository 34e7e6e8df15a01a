"""What db_bench prints: real output of two versions, documents about a third, garbage."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import ParseError
from lsmtune.metrics.db_bench import BenchmarkResult, is_result_line, parse_banner, parse_results

DATA = Path(__file__).parents[1] / "data"
RUNS = sorted(path.name for path in (DATA / "captured").iterdir() if path.is_dir())
LEVEL_7_8 = "rocksdb-7.8.3-level"
LINE = "fillrandom   :      27.518 micros/op 36338 ops/sec 2.752 seconds 100000 operations;"
HISTOGRAM = """Microseconds per {operation}:
Count: 100000 Average: 27.5175  StdDev: 215.31
Min: 4  Median: 8.5469  Max: 18555
Percentiles: P50: 8.55 P75: 10.42 P99: 940.02 P99.9: 2703.57 P99.99: 8433.33
------------------------------------------------------
(       3,       4 ]       58   0.058%   0.058%
"""


def stdout_of(run: str) -> str:
    return (DATA / "captured" / run / "stdout.txt").read_text()


def seed(name: str) -> str:
    return (DATA / "seeds" / name).read_text()


def test_a_load_has_throughput_and_latency() -> None:
    load = parse_results(stdout_of(LEVEL_7_8))["fillrandom"]
    assert (load.micros_per_op, load.ops_per_s) == (27.518, 36338)
    assert (load.elapsed_s, load.operations, load.rate_mb_s) == (2.752, 100_000, 36.0)
    assert (load.found, load.looked_up) == (None, None)
    assert load.latency is not None
    assert (load.latency.count, load.latency.average_us) == (100_000, 27.5175)
    assert (load.latency.std_us, load.latency.median_us) == (215.31, 8.5469)
    assert (load.latency.min_us, load.latency.max_us) == (4, 18555)
    assert load.latency.percentiles == {
        "p50": 8.55,
        "p75": 10.42,
        "p99": 940.02,
        "p999": 2703.57,
        "p9999": 8433.33,
    }


def test_reads_tell_how_many_were_found() -> None:
    results = parse_results(stdout_of(LEVEL_7_8))
    assert list(results) == ["fillrandom", "readrandom", "readmissing", "seekrandom"]
    assert (results["readrandom"].found, results["readrandom"].looked_up) == (3163, 5000)
    missing = results["readmissing"]
    assert (missing.found, missing.looked_up, missing.rate_mb_s) == (0, 5000, None)


@pytest.mark.parametrize("run", RUNS)
def test_each_latency_belongs_to_its_benchmark(run: str) -> None:
    results = parse_results(stdout_of(run))
    for result in results.values():
        assert result.latency is not None
        assert result.latency.count == result.operations
        assert result.latency.average_us == pytest.approx(result.micros_per_op, rel=0.03)
    assert list(results["fillrandom"].latencies) == ["write"]


def test_an_output_that_was_cut_off_gives_what_is_whole() -> None:
    """The universal run of 7.8.3 never came back from waitforcompaction."""
    assert list(parse_results(stdout_of("rocksdb-7.8.3-universal"))) == ["fillrandom"]


def test_no_truncation_gives_another_number() -> None:
    text = stdout_of(LEVEL_7_8)
    whole = parse_results(text)["fillrandom"]
    start = text.index("fillrandom   :")
    for end in range(start, start + 400):
        for result in _results_or_nothing(text[:end]):
            assert result.latency in (None, whole.latency) or _part_of(result, whole)
            assert result.operations == whole.operations
            assert result.rate_mb_s in (None, whole.rate_mb_s)


def _results_or_nothing(text: str) -> list[BenchmarkResult]:
    try:
        return list(parse_results(text).values())
    except ParseError:
        return []


def _part_of(result: BenchmarkResult, whole: BenchmarkResult) -> bool:
    assert result.latency is not None
    assert whole.latency is not None
    return result.latency.percentiles.items() <= whole.latency.percentiles.items()


def test_old_versions_tell_less() -> None:
    result = parse_results("fillseq      :   8.735 micros/op 114478 ops/sec;   12.7 MB/s\n")[
        "fillseq"
    ]
    assert (result.micros_per_op, result.ops_per_s, result.rate_mb_s) == (8.735, 114478, 12.7)
    assert (result.elapsed_s, result.operations, result.latency) == (None, None, None)


def test_a_document_may_wrap_the_line() -> None:
    result = parse_results(seed("db_bench-6.21-wrapped.txt"))["fillseq"]
    assert (result.micros_per_op, result.ops_per_s, result.rate_mb_s) == (8.735, 114478, 12.7)


def test_a_document_may_lose_the_rate() -> None:
    assert parse_results(seed("db_bench-6.21-two-columns.txt"))["fillrandom"].rate_mb_s is None


def test_a_document_may_put_the_name_where_nobody_can_find_it() -> None:
    with pytest.raises(ParseError, match=r"line 26 .*4940\.502 micros/op"):
        parse_results(seed("db_bench-6.21-read.txt"))


def test_a_mixed_benchmark_has_a_latency_for_each_operation() -> None:
    text = LINE + "\n" + HISTOGRAM.format(operation="read") + HISTOGRAM.format(operation="write")
    result = parse_results(text)["fillrandom"]
    assert set(result.latencies) == {"read", "write"}
    assert result.latency is None


def test_a_histogram_without_result_belongs_to_nothing() -> None:
    assert parse_results(HISTOGRAM.format(operation="write")) == {}


def test_the_last_of_several_runs_counts() -> None:
    assert parse_results(LINE + "\n" + LINE.replace("36338", "7"))["fillrandom"].ops_per_s == 7


def test_progress_on_the_same_line_is_no_hindrance() -> None:
    assert "fillrandom" in parse_results("... finished 100000 ops          \r" + LINE)


def test_a_broken_result_line_is_named() -> None:
    with pytest.raises(ParseError, match=r"line 2 .*-nan micros"):
        parse_results("\nfillseq : -nan micros/op 114478 ops/sec; 12.7 MB/s")


def test_a_broken_histogram_is_named() -> None:
    with pytest.raises(ParseError, match="line 3 "):
        parse_results(LINE + "\nMicroseconds per write:\nnone\nof\nthat\nat all\n")


def test_what_is_broken_is_left_out_alone_on_request() -> None:
    histogram = "Microseconds per write:\nnone\nof\nthat\nat all\n"
    broken = "fillseq : -nan micros/op 114478 ops/sec; 12.7 MB/s\n"
    unreadable: list[str] = []
    text = f"{broken}{LINE}\n{histogram}{LINE.replace('fillrandom', 'overwrite ')}\n"
    results = parse_results(text, unreadable)
    assert {name: result.latency for name, result in results.items()} == {
        "fillrandom": None, "overwrite": None,
    }  # fmt: skip
    assert results["overwrite"].ops_per_s == 36338
    assert [fault.partition("line ")[2][:2] for fault in unreadable] == ["1 ", "4 "]


def test_is_result_line() -> None:
    assert is_result_line(LINE + "\n", "fillrandom")
    assert not is_result_line(LINE, "fill")
    assert not is_result_line("DB path: [fillrandom]", "fillrandom")


@pytest.mark.parametrize("run", RUNS)
def test_banner(run: str) -> None:
    banner = parse_banner(stdout_of(run), (DATA / "captured" / run / "stderr.txt").read_text())
    assert banner.rocksdb_version == run.split("-")[1]
    assert banner.compression == "Snappy"
    assert banner.assertions_enabled == ("7.8.3" in run)
    assert banner.optimization_disabled is False
    assert len(banner.warnings) == int("7.8.3" in run)


def test_banner_of_an_old_version_is_on_stdout() -> None:
    banner = parse_banner(seed("db_bench-6.21-read.txt"), "")
    assert (banner.rocksdb_version, banner.compression) == ("6.21", "Snappy")


def test_banner_of_a_debug_build() -> None:
    warning = "WARNING: Optimization is disabled: benchmarks unnecessarily slow"
    banner = parse_banner(f"Compression: ZSTD\n{warning}\n", "")
    assert banner.optimization_disabled is True
    assert banner.warnings == (warning,)


def test_no_banner_says_nothing() -> None:
    banner = parse_banner("Unable to open db", "")
    assert (banner.rocksdb_version, banner.compression) == (None, None)
    assert (banner.assertions_enabled, banner.optimization_disabled) == (None, None)


@given(st.text())
def test_any_text_gives_results_or_a_parse_error(text: str) -> None:
    parse_banner(text, text)
    _results_or_nothing(text)
    _results_or_nothing(f"{LINE}\n{text}\n")
    _results_or_nothing(f"fillseq : {text} micros/op 1 ops/sec;{text}\nMicroseconds per {text}:\n")
