"""Metrics in Prometheus' text form."""

import pytest

from lsmtune.errors import ParseError
from lsmtune.metrics.prometheus import parse_metrics

TEXT = """# HELP tikv_engine_flow_bytes Bytes and keys of read/written
# TYPE tikv_engine_flow_bytes counter
tikv_engine_flow_bytes{db="kv",type="bytes_written"} 100
tikv_engine_flow_bytes{db="raft",type="bytes_written"} 7
tikv_engine_flow_bytes{db="kv",type="keys_read"} 1.5e3
# TYPE tikv_thread_cpu_seconds_total counter
tikv_thread_cpu_seconds_total{name="rocksdb:low0",tid="1"} 2.5
tikv_thread_cpu_seconds_total{name="rocksdb:low1",tid="2"} 1.5
# TYPE tikv_engine_size_bytes gauge
tikv_engine_size_bytes{db="kv",type="default"} 40
"""


def test_samples_are_summed_by_labels() -> None:
    series = parse_metrics(TEXT)
    assert series.total("tikv_engine_flow_bytes", db="kv", type="bytes_written") == 100
    assert series.total("tikv_engine_flow_bytes", type="bytes_written") == 107
    assert series.total("tikv_engine_size_bytes") == 40
    assert series.by_label("tikv_engine_flow_bytes", "type", db="kv") == {
        "bytes_written": 100, "keys_read": 1500,
    }  # fmt: skip


def test_what_is_not_told_is_none_and_not_zero() -> None:
    series = parse_metrics(TEXT)
    assert series.total("tikv_engine_flow_bytes", db="other") is None
    assert series.total("tikv_engine_stall_micro_seconds") is None
    assert series.by_label("tikv_engine_flow_bytes", "cf") == {}


@pytest.mark.parametrize("name", ["tikv_thread_cpu_seconds_total", "tikv_thread_cpu_seconds"])
def test_counters_have_their_name_with_an_end_and_without(name: str) -> None:
    series = parse_metrics(TEXT)
    assert series.total(name) == 4
    assert series.total(name, lambda labels: labels["name"].endswith("1")) == 1.5


def test_counters_are_told_since_a_moment() -> None:
    later = TEXT.replace("} 100", "} 130").replace('tid="2"} 1.5', 'tid="9"} 0.25')
    counted = parse_metrics(later).since(parse_metrics(TEXT))
    assert counted.total("tikv_engine_flow_bytes", db="kv", type="bytes_written") == 30
    assert counted.total("tikv_thread_cpu_seconds_total") == 0.25  # a thread that is new
    assert counted.total("tikv_engine_size_bytes") == 0


def test_a_counter_that_fell_was_reset_and_is_left_out() -> None:
    counted = parse_metrics(TEXT.replace("} 100", "} 99")).since(parse_metrics(TEXT))
    assert counted.total("tikv_engine_flow_bytes", db="kv", type="bytes_written") is None


@pytest.mark.parametrize("text", ['x{db="kv"', "x 5 6 7 8\ny", "tikv_x many\n"])
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="Prometheus"):
        parse_metrics(text)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "9" * 400])
def test_a_sample_without_a_finite_number_is_left_out(value: str) -> None:
    series = parse_metrics(TEXT + f'tikv_engine_stalls{{quantile="0.5"}} {value}\n')
    assert series.total("tikv_engine_stalls") is None
    assert series.total("tikv_engine_size_bytes") == 40
