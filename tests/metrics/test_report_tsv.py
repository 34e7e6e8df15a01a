"""The report of benchmark.sh: three headers, damaged rows, and texts that lost their tabs."""

import pytest

from fakes.bench_texts import MIDDLE_HEADER, OLD_HEADER, report, row
from lsmtune.metrics.report_tsv import is_report, parse_report


def test_a_row_of_the_new_report_is_read_with_its_load() -> None:
    (run,) = parse_report(report(row(250_000))).runs
    assert run.benchmark == "overwrite.t8.s0"
    assert run.values["ops_per_s"] == 250_000
    assert run.values["p50_us"] == 41.5
    assert run.values["p99_us"] == 410
    assert run.values["p9999_us"] == 9000
    assert run.values["live_sst_bytes"] == 21 * 2**30
    assert run.values["stall_percent"] == 12.5
    assert run.values["write_amp"] == 6.4
    assert run.values["user_cpu_s"] == 4100
    assert run.setup["threads"] == 8
    assert run.setup["version"] == "9.4.0"
    assert run.setup["githash"] == "0a1b2c3d4e"
    assert run.setup["operations"] == 250_000 * 1800


def test_unknown_cells_are_not_zero() -> None:
    (run,) = parse_report(report(row(250_000, rss="NA", **{"p99.9": "", "mb_sec": "-nan"}))).runs
    assert not {"peak_rss_bytes", "p999_us", "mb_per_s", "stalls"} & run.values.keys()


def test_the_size_of_values_is_in_the_name_of_the_test() -> None:
    (run,) = parse_report(report(row(9000, "fillseq.wal_enabled.v800", usec_op="111.1"))).runs
    assert run.setup["value_bytes"] == 800
    assert run.setup["threads"] == 1


def test_the_middle_report_is_read() -> None:
    cells = ("51000", "20.1", "3.2", "1.1", "12.7", "8.5", "44.1", "19.6", "11.0", "15.5", "88",
             "310", "990", "600", "00:00:12.345", "2.1", "readwhilewriting.t4",
             "2022-03-04T05:06:07.000+00:00", "6.28.0", "")  # fmt: skip
    (run,) = parse_report(report(cells, header=MIDDLE_HEADER)).runs
    assert run.benchmark == "readwhilewriting.t4"
    assert (run.values["p75_us"], run.values["p999_us"]) == (15.5, 310)
    assert run.values["w_amp_table"] == 8.5
    assert "write_amp" not in run.values
    assert run.setup["version"] == "6.28.0"


def test_the_old_report_is_read() -> None:
    cells = ("51000", "20.1", "3.2", "1.1", "12.7", "8.5", "44.1", "19.6", "11.0", "15.5", "88",
             "310", "990", "600", "00:00:12.345", "2.1", "overwrite.t1.s0")  # fmt: skip
    (run,) = parse_report(report(cells, header=OLD_HEADER)).runs
    assert run.values["stall_percent"] == 2.1
    assert run.values["live_sst_bytes"] == pytest.approx(3.2 * 2**30)
    assert "version" not in run.setup


def test_damaged_rows_are_left_out_and_named() -> None:
    whole = row(250_000)
    found = parse_report(
        report(
            whole,
            whole[:9],
            row(1, **{"ops_sec": "n/a"}),
            row(250_000, p99="4x0"),
            row(250_000, test=""),
            (*whole, "more"),
        )
    )
    assert [run.values["ops_per_s"] for run in found.runs] == [250_000]
    assert len(found.faults) == 5
    assert [f"line {number} " in fault for number, fault in enumerate(found.faults, start=5)]
    assert "9 of 28" in found.faults[0]


def test_a_test_that_failed_is_named() -> None:
    cells = ["failed", *[""] * 22, "readrandom.t8", "2024-07-02T01:02:03", "9.4.0", "", "0a1b2c"]
    found = parse_report(report(row(250_000), cells))
    assert len(found.runs) == 1
    assert "readrandom.t8 failed" in found.faults[0]


def test_trailing_cells_may_be_missing() -> None:
    """An editor removes tabs at the end of lines; old versions have no githash."""
    (run,) = parse_report(report(row(250_000)[:26])).runs
    assert run.setup["version"] == "9.4.0"
    assert "githash" not in run.setup


@pytest.mark.parametrize("cells", [{}, {"Nstall": "77"}, {"job_id": "nightly"}, {"githash": ""}])
def test_a_text_without_tabs_is_read_in_spite_of_empty_cells(cells: dict[str, str]) -> None:
    text = report(row(250_000, **cells))
    tabbed, blank = parse_report(text), parse_report(text.replace("\t", "  "))
    assert blank == tabbed
    assert blank.runs


def test_a_summary_has_several_headers_and_other_lines() -> None:
    text = "out/report.tsv\n\n" + report(row(10)) + "\nafter:\n" + report(row(20), row(30))
    assert [run.values["ops_per_s"] for run in parse_report(text).runs] == [10, 20, 30]


@pytest.mark.parametrize(
    "text",
    [
        "fillseq : 8.735 micros/op 114478 ops/sec;   12.7 MB/s\n",
        "ops_sec is the rate of the test\n".replace("test", "store"),
        "",
    ],
)
def test_other_texts_are_no_report(text: str) -> None:
    assert not is_report(text)
    assert not parse_report(text).runs
