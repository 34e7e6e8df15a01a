"""The metrics of lsmtune: complete, told apart, and computed where they follow from others."""

from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.metrics.definitions import METRICS, Metric, canonical, shown_metrics, with_formulas

OWN = METRICS.built_in.values()
TIMES = st.floats(min_value=0, max_value=1e9)


@pytest.mark.parametrize("metric", OWN, ids=lambda metric: metric.name)
def test_a_metric_has_a_group_and_a_name_for_sentences(metric: Metric) -> None:
    assert metric.group != Metric("x", "s", None, "").group
    assert metric.told
    assert "_" not in metric.told
    assert canonical(metric.name) == metric.name


def test_a_formula_names_metrics() -> None:
    formulas = [metric.formula for metric in OWN if metric.formula]
    assert formulas
    for formula in formulas:
        assert signature(formula).parameters.keys() <= METRICS.built_in.keys()


@given(st.dictionaries(st.sampled_from(["load_s", "settle_s", "throughput_ops_s"]), TIMES))
def test_what_was_measured_stays_and_what_follows_is_added(run: dict[str, float]) -> None:
    found = with_formulas(run)
    assert {name: found[name] for name in run} == run
    assert ("total_s" in found) == ({"load_s", "settle_s"} <= run.keys())
    if "sustained_ops_s" in found:
        assert found["sustained_ops_s"] <= run["throughput_ops_s"] * (1 + 1e-9)


def test_a_measured_metric_is_not_computed() -> None:
    assert with_formulas({"load_s": 1.0, "settle_s": 2.0, "total_s": 9.0})["total_s"] == 9.0


def test_an_engine_has_formulas_of_its_own() -> None:
    own = Metric("wait_s", "s", "lower", "time", formula=lambda total_s, load_s: total_s - load_s)
    found = with_formulas({"load_s": 1.0, "settle_s": 2.0}, [own])
    assert found["wait_s"] == 2.0
    assert "wait_s" not in with_formulas({"load_s": 1.0}, [own])


@pytest.mark.parametrize("kind", ["write", "read", "mixed"])
def test_each_view_shows_something(kind: str) -> None:
    assert shown_metrics("progress", kind)
    assert set(shown_metrics("importance", kind, ("cpu_s", "live_sst_bytes"))) == {"live_sst_bytes"}


def test_an_engine_without_the_usual_metrics_shows_its_own() -> None:
    assert shown_metrics("sweep", "write", ("retries", "cpu_s")) == ("cpu_s", "retries")
