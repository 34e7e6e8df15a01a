"""Page of a controlled experiment: the answer first, and simulated runs are marked."""

import re
from dataclasses import replace

import pytest
from sample import WORKLOAD, study_view

from lsmtune.analysis.swept import Outcome, Swept, SweptRun, analyse
from lsmtune.experiment import Sweep
from lsmtune.knobs.catalogue import load
from lsmtune.report.canvas import LINES
from lsmtune.report.swept_page import cell_keys, cell_plot, render_swept
from lsmtune.report.text.swept_words import answers, rows, short_answer
from lsmtune.trials import Origin

SWEEP = Sweep(
    factors={
        "memtable": {"write_buffer_size": ["1MiB", "4MiB"]},
        "files": {"target_file_size_base": ["1MiB", "4MiB"]},
    },
    repeats=3,
    metrics=("write_amp",),
)


def swept(engine: str = "rocksdb") -> Swept:
    """Return an experiment in which larger memtables halve write amplification."""
    runs = [
        SweptRun(block, cell, {"write_amp": (2.0 if cell and cell[0] else 4.0) + 0.01 * block})
        for block in range(3)
        for cell in (None, (0, 0), (0, 1), (1, 0), (1, 1))
    ]
    return analyse(SWEEP, load(engine), Outcome("sizes", "write", runs, [], {}))


def test_short_answer_is_the_strongest_effect_with_its_ratio() -> None:
    found = swept()
    text = short_answer(found, found.metrics[0])
    assert text.startswith("memtable")
    assert re.search(r"\b0\.50\d* \N{MULTIPLICATION SIGN}", text)
    assert text.index("4 MiB") < text.index("0.50") < text.index("1 MiB")


def test_answers_have_ratio_interval_and_p_per_factor() -> None:
    found = swept()
    first, second, *_ = answers(found, found.metrics[0])
    assert first.startswith("memtable")
    assert "p <" in first
    assert second.startswith("files")
    assert re.search(r"95 % interval [\d.]+ to [\d.]+", first)
    assert "not shown" in second


def test_no_effect_is_claimed_without_a_significant_factor() -> None:
    found = swept()
    (metric,) = found.metrics
    assert metric.fit is not None
    none = replace(
        metric,
        fit=replace(
            metric.fit, factors=tuple(replace(effect, p=0.5) for effect in metric.fit.factors)
        ),
    )
    assert not any(factor in short_answer(found, none) for factor in found.factors)


def test_simulated_experiment_is_marked_and_a_measured_one_is_not() -> None:
    assert swept("simulated").is_simulated
    assert "<h1>Simulated: " in render_swept(swept("simulated"), study_view())
    assert not swept().is_simulated
    assert "imulated" not in render_swept(swept(), study_view()).partition('id="plotly"')[0]


def test_chart_contains_all_intervals_and_the_baseline() -> None:
    found = swept()
    (metric,) = found.metrics
    low, high = cell_plot(found, metric).layout.yaxis.range
    assert low < min(cell.mean for cell in metric.cells)
    assert high > metric.base.mean


def test_page_has_a_row_per_cell_and_the_baseline() -> None:
    page = render_swept(swept(), study_view())
    assert page.count("<tr>") == 1 + 1 + 4
    assert page.count('class="plot"') == 1


def test_page_names_the_system_and_the_workload() -> None:
    view = study_view()
    page = render_swept(swept(), view)
    for text in (view.engine_version, WORKLOAD.name, f"{WORKLOAD.num:,}", str(view.host.cpu_model)):
        assert text in page


def test_page_names_the_hosts_and_their_share_if_there_are_several() -> None:
    runs = [
        SweptRun(
            block, cell, {"write_amp": 4.0 + 0.01 * block + place % 2}, host=f"host-{place % 2}"
        )
        for block in range(3)
        for place, cell in enumerate((None, None, (0, 0), (0, 1), (1, 1), (1, 0)), block)
    ]
    found = analyse(SWEEP, load("rocksdb"), Outcome("sizes", "write", runs, [], {}))
    page = render_swept(found, study_view())
    assert "host-0" in page
    assert "host-1" in page
    share = [text for text in answers(found, found.metrics[0]) if "hosts" in text]
    assert len(share) == 1
    assert "%" in share[0]
    assert "hosts" not in " ".join(answers(swept(), swept().metrics[0]))


def test_page_names_each_library_that_ran() -> None:
    libraries = {
        version: Origin(source=f"org.rocksdb:rocksdbjni:{version}", sha256=digit * 64)
        for version, digit in (("8.10.2", "a"), ("11.8.1", "b"))
    }
    page = render_swept(replace(swept(), libraries=libraries), study_view())
    assert all(page.count(origin.sha256) == 1 for origin in libraries.values())


def flushed(few: set[tuple[int, ...] | None]) -> Swept:
    """Return the experiment in which the cells `few` (None: the baseline) flush 7 times a run."""
    runs = [
        SweptRun(block, cell, {
            "write_amp": 2.0 + 0.01 * block, "total_s": 9.0 - block,
            "flushes": 7.0 if cell in few else 8.0,
        })
        for block in range(3)
        for cell in (None, (0, 0), (0, 1), (1, 0), (1, 1))
    ]  # fmt: skip
    sweep = SWEEP.model_copy(update={"metrics": ("write_amp", "total_s")})
    return analyse(sweep, load("rocksdb"), Outcome("sizes", "write", runs, [], {}))


def test_a_metric_with_too_few_flushes_has_no_answer_and_no_number() -> None:
    found = flushed({(1, 0)})
    amp, total = found.metrics
    assert amp.few_flushes == 3
    assert amp.fit is None
    assert "too few flushes" in short_answer(found, amp)
    assert [cell.ratio is None for cell in amp.cells] == [False, False, True, False]
    assert total.fit is not None
    heads, lines = rows(found)
    at = heads.index("write_amp")
    assert [line[at] == "" for line in lines] == [False, False, False, True, False]
    page = render_swept(found, study_view())
    assert page.count('class="plot"') == 1
    assert "cells-total_s" in page


def test_baseline_with_too_few_flushes_leaves_the_answer_but_no_ratio() -> None:
    found = flushed({None})
    amp, total = found.metrics
    assert amp.fit is not None
    assert all(cell.ratio is None and cell.interval is not None for cell in amp.cells)
    assert all(cell.ratio is not None for cell in total.cells)
    assert not cell_plot(found, amp).layout.shapes
    assert len(cell_keys(found, amp)) == len(cell_keys(found, total)) - 1


def spread(*values: float) -> Swept:
    """Return the experiment in which a block has a time from `values` in all its runs."""
    runs = [
        SweptRun(block, cell, {"total_s": value})
        for block, value in enumerate(values)
        for cell in (None, (0, 0), (0, 1), (1, 0), (1, 1))
    ]
    sweep = SWEEP.model_copy(update={"metrics": ("total_s",)})
    return analyse(sweep, load("rocksdb"), Outcome("sizes", "write", runs, [], {}))


@pytest.mark.parametrize(
    ("values", "geometric", "mean"), [((0.1, 1.0, 10.0), True, 1.0), ((0.0, 1.0, 8.0), False, 3.0)]
)
def test_interval_of_a_time_does_not_go_below_zero(
    values: tuple[float, ...], geometric: bool, mean: float
) -> None:
    found = spread(*values)
    (metric,) = found.metrics
    assert metric.geometric == geometric
    for cell in (metric.base, *metric.cells):
        assert cell.mean == pytest.approx(mean)
        assert cell.interval is not None
        assert 0 <= cell.interval.low < mean < cell.interval.high
    figure = cell_plot(found, metric)
    for trace in figure.data:
        ends = [y - below for y, below in zip(trace.y, trace.error_y.arrayminus, strict=True)]
        assert min(ends) == pytest.approx(metric.base.interval.low)
    words = "geometric mean (95 %" in render_swept(found, study_view())
    assert words == geometric


def test_marks_of_a_level_are_side_by_side_and_differ_from_the_baseline() -> None:
    found = swept()
    figure = cell_plot(found, found.metrics[0])
    assert figure.layout.scattermode == "group"
    assert len({trace.marker.symbol for trace in figure.data}) == len(figure.data) == 2
    (baseline,) = figure.layout.shapes
    assert baseline.line.dash not in {dash for _, dash in LINES}


def test_change_of_a_metric_with_zeros_has_a_unit() -> None:
    runs = [
        SweptRun(block, cell, {"stall_s": (0.0 if cell and cell[0] else 2.0) + 0.01 * block})
        for block in range(3)
        for cell in (None, (0, 0), (0, 1), (1, 0), (1, 1))
    ]
    sweep = SWEEP.model_copy(update={"metrics": ("stall_s",)})
    found = analyse(sweep, load("rocksdb"), Outcome("sizes", "write", runs, [], {}))
    assert "2 s" in short_answer(found, found.metrics[0])
