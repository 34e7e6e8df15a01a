"""Importance from lines of the batch format: planted effects are found, other knobs are not."""

import re
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from lsmtune.analysis import importance
from lsmtune.analysis.importance import (
    MIN_R2,
    Importance,
    find_importance,
    knob_ranking,
    lasso_ranking,
    runs_of,
    usual_repeats,
)
from lsmtune.batch import BatchLine
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.space import value_at
from lsmtune.knobs.types import Value
from lsmtune.learning import importance as learning
from lsmtune.learning import models
from lsmtune.learning.factors import Floats
from lsmtune.report.importance_page import render_importance
from lsmtune.report.text.importance_words import (
    accuracy_text,
    disagreements,
    effect_text,
    headline_text,
    metric_headline,
    reason_text,
    short_effect_text,
    verdict_text,
)
from lsmtune.stats import Interval
from lsmtune.workloads import Workload

CATALOGUE = load("rocksdb")
MATTERING = ("compression_type", "block_size", "bloom_bits")
USELESS = ("cache_size", "num_levels", "mmap_read", "bytes_per_sync")
CODECS = {"none": 6.0, "snappy": 4.0, "lz4": 4.0, "zlib": 3.0}


def written(knobs: dict[str, Value], rng: np.random.Generator) -> float:
    """Codecs matter most, larger blocks help, a filter costs; nothing else does anything."""
    codec = CODECS[str(knobs["compression_type"])]
    blocks = 0.5 * log2(float(knobs["block_size"]) / 2048)
    filters = 0.8 if knobs["bloom_bits"] != -1 else 0.0
    return float(codec - blocks + filters + rng.normal(0, 0.1) + 3)


def make_lines(count: int, seed: int = 1, replicated: int = 20) -> list[BatchLine]:
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(count):
        knobs = {n: value_at(CATALOGUE.knob(n), rng.random()) for n in (*MATTERING, *USELESS)}
        knobs["compression_type"] = list(CODECS)[int(rng.integers(4))]
        for run in range(3 if number < replicated else 1):
            metrics = {"write_amp": written(knobs, rng), "total_s": 5 + rng.random()}
            lines.append(BatchLine(f"{number}-{run}", Workload(), knobs, metrics))
    return lines


@pytest.fixture(scope="module")
def found(quick_models: None) -> Importance:
    runs = runs_of(make_lines(250), CATALOGUE)
    return find_importance(runs, ["write_amp"], repeats=1)


def test_planted_knobs_come_first_and_others_have_no_effect(found: Importance) -> None:
    (metric,) = found.metrics
    assert [knob.knob for knob in metric.knobs[:3]] == list(MATTERING)
    by_name = {knob.knob: knob for knob in metric.knobs}
    assert all(by_name[name].is_seen and by_name[name].is_significant for name in MATTERING)
    assert not any(by_name[name].is_seen or by_name[name].is_significant for name in USELESS)
    assert {verdict_text(by_name[name]) for name in MATTERING} == {"matters"}
    assert not any(verdict_text(by_name[name]).startswith("matters") for name in USELESS)
    assert found.top(3) == MATTERING
    assert found.headline_knobs() == MATTERING


@pytest.mark.slow
def test_many_configs_are_explained_with_no_more_models_than_few(
    quick_models: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = models.fitted_model
    rows: list[int] = []

    def counted(name: str, seed: int, matrix: Floats, outcome: Floats) -> models.Fitted:
        rows.append(len(matrix))
        return fitted(name, seed, matrix, outcome)

    for module in (models, importance, learning):
        monkeypatch.setattr(module, "fitted_model", counted)
    fits = []
    for count in (100, 400):
        rows.clear()
        runs = runs_of(make_lines(count), CATALOGUE)
        find_importance(runs, ["write_amp"], usual_repeats(runs))
        fits.append(len(rows))
    assert fits[1] < fits[0] / 2


def test_effect_names_the_best_and_the_worst_value(found: Importance) -> None:
    codec, blocks, *_, last = found.metrics[0].knobs
    text = effect_text("write_amp", codec)
    assert text.index("zlib") < text.index("none")
    short = short_effect_text("write_amp", blocks)
    assert re.match(r"-\d+ %: 2", short)
    assert short_effect_text("write_amp", last) != short
    assert "%" not in short_effect_text("write_amp", last)


def test_accuracy_is_close_to_the_limit_set_by_noise(found: Importance) -> None:
    (metric,) = found.metrics
    assert metric.noise is not None
    assert metric.accuracy.r2.median > metric.noise.ceiling.median - 0.05
    text = accuracy_text(metric)
    for value in (metric.accuracy.r2.median, metric.noise.ceiling.median):
        assert f"{value:.2f}" in text
    assert metric.model in text


def test_methods_that_agree_are_not_listed(found: Importance) -> None:
    listed = " ".join(disagreements(found.metrics[0]))
    assert not any(listed.startswith(name) for name in MATTERING)


def weakened(found: Importance, r2: float) -> Importance:
    """Return the importance with another held-out R² of its metric."""
    (metric,) = found.metrics
    accuracy = replace(metric.accuracy, r2=Interval(r2, r2 - 0.1, r2 + 0.1))
    return replace(found, metrics=(replace(metric, accuracy=accuracy),))


def test_headline_names_no_knob_below_the_minimum_r2(found: Importance) -> None:
    names = (*MATTERING, *USELESS)
    weak = weakened(found, 0.29)
    assert weak.headline_knobs() == ()
    assert not any(name in headline_text(weak) for name in names)
    assert not any(name in metric_headline(weak.metrics[0]) for name in names)
    assert "0.29" in reason_text(weak)
    assert str(MIN_R2) in reason_text(weak)
    assert weakened(found, 0.31).headline_knobs() == MATTERING


def test_metrics_below_the_minimum_r2_do_not_order_the_headline(found: Importance) -> None:
    (good,) = found.metrics
    noise = replace(
        weakened(found, 0.1).metrics[0], metric="total_s", knobs=tuple(reversed(good.knobs))
    )
    both = replace(found, metrics=(good, noise))
    assert both.headline_knobs() == MATTERING
    assert "total_s" in reason_text(both)


def test_simulated_runs_are_marked_on_the_page(quick_models: None) -> None:
    simulated = runs_of(make_lines(60), load("simulated"))
    marked = find_importance(simulated, ["write_amp"], repeats=1)
    assert marked.is_simulated
    assert headline_text(marked).startswith("Simulated: ")
    assert "not measured" in render_importance("x", marked)


def test_measured_runs_are_not_marked(found: Importance) -> None:
    assert not found.is_simulated
    assert "not measured" not in render_importance("x", found)


def test_the_replicated_configs_count_once_for_the_model() -> None:
    runs = runs_of(make_lines(60), CATALOGUE)
    assert len(runs.first) == 60
    assert sum(map(len, runs.groups)) == 100


def test_a_metric_that_nothing_moves_has_only_useless_knobs(quick_models: None) -> None:
    (metric,) = find_importance(runs_of(make_lines(150), CATALOGUE), ["total_s"], 1).metrics
    assert metric.accuracy.r2.median < 0.2
    assert not any(knob.is_significant and knob.is_seen for knob in metric.knobs)


def test_failed_runs_are_counted_and_left_out() -> None:
    lines = [*make_lines(40), BatchLine("x", knobs={"num_levels": 5}, error="crashed: signal 6")]
    assert runs_of(lines, CATALOGUE).failed == 1


def test_parameters_of_the_load_that_vary_are_factors_but_no_knobs() -> None:
    lines = [
        BatchLine(line.id, Workload(threads=1 + place % 4), line.knobs, line.metrics)
        for place, line in enumerate(make_lines(60))
    ]
    runs = runs_of(lines, CATALOGUE)
    assert runs.load_factors == ("threads",)
    assert "threads" not in knob_ranking(runs, ["write_amp"])


def test_lasso_ranks_what_was_planted_first_and_the_load_not_at_all() -> None:
    lines = [
        BatchLine(line.id, Workload(threads=1 + place % 4), line.knobs, line.metrics)
        for place, line in enumerate(make_lines(60))
    ]
    ranked = lasso_ranking(runs_of(lines, CATALOGUE), ["write_amp"])
    assert set(ranked[:3]) == set(MATTERING)
    assert set(ranked) == {*MATTERING, *USELESS}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (make_lines(10), "30 .*10"),
        ([BatchLine(str(n), Workload(num=1000 + n), metrics={"write_amp": n}) for n in range(40)],
         "importance: every knob"),
    ],
)  # fmt: skip
def test_unusable_runs_are_refused(lines: list[BatchLine], words: str) -> None:
    with pytest.raises(UserError, match=words):
        runs_of(lines, CATALOGUE)


def test_page_has_every_knob(found: Importance) -> None:
    page = render_importance("planted", found)
    assert len(page.encode()) < 2_200_000
    assert page.index("compression_type") < page.index("</h1>")
    for name in (*MATTERING, *USELESS):
        assert name in page or name.replace("_", "_<wbr>") in page


def without(lines: list[BatchLine], metric: str, missing: slice) -> list[BatchLine]:
    """Return the lines, some of them without the metric."""
    lacking = {line.id for line in lines[missing]}
    return [
        replace(line, metrics={n: v for n, v in line.metrics.items() if n != metric})
        if line.id in lacking
        else line
        for line in lines
    ]


@pytest.mark.slow
def test_runs_without_a_metric_are_left_out_for_this_metric_only(quick_models: None) -> None:
    lines = without(make_lines(120), "write_amp", slice(0, None, 8))
    runs = runs_of(lines, CATALOGUE)
    assert runs.metrics == ["total_s", "write_amp"]
    written, timed = find_importance(runs, ["write_amp", "total_s"], 1).metrics
    assert (written.runs, written.missing_runs) == (140, 20)
    assert (timed.runs, timed.missing_runs) == (160, 0)
    assert {knob.knob for knob in written.knobs[:3]} == set(MATTERING)
    assert "20 of 160" in accuracy_text(written)
    assert "160" not in accuracy_text(timed)
    assert set(knob_ranking(runs, ["write_amp"])[:3]) == set(MATTERING)
    assert set(lasso_ranking(runs, ["write_amp", "total_s"])) == {*MATTERING, *USELESS}


def test_a_metric_that_too_few_configs_have_is_refused_with_the_others() -> None:
    lines = without(make_lines(60, replicated=0), "write_amp", slice(29, None))
    runs = runs_of(lines, CATALOGUE)
    assert runs.metrics == ["total_s"]
    with pytest.raises(UserError, match=r"'write_amp'.*30.*: total_s"):
        find_importance(runs, ["write_amp"], 1)


@pytest.mark.slow
def test_a_knob_that_the_runs_of_a_metric_do_not_vary_is_unknown_there(quick_models: None) -> None:
    lines = make_lines(120, replicated=0)
    lines = [
        replace(line, knobs={**line.knobs, "num_levels": 6 + place % 2 if place % 2 else 6})
        for place, line in enumerate(lines)
    ]
    seven = {line.id for line in lines if line.knobs["num_levels"] == 7}
    lines = [
        replace(line, metrics={"total_s": line.metrics["total_s"]}) if line.id in seven else line
        for line in lines
    ]
    found = find_importance(runs_of(lines, CATALOGUE), ["write_amp", "total_s"], 1)
    written, timed = found.metrics
    assert "num_levels" not in {knob.knob for knob in written.knobs}
    assert "num_levels" in {knob.knob for knob in timed.knobs}
    both = replace(found, metrics=tuple(
        weakened(replace(found, metrics=(m,)), 0.5).metrics[0] for m in (written, timed)
    ))  # fmt: skip
    assert "not varied" in render_importance("both", both)


def test_no_block_cache_is_a_value_of_its_own_on_a_logarithmic_scale(quick_models: None) -> None:
    lines = [
        replace(
            line,
            knobs={**line.knobs, "cache_size": 0 if place % 3 else line.knobs["cache_size"]},
            metrics={"total_s": 9.0 if place % 3 else 5.0},
        )
        for place, line in enumerate(make_lines(90, replicated=0))
    ]
    runs = runs_of(lines, CATALOGUE)
    (cache,) = (factor for factor in runs.design.factors if factor.name == "cache_size")
    assert cache.special == (0,)
    assert np.isfinite(runs.design.matrix).all()
    (metric,) = find_importance(runs, ["total_s"], 1).metrics
    assert metric.knobs[0].knob == "cache_size"
