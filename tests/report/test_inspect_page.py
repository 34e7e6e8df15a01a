"""Page of LOGs: charts end with the data, names are short, unknown values are not rows."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lsmtune.analysis.inspect.first_steps import Change, FirstStep
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.knobs.advice import action
from lsmtune.report.inspect_page import render_inspections
from lsmtune.report.inspect_plots import (
    job_plot,
    rate_plot,
    shape_plot,
    stall_plot,
    totals_plot,
    undrawn,
    written_plot,
)
from lsmtune.report.text.inspect_words import costs_text, short_names

DATA = Path(__file__).parents[1] / "data"
PLOTS = (stall_plot, job_plot, shape_plot, rate_plot)


@pytest.fixture(scope="module")
def log() -> Inspection:
    return inspect_path(DATA / "planted" / "jobs.LOG.gz")


@pytest.fixture(scope="module")
def output() -> Inspection:
    return inspect_path(DATA / "captured" / "rocksdb-7.8.3-level" / "stdout.txt")


def last_event_s(log: Inspection) -> float:
    assert log.begin_micros is not None
    moments = [
        *(job.finished_micros or 0 for job in log.jobs),
        *(stall.end_micros for stall in log.stalls),
        *(shape.micros for shape in log.shapes),
        *(timed.micros for timed in log.dumps),
    ]
    return (max(moments) - log.begin_micros) / 1e6


def test_all_charts_of_a_log_end_at_its_last_event(log: Inspection) -> None:
    for plot in PLOTS:
        figure = plot(log)
        low, high = figure.layout.xaxis.range
        assert low == 0
        assert high == pytest.approx(last_event_s(log), abs=1e-3)
        for trace in figure.data:
            starts = trace.base if trace.type == "bar" else [0] * len(trace.x)
            ends = [begin + x for begin, x in zip(starts, trace.x, strict=True)]
            assert all(end <= high + 1e-4 for end in ends)


def test_idle_time_after_the_last_event_is_not_drawn(log: Inspection) -> None:
    assert log.end_micros is not None
    idle = replace(log, end_micros=log.end_micros + 60_000_000)
    for plot in PLOTS:
        assert plot(idle).layout.xaxis.range[1] == pytest.approx(last_event_s(log), abs=1e-3)


def test_number_of_bars_is_limited_and_the_rest_is_counted(log: Inspection) -> None:
    figure = job_plot(log, bars=5)
    assert [len(trace.x) for trace in figure.data] == [5, 5]
    kinds = [job.kind for job in log.jobs]
    assert undrawn(kinds, bars=5) == len(kinds) - 10
    longest = max(job.duration_s or 0 for job in log.jobs if job.kind == "compaction")
    assert max(figure.data[1].x) == pytest.approx(longest, rel=1e-4)


def test_page_opens_with_the_first_finding_and_a_chart(log: Inspection) -> None:
    page = render_inspections([log])
    head = page[page.index("<header>") : page.index("</header>")]
    assert page.count("<h1>") == 1
    assert log.findings[0].title in head
    first = log.findings[0].first_action
    assert first is not None
    assert first.cost in head
    labels = re.findall(r"<dt>([^<]*)</dt>", head)
    assert labels == ["Cause", "Do", "Apply", "Cost", "Check", "See also"]
    assert head.count('class="plot"') == 1
    assert str(DATA) not in page


def test_output_of_db_bench_draws_exact_totals_instead_of_rounded_levels(
    output: Inspection,
) -> None:
    page = render_inspections([output])
    assert 'id="log1-totals"' in page[: page.index("</header>")]
    assert 'id="log1-written"' not in page
    totals = output.totals
    drawn = totals_plot(output).data[0].x
    expected = [totals.ingest_bytes, totals.flush_write_bytes, totals.compact_write_bytes]
    assert list(drawn) == pytest.approx([(value or 0) / (1 << 20) for value in expected], rel=1e-4)


def test_unknown_values_are_listed_once_and_not_as_rows(output: Inspection) -> None:
    page = render_inspections([output])
    assert '<th scope="row">mean key</th>' not in page
    assert len(re.findall(r"<p[^>]*>[^<]*mean key[^<]*</p>", page)) == 1
    assert '<th scope="row">gets</th>' in page


def test_several_logs_have_one_headline_and_a_folded_part_each(
    log: Inspection, output: Inspection
) -> None:
    healthy = inspect_path(DATA / "planted" / "healthy.LOG.gz")
    page = render_inspections([log, healthy, output])
    assert page.count("<h1>") == 1
    assert page.count("<section>") >= 3
    assert 'id="compared"' in page
    assert len(page.encode()) < 2_200_000
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["/a/b/LOG"], ["LOG"]),
        (["/a/before/LOG", "/a/after/LOG"], ["before/LOG", "after/LOG"]),
        (["/a/x.LOG", "/b/y.LOG"], ["x.LOG", "y.LOG"]),
        (["LOG", "LOG"], ["LOG", "LOG"]),
        (["-"], ["-"]),
    ],
)
def test_names_are_as_short_as_they_differ(
    log: Inspection, names: list[str], short: list[str]
) -> None:
    assert short_names([replace(log, name=name) for name in names]) == short


@pytest.mark.parametrize(
    ("version", "needs"), [("7.8.3", "8.6"), ("8.6.0", None), (None, None)]
)  # fmt: skip
def test_costs_say_which_version_has_the_option(version: str | None, needs: str | None) -> None:
    change = Change("memtable_max_range_deletions", "lower")
    step = FirstStep("lower memtable_max_range_deletions", (change,), "lower")
    finding = Finding("code", "title", "evidence", (change.option,), 0.5, step=step)
    text = costs_text(finding, version)
    assert text is not None
    assert action(change.option, "lower").cost in text
    assert ("needs RocksDB" in text) == (needs is not None)
    assert needs is None or needs in text


def test_a_step_without_an_option_has_no_costs() -> None:
    finding = Finding("disk-full", "title", "evidence", (), 0.5, step=FirstStep("free space"))
    assert costs_text(finding, "7.8.3") is None


def test_bars_of_levels_divide_by_the_bytes_of_clients_in_their_own_period() -> None:
    """The events of the whole LOG give the bytes of levels, and so those of the clients."""
    log = inspect_path(Path(__file__).parents[2] / "examples" / "LOG.gz")
    clients = sum(job.user_bytes or 0 for job in log.jobs if job.kind == "flush")
    assert clients != pytest.approx(log.totals.ingest_bytes, rel=0.01)
    written = [(level.write_bytes or 0) / clients for level in log.levels]
    assert list(written_plot(log).data[0].x) == pytest.approx(written)
