"""From lines of the batch format to verdicts: planted effects are found, useless knobs named."""

from math import log2

import numpy as np
import pytest

from lsmtune.analysis.importance import (
    Importance,
    find_importance,
    knob_ranking,
    lasso_ranking,
    runs_of,
)
from lsmtune.analysis.importance_words import (
    accuracy_text,
    disagreements,
    effect_text,
    short_effect_text,
    verdict_text,
)
from lsmtune.batch import BatchLine
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.space import value_at
from lsmtune.knobs.types import Value
from lsmtune.report.importance_page import render_importance
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


def test_what_was_planted_comes_first_and_the_useless_is_called_useless(found: Importance) -> None:
    (metric,) = found.metrics
    assert [knob.knob for knob in metric.knobs[:3]] == list(MATTERING)
    verdicts = {knob.knob: verdict_text(knob) for knob in metric.knobs}
    assert {verdicts[name] for name in MATTERING} == {"matters"}
    assert all(verdicts[name].startswith("useless") for name in USELESS)
    assert found.top(3) == MATTERING


def test_the_words_say_where_a_metric_is_best(found: Importance) -> None:
    codec, blocks, *_, last = found.metrics[0].knobs
    assert effect_text("write_amp", codec).startswith("least at zlib (")
    assert "most at none (" in effect_text("write_amp", codec)
    assert short_effect_text("write_amp", blocks).startswith("-")
    assert "(against 2" in short_effect_text("write_amp", blocks)
    assert short_effect_text("write_amp", last) == "useless"


def test_accuracy_stands_beside_what_the_noise_allows(found: Importance) -> None:
    (metric,) = found.metrics
    assert metric.noise is not None
    assert metric.accuracy.r2.median > metric.noise.ceiling.median - 0.05
    assert f"by {metric.model}" in accuracy_text(metric)
    assert "noise of single runs" in accuracy_text(metric)


def test_methods_that_agree_are_not_said_to_disagree(found: Importance) -> None:
    told = " ".join(disagreements(found.metrics[0]))
    assert not any(told.startswith(name) for name in MATTERING)


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
    ("lines", "told"),
    [
        (make_lines(10), "10 measured configs are too few"),
        ([BatchLine(str(n), Workload(num=1000 + n), metrics={"write_amp": n}) for n in range(40)],
         "no knob differs"),
    ],
)  # fmt: skip
def test_runs_that_say_nothing_are_refused(lines: list[BatchLine], told: str) -> None:
    with pytest.raises(UserError, match=told):
        runs_of(lines, CATALOGUE)


def test_the_page_stands_alone_and_has_every_knob(found: Importance) -> None:
    page = render_importance("planted", found)
    assert "matter most" in page
    for name in (*MATTERING, *USELESS):
        assert name in page or name.replace("_", "_<wbr>") in page
