"""Records of the page, for a study in each of its states."""

import re
from dataclasses import replace
from itertools import groupby

import pytest
from sample import (
    BASE_CONFIG,
    BASE_METRICS,
    EMPTY,
    OBJECTIVE,
    measurement,
    pairs,
    read_view,
    study_view,
    trial,
    verification,
)

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.study_view import Change, StudyView
from lsmtune.cli.result_lines import summary_lines
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.existing import Effect, StoreChange
from lsmtune.knobs.types import Value
from lsmtune.metrics.definitions import METRICS, RUNNING
from lsmtune.objective import parse_objective
from lsmtune.report.comparison import HEADINGS, Comparison, comparison
from lsmtune.report.figures import convergence, failures, options
from lsmtune.report.sections import options_table
from lsmtune.report.text.changed_options import option_row
from lsmtune.report.tree import stalls, trees
from lsmtune.trials import Role, Status

KNOBS = {knob.name: knob for knob in load("rocksdb").knobs}


def compared(**fields: object) -> Comparison:
    record = comparison(claim_of(study_view(**fields)))
    assert record is not None
    return record


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", text)


def test_the_sample_holds_every_metric() -> None:
    of_others = ("tpmc", "retries", "new_order", "payment", "order_status", "delivery",
                 "stock_level", "transaction", "failed_percent")  # fmt: skip
    expected = {name for name in METRICS if not name.startswith(of_others)}
    assert set(BASE_METRICS) == {name for name in expected if METRICS[name].group != RUNNING}


def test_options_are_told_in_words_and_in_the_engines_own_values() -> None:
    rows = {row.name: row for row in options(study_view()).rows}
    assert (rows["write_buffer_size"].base, rows["write_buffer_size"].best) == ("1 MiB", "2 MiB")
    assert rows["write_buffer_size"].raw_best == "2097152"
    assert rows["compaction_pri"].best == rows["compaction_pri"].raw_best == "kMinOverlappingRatio"
    assert rows["cache_index_and_filter_blocks"].base == "false"
    assert rows["open_files"].base == "-1"


def test_options_count_the_restarts() -> None:
    record = options(study_view())
    assert numbers(record.title) == ["7", "2"]
    assert "1/64" in record.see
    assert sum(row.can_change == "at restart" for row in record.rows) == 2
    for view in (study_view(best_trial=trial(2, Role.TRIAL, 0.9)), study_view(best_trial=None)):
        assert (options(view).rows, options(view).see) == ((), "")
    assert options(study_view(scale="1")).see == ""


@pytest.mark.parametrize(
    ("forward", "back", "words"),
    [
        ("refused", "opens", "refuses it"),
        ("loses", "loses", "loses keys"),
        ("migration", "opens", "after a migration"),
        ("rewrites", "migration", "back only after a migration"),
        ("opens", "refused", "no way back"),
    ],
)
def test_can_change_names_what_an_existing_store_does(
    forward: Effect, back: Effect, words: str
) -> None:
    row = StoreChange(option="num_levels", forward=forward, back=back, tried=("11.8.1",))
    change = Change(KNOBS["num_levels"], 7, 8, on_store=row)
    assert option_row(change).can_change.endswith(words)
    assert option_row(replace(change, on_store=None)).can_change == "at restart"


def deployed_view(**in_file: tuple[Value, Value]) -> StudyView:
    """Return the study; its file and the baseline have these values at full size."""
    best = study_view().best_trial
    assert best is not None
    values = {c.knob.name: (c.base, c.best) for c in best.changes} | in_file
    changes = (
        replace(change, deployed_base=base, deployed=found)
        for change in best.changes
        for base, found in (values[change.knob.name],)
    )
    return study_view(best_trial=replace(best, changes=tuple(changes)))


def test_options_are_those_that_the_file_changes() -> None:
    memtables = (64 << 20, 64 << 20)
    view = deployed_view(write_buffer_size=memtables, open_files=(-1, -1))
    record = options(view)
    names = {change.knob.name for change in view.changes} - {"write_buffer_size", "open_files"}
    assert {row.name for row in record.rows} == names
    assert numbers(record.title) == [str(len(names)), "2"]
    lines = [line.split() for line in summary_lines(view, claim_of(view))]
    assert {words[0] for words in lines if words} & {*BASE_CONFIG} == names
    nothing = deployed_view(**{c.knob.name: (c.base, c.base) for c in view.changes})
    assert options(nothing).rows == ()


def test_values_of_the_file_come_before_those_of_the_trial() -> None:
    view = deployed_view(max_bytes_for_level_base=(256 << 20, 704 << 20))
    page = options_table(options(view).rows, "winner").replace("<wbr>", "")
    heads = re.findall(r"<th[^>]*>(.*?)</th>", page)
    assert heads.index("in the file") == 1
    [row] = [row for row in page.split("<tr") if "max_bytes_for_level_base" in row]
    assert row.index("704 MiB") < row.index("256 MiB") < row.index("11 MiB")
    shown = summary_lines(view, claim_of(view))
    [line] = [x for x in shown if x.split()[:1] == ["max_bytes_for_level_base"]]
    assert line.index("704 MiB") < line.index("256 MiB") < line.index("11 MiB")
    same = options_table(options(deployed_view()).rows, "winner")
    assert "in the file" not in same


def test_a_my_cnf_needs_a_restart_whatever_changes() -> None:
    title = options(study_view(engine="myrocks")).title
    assert numbers(title) == ["7"]
    assert "my.cnf" in title


def test_every_trial_has_one_mark_or_a_place_on_the_rail() -> None:
    view = study_view()
    record = convergence(view)
    shown = [t.number for t in record.measured] + [t.number for t in record.unmeasured]
    assert sorted(shown) == [t.number for t in view.trials]
    assert {t.status for t in record.unmeasured} == {"crashed", "refused", "timed out"}


def test_a_trial_that_breaks_a_limit_never_lowers_the_best_so_far() -> None:
    record = convergence(study_view())
    infeasible = [t for t in record.measured if t.mark == "breaks a limit"]
    assert [t.number for t in infeasible] == [9, 16]
    assert min(value for _, value in record.best_so_far) == pytest.approx(0.725)
    assert dict(record.best_so_far)[16] == pytest.approx(0.73)


def test_best_so_far_never_gets_worse_whatever_the_order_of_ends() -> None:
    runs = tuple(reversed(study_view().trials))
    curve = convergence(study_view(trials=runs)).best_so_far
    assert [n for n, _ in curve] == sorted(n for n, _ in curve)
    assert [value for _, value in curve] == sorted((v for _, v in curve), reverse=True)


def test_best_so_far_starts_at_the_base() -> None:
    assert convergence(study_view()).best_so_far[0] == (4, 1.0)


def test_search_without_a_better_trial_has_no_winner() -> None:
    worse = trial(2, Role.TRIAL, 1.2)
    record = convergence(study_view(trials=(worse,), best_trial=None))
    assert (record.best, record.best_so_far) == (None, ((2, 1.0),))
    assert numbers(record.title) == ["1"]
    assert convergence(study_view(trials=(), best_trial=None)).measured == ()


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("balanced", "balanced, trial / baseline"),
        ("write_amp", "write_amp, trial / baseline"),
        ("throughput_ops_s", "throughput_ops_s, baseline / trial"),
        ("jin2022", "e^(-fitness / 4000)"),
    ],
)
def test_axis_names_objective_and_direction(name: str, axis: str) -> None:
    found = convergence(study_view(objective=parse_objective(name, ()))).axis
    assert found.startswith(axis)


def test_metrics_asked_for_come_first_then_those_under_a_limit() -> None:
    headings = [HEADINGS.get(row.role) for row in compared().rows]
    assert [heading for heading, _ in groupby(headings)] == ["objective", "limit", "other", None]
    assert headings.count("objective") == 3


def test_a_metric_better_when_higher_is_turned() -> None:
    row = next(r for r in compared().rows if r.metric.name == "throughput_ops_s")
    assert row.ratio
    assert row.gain
    assert row.ratio > 1 > row.gain
    assert row.side == "better"


def test_a_metric_that_was_zero_stands_in_the_table_only() -> None:
    record = compared()
    zero = next(row for row in record.rows if row.metric.name == "bloom_useful")
    assert (zero.baseline, zero.winner, zero.ratio) == (0, 0, None)
    assert zero not in record.drawn


def test_limits_have_a_place_on_the_ratio_axis() -> None:
    limits = {row.metric.name: row.bound for row in compared().rows if row.bound is not None}
    assert limits.keys() == {limit.metric for limit in OBJECTIVE.limits}
    assert limits["live_sst_bytes"] == pytest.approx(1.1)
    assert limits["throughput_ops_s"] >= 1 / 0.95  # noise can widen the bound of a default


def test_a_limit_on_a_metric_better_when_higher_is_turned_too() -> None:
    objective = parse_objective("write_amp", ("throughput_ops_s >= 0.8 * base",))
    rows = compared(objective=objective, verifications=()).rows
    row = next(row for row in rows if row.metric.name == "throughput_ops_s")
    assert row.bound == pytest.approx(1 / 0.8)


def test_without_verification_nothing_is_better_and_nothing_has_an_interval() -> None:
    record = compared(verifications=())
    assert {row.side for row in record.drawn} == {"undecided"}
    assert all(row.interval is None for row in record.rows)
    assert numbers(record.runs) == ["3", "2"]


def test_a_metric_that_was_never_measured_is_left_out() -> None:
    missing = tuple(
        ({"write_amp": best["write_amp"]}, {"write_amp": base["write_amp"]})
        for best, base in pairs()
    )
    objective = parse_objective("write_amp", ())
    found = replace(verification(), pairs=missing)
    record = compared(objective=objective, verifications=(found,))
    assert [row.metric.name for row in record.rows] == ["write_amp"]


def test_there_is_no_comparison_without_a_best() -> None:
    assert comparison(claim_of(study_view(**EMPTY))) is None


def test_trees_leave_out_levels_that_were_never_used() -> None:
    record = trees(study_view())
    assert record
    assert [bar.level for bar in record.size.bars] == ["L0", "L1", "L2"]
    assert record.title.startswith("L1 ")
    assert numbers(record.title)[1:] == ["223", "114"]
    assert trees(study_view(best=None)) is None


def test_trees_say_when_written_bytes_are_not_stated() -> None:
    best = measurement(best=True)
    levels = tuple(level.model_copy(update={"write_bytes": None}) for level in best.levels)
    record = trees(study_view(best=best.model_copy(update={"levels": levels})))
    assert record
    assert numbers(record.written.title) == []
    assert record.written.bars[0].best is None


def test_stalls_are_counted_by_cause_with_totals_last() -> None:
    record = stalls(study_view())
    assert record
    assert record.rows[0] == ("l0-file-count-limit-delays", 44, 0)
    assert [cause for cause, _, _ in record.rows][-2:] == ["total-delays", "total-stops"]


def test_no_stalls_are_said_in_words() -> None:
    calm = measurement(best=False).model_copy(update={"stalls": {"x": 0}, "metrics": {}})
    record = stalls(study_view(base=calm, best=calm))
    assert record
    assert (numbers(record.title), record.rows) == ([], ())


def test_failures_say_what_failed_why_and_with_which_options() -> None:
    record = failures(study_view())
    assert numbers(record.title) == ["3", "19", "1", "1", "1"]
    assert [row.status for row in record.rows] == ["crashed", "refused", "timed out"]
    assert record.rows[0].meaning == Status.CRASHED.meaning
    assert "signal 6" in record.rows[0].reason
    assert "compression_type = lz4" in record.rows[0].differences


def test_no_failures_are_said_in_words() -> None:
    runs = (trial(1, Role.BASE, 1.0, config=BASE_CONFIG),)
    assert numbers(failures(study_view(trials=runs)).title) == ["1"]
    assert failures(study_view(trials=())).rows == ()


def test_a_trial_that_was_cut_stands_at_what_it_could_still_have_reached() -> None:
    at_bound = trial(4, Role.TRIAL, None, status=Status.CUT, reason="too slow", bound=(1.3,))
    unknown = trial(5, Role.TRIAL, None, status=Status.CUT, reason="too large")
    view = study_view(trials=(at_bound, unknown))
    record = convergence(view)
    assert [(t.number, t.mark, t.value, t.reason) for t in record.measured] == [
        (4, "cut", pytest.approx(1.3), "too slow")
    ]
    assert [(t.number, t.status) for t in record.unmeasured] == [(5, "pruned")]
    assert min(value for _, value in record.best_so_far) == 1
    listed = failures(view)
    assert numbers(listed.title) == ["2", "2"]
    assert {row.status for row in listed.rows} == {"pruned"}
    assert [row.reason for row in listed.rows] == ["too slow", "too large"]


def test_a_failed_repeat_of_a_finalist_has_a_name() -> None:
    crashed = trial(9, Role.REPEAT, None, status=Status.CRASHED)
    assert "repeat" in failures(study_view(trials=(crashed,))).rows[0].role


def test_a_read_load_shows_its_own_numbers_and_no_plots_of_writes() -> None:
    view = read_view()
    record = comparison(claim_of(view))
    assert record
    assert [row.metric.name for row in record.main][:6] == [
        "throughput_ops_s", "get_p50_us", "get_p99_us", "live_sst_bytes", "write_amp",
        "peak_space_bytes",
    ]  # fmt: skip
    assert {"cache_hit_index", "bloom_useful", "build_s"} <= {r.metric.name for r in record.drawn}
    assert (stalls(view), trees(view)) == (None, None)
