"""BEFORE and AFTER of benchmarks: one run each, several runs, other loads, other benchmarks."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.bench_texts import banner, histogram, report, result, row, statistics
from lsmtune.analysis.inspect.before_after import (
    Compared,
    compare,
    compare_sides,
    compared_document,
    two_sides,
)
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path


@pytest.fixture(name="read")
def _read(tmp_path: Path) -> Any:
    def inspected(*texts: str) -> list[Inspection]:
        logs = []
        for text in texts:
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}.txt"
            path.write_text(text)
            logs.append(inspect_path(path))
        return logs

    return inspected


def verdicts(compared: Compared, benchmark: str) -> dict[str, str]:
    (found,) = (one for one in compared.benchmarks if one.name == benchmark)
    return {name: judged.verdict for name, judged in found.metrics.items()}


def test_one_run_each_is_never_better(read: Any) -> None:
    before, after = read(
        banner() + result("fillrandom", 100_000) + histogram(11, 70),
        banner() + result("fillrandom", 180_000) + histogram(6, 31),
    )
    found = compare(before, after)
    assert found.comparable
    (benchmark,) = found.benchmarks
    assert set(verdicts(found, "fillrandom").values()) == {"one_run_each"}
    assert benchmark.main is not None
    assert benchmark.main.values.ratio == pytest.approx(1.8)
    assert benchmark.metrics["p99_us"].values.ratio == pytest.approx(31 / 70)
    assert benchmark.main.interval is None
    assert not found.runs.differences


def test_results_without_a_banner_are_compared(read: Any) -> None:
    before, after = read(
        "fillseq      :       1.250 micros/op 800000 ops/sec;  310.1 MB/s\n",
        "fillseq      :       1.000 micros/op 1000000 ops/sec;  387.6 MB/s\n",
    )
    found = compare(before, after)
    assert found.comparable
    assert verdicts(found, "fillseq")["ops_per_s"] == "one_run_each"


def test_several_runs_in_one_text_have_an_interval(read: Any) -> None:
    before, after = read(
        banner() + "".join(result("overwrite", ops) for ops in (50_000, 51_000, 50_500)),
        banner() + "".join(result("overwrite", ops) for ops in (60_000, 61_500, 60_900)),
    )
    found = compare(before, after)
    (benchmark,) = found.benchmarks
    main = benchmark.main
    assert main is not None
    assert main.interval is not None
    assert main.runs == (3, 3)
    assert main.verdict == "better"
    assert benchmark.metrics["micros_per_op"].verdict == "better"
    assert 1.15 < main.interval.low < 1.2 < main.interval.high < 1.25
    assert compare(after, before).benchmarks[0].verdict == "worse"


def test_several_files_per_side_are_runs(read: Any) -> None:
    texts = [banner() + result("readrandom", ops) for ops in (900, 1300, 1000, 1250)]
    before, after = read(*texts[:2]), read(*texts[2:])
    found = compare_sides(before, after)
    (benchmark,) = found.benchmarks
    assert benchmark.verdict == "undecided"
    assert benchmark.main is not None
    assert benchmark.main.runs == (2, 2)
    document = compared_document(found)
    json.dumps(document, allow_nan=False)
    assert [one["name"] for one in document["before"]] == [log.name for log in before]
    interval = document["benchmarks"][0]["metrics"]["ops_per_s"]["interval"]
    assert interval["of"] == "ratio"
    assert interval["low"] < 1 < interval["high"]


def test_runs_that_hardly_differ_are_unchanged(read: Any) -> None:
    text = "".join(result("readrandom", ops) for ops in (100_000, 100_400, 99_900, 100_100))
    other = "".join(result("readrandom", ops) for ops in (100_200, 100_300, 99_800, 100_000))
    before, after = read(banner() + text, banner() + other)
    assert verdicts(compare(before, after), "readrandom")["ops_per_s"] == "unchanged"


def test_one_run_against_several_is_not_judged(read: Any) -> None:
    several = "".join(result("overwrite", ops) for ops in (50_000, 51_000, 50_500))
    before, after = read(banner() + result("overwrite", 10_000), banner() + several)
    assert verdicts(compare(before, after), "overwrite")["ops_per_s"] == "too_few_runs"


def test_means_with_a_deviation_are_judged_and_others_are_not(read: Any) -> None:
    line = "fillrandom [AVG 5 runs] : {} (± {}) ops/sec;   11.1 (± 0.2) MB/sec\n"
    before, after = read(line.format(100_000, 1500), line.format(120_000, 1700))
    found = compare(before, after)
    assert found.benchmarks[0].main is not None
    assert found.benchmarks[0].main.runs == (5, 5)
    assert verdicts(found, "fillrandom") == {"ops_per_s": "better", "mb_per_s": "unchanged"}
    noisy = read(line.format(100_000, 25_000), line.format(120_000, 25_000))
    assert verdicts(compare(*noisy), "fillrandom")["ops_per_s"] == "undecided"
    old = "fillrandom [AVG    5 runs] : {} ops/sec;   11.1 MB/sec\n"
    bare = read(old.format(100_000), old.format(120_000))
    assert verdicts(compare(*bare), "fillrandom")["ops_per_s"] == "too_few_runs"


def test_values_that_are_rounded_alike_prove_nothing(read: Any) -> None:
    """Two runs with p50 = 0.5 and two with 0.6 may have been 0.549 and 0.551."""
    before = read(*(report(row(ops, p50="0.5")) for ops in (250_000, 250_900)))
    after = read(*(report(row(ops, p50="0.6")) for ops in (250_100, 250_800)))
    found = verdicts(compare_sides(before, after), "overwrite.t8.s0")
    assert found["p50_us"] == "undecided"
    assert found["ops_per_s"] == "unchanged"


def test_a_run_that_is_given_twice_counts_once(read: Any) -> None:
    text = banner() + result("overwrite", 50_000)
    before, after = read(text + text, banner() + result("overwrite", 90_000))
    found = compare(before, after)
    assert found.benchmarks[0].verdict == "one_run_each"
    assert found.runs.copies == (1, 0)
    assert any("every digit" in note for note in found.notes)


def test_shares_of_zero_are_compared_by_their_difference(read: Any) -> None:
    sides = [(0.0, 0.1, 0.0), (30.0, 31.5, 29.0)]
    before, after = (
        read(
            *(report(row(250_000 + at, **{"stall%": str(share)})) for at, share in enumerate(side))
        )
        for side in sides
    )
    (benchmark,) = compare_sides(before, after).benchmarks
    stalls = benchmark.metrics["stall_percent"]
    assert stalls.verdict == "worse"
    assert stalls.is_difference
    assert stalls.interval is not None
    assert 25 < stalls.interval.low < stalls.interval.high < 35


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (banner(records=9_000_000) + result("overwrite", 300), "records"),
        (banner(value_bytes=800) + result("overwrite", 300), "value_bytes"),
        (banner() + result("overwrite", 300, threads=16), "threads"),
        (banner(warning="WARNING: Assertions are enabled; benchmarks unnecessarily slow\n")
         + result("overwrite", 300), "build"),
        (banner() + result("overwrite", 900, operations=9_000_000), "duration_s"),
    ],
)  # fmt: skip
def test_another_load_is_named_and_no_verdict_is_given(read: Any, other: str, name: str) -> None:
    before, after = read(banner() + result("overwrite", 100), other)
    found = compare(before, after)
    assert not found.comparable
    assert next(one.name for one in found.runs.differences if one.is_load) == name
    assert set(verdicts(found, "overwrite").values()) == {"depends_on_load"}
    assert found.benchmarks[0].main is not None
    assert found.benchmarks[0].main.values.ratio is not None


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (banner(version="9.5.0"), ["version"]),
        (banner(path="other"), ["db_path"]),
        (banner(version="9.5.0", path="other"), ["version", "db_path"]),
        (banner(), []),
    ],
)
def test_another_version_is_named_and_compared(read: Any, other: str, names: list[str]) -> None:
    before, after = read(banner() + result("overwrite", 100), other + result("overwrite", 300))
    found = compare(before, after)
    assert found.comparable
    assert [one.name for one in found.runs.differences] == names
    assert verdicts(found, "overwrite")["ops_per_s"] == "one_run_each"


def test_another_size_of_records_shows_in_the_rate(read: Any) -> None:
    text = "overwrite : 4.000 micros/op 250000 ops/sec; {} MB/s\n"
    before, after = read(text.format("28.6"), text.format("100.1"))
    (difference,) = compare(before, after).runs.differences
    assert (difference.name, difference.before, difference.after) == (
        "bytes_per_op",
        (120,),
        (420,),
    )
    assert not compare(before, *read(text.format("28.9"))).runs.differences
    rough = read(text.format("0.1"), text.format("0.2"))
    assert not compare(*rough).runs.differences


def test_threads_that_ended_at_different_times_are_the_same_load(read: Any) -> None:
    before, after = (
        banner() + f"overwrite : {micros} micros/op {ops} ops/sec; 1.0 MB/s\n"
        for micros, ops in (("64.000", 1_000_000), ("31.200", 2_000_000))
    )
    assert not compare(*read(before, after)).runs.differences


def test_a_benchmark_of_one_side_is_named(read: Any) -> None:
    before, after = read(
        banner() + result("fillseq", 10) + result("overwrite", 10),
        banner() + result("overwrite", 10) + result("seekrandom", 10),
    )
    runs = compare(before, after).runs
    assert [one.name for one in runs.benchmarks] == ["overwrite"]
    assert (runs.only_before, runs.only_after) == (("fillseq",), ("seekrandom",))


def test_without_a_common_benchmark_nothing_is_compared(read: Any) -> None:
    before, after = read(banner() + result("fillseq", 10), banner() + result("overwrite", 10))
    found = compare(before, after)
    assert not found.comparable
    assert not found.benchmarks


def test_reads_alone_need_no_rate_of_writes(read: Any) -> None:
    dump = "\n** DB Stats **\nUptime(secs): 100.0 total, 100.0 interval\n"
    dump += "STATISTICS:\n rocksdb.number.keys.read COUNT : {}\n"
    dump += " rocksdb.block.cache.data.hit COUNT : {}\n rocksdb.block.cache.data.miss COUNT : 5\n"
    before, after = read(dump.format(10_000, 40_000), dump.format(11_000, 12_000))
    found = compare(before, after)
    assert found.comparable
    assert found.metrics["data_blocks_per_get"].verdict == "one_run_each"
    other = compare(before, *read(dump.format(90_000, 12_000)))
    assert any("gets" in reason for reason in other.why)


def test_stalls_and_write_amplification_of_the_statistics_are_compared(read: Any) -> None:
    before, after = read(
        banner() + result("fillrandom", 100) + statistics(4, 20, 30),
        banner() + result("fillrandom", 130) + statistics(4, 12, 5),
    )
    (benchmark,) = compare(before, after).benchmarks
    assert benchmark.metrics["write_amp"].values.ratio == pytest.approx(0.6)
    assert benchmark.metrics["stall_percent"].values.after == 5
    assert {one.verdict for one in benchmark.metrics.values()} == {"one_run_each"}


def test_a_report_is_compared_test_by_test(read: Any) -> None:
    tests = ("overwrite.t8.s0", "readrandom.t8")
    before, after = (
        report(*(row(ops * (1 + at), test, version) for at, test in enumerate(tests)))
        for ops, version in ((250_000, "9.4.0"), (200_000, "9.5.0"))
    )
    found = compare(*read(before, after))
    assert [one.name for one in found.benchmarks] == list(tests)
    assert [one.name for one in found.runs.differences] == ["version"]
    assert found.runs.differences[0].benchmarks == ()
    ratios = [one.main.values.ratio for one in found.benchmarks if one.main is not None]
    assert ratios == [pytest.approx(0.8)] * 2


def test_tests_with_other_threads_are_the_same_benchmark_with_another_load(read: Any) -> None:
    before, after = read(
        report(row(250_000, "readwhilewriting.t8")), report(row(350_000, "readwhilewriting.t16"))
    )
    found = compare(before, after)
    assert [one.name for one in found.benchmarks] == ["readwhilewriting"]
    assert [(one.name, one.before, one.after) for one in found.runs.differences] == [
        ("threads", (8,), (16,))
    ]
    assert found.benchmarks[0].verdict == "depends_on_load"


def test_a_test_with_another_duration_is_named(read: Any) -> None:
    before, after = read(report(row(250_000)), report(row(240_000, uptime="600")))
    assert [one.name for one in compare(before, after).runs.differences] == ["duration_s"]
    fixed = read(report(row(250_000)), report(row(500_000, uptime="900")))
    assert not compare(*fixed).runs.differences


def test_a_report_of_two_versions_has_two_sides(read: Any) -> None:
    (log,) = read(report(row(250_000), row(240_000), row(210_000, version="9.5.0")))
    split = two_sides(log)
    assert split is not None
    assert [len(side.runs) for side in split] == [2, 1]
    assert [side.version for side in split] == ["9.4.0", "9.5.0"]
    (jobs,) = read(report(row(250_000, job_id="base"), row(260_000, job_id="new")))
    assert [side.runs[0].setup["job_id"] for side in two_sides(jobs) or ()] == ["base", "new"]
    (single,) = read(report(row(250_000)))
    assert two_sides(single) is None


def test_a_text_with_the_headings_before_and_after_has_two_sides(read: Any) -> None:
    text = "**Before** (main):\n{}\n## After the change\n{}"
    (bench,) = read(text.format("> " + result("overwrite", 100), "> " + result("overwrite", 300)))
    (rows,) = read(text.format(report(row(250_000)), report(row(200_000))))
    for log, ratio in ((bench, 3.0), (rows, 0.8)):
        split = two_sides(log)
        assert split is not None
        (benchmark,) = compare(*split).benchmarks
        assert benchmark.main is not None
        assert benchmark.main.values.ratio == pytest.approx(ratio)


def test_another_size_of_the_tree_is_another_load(read: Any) -> None:
    before, after = read(report(row(250_000)), report(row(250_000, lsm_sz="210GB")))
    assert [one.name for one in compare(before, after).runs.differences] == ["tree_bytes"]
    fills = [row(250_000, "fillseq.wal_enabled.v400", lsm_sz=size) for size in ("21GB", "90GB")]
    assert not compare(*read(*(report(fill) for fill in fills))).runs.differences


def test_a_report_is_inspected_with_its_rows(read: Any) -> None:
    (log,) = read(report(row(250_000), row(1, p50="x"), row(210_000, "readrandom.t8")))
    assert log.kind == "report of benchmark.sh"
    assert log.version == "9.4.0"
    assert list(log.results) == ["overwrite.t8.s0", "readrandom.t8"]
    assert sum("left out" in note for note in log.incomplete) == 1
    notes = compare(log, log).notes
    assert any("left out" in note for note in notes)


def test_folders_that_differ_between_runs_of_a_side_are_not_named(read: Any) -> None:
    sides = [
        read(*(banner(path=f"{side}{at}") + result("overwrite", 100 + at) for at in range(2)))
        for side in ("old", "new")
    ]
    assert not compare_sides(*sides).runs.differences


@pytest.mark.parametrize("sizes", [("36MB", "35MB"), ("4GB", "3GB")])
def test_sizes_that_are_rounded_to_a_unit_prove_nothing(read: Any, sizes: tuple[str, str]) -> None:
    before, after = (
        read(*(report(row(250_000 + at, lsm_sz=size)) for at in range(3))) for size in sizes
    )
    (benchmark,) = compare_sides(before, after).benchmarks
    assert benchmark.metrics["live_sst_bytes"].verdict in ("undecided", "unchanged")


def test_sizes_that_differ_by_several_units_are_judged(read: Any) -> None:
    before, after = (
        read(*(report(row(250_000 + at, lsm_sz=size)) for at in range(3)))
        for size in ("36MB", "30MB")
    )
    (benchmark,) = compare_sides(before, after).benchmarks
    assert benchmark.metrics["live_sst_bytes"].verdict == "better"


@pytest.mark.parametrize(("uptimes", "differ"), [((2, 3), False), ((120, 180), False),
                                                 ((300, 1800), True)])  # fmt: skip
def test_the_duration_in_a_report_has_an_error_of_one_dump(
    read: Any, uptimes: tuple[int, int], differ: bool
) -> None:
    """The test writes a fixed number of records, and the last dump is up to 60 s old."""
    before, after = read(*(report(row(170_000, uptime=str(uptime))) for uptime in uptimes))
    names = [one.name for one in compare(before, after).runs.differences]
    assert names == (["duration_s"] if differ else [])
