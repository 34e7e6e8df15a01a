"""Constraints: texts, judging, and bounds that noise makes wider."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.limits import Limit, default_limits, parse_limit
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import parse_objective
from lsmtune.workloads import Workload

ASKABLE = sorted(name for name, metric in METRICS.items() if metric.better)
BASE = dict.fromkeys(METRICS, 10.0)
DEFAULTS = default_limits(Workload(), ENGINES["rocksdb"])


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("write_p99_us <= 2000", Limit("write_p99_us", "<=", 2000, False)),
        ("live_sst_bytes<=1.1*base", Limit("live_sst_bytes", "<=", 1.1, True)),
        (" rate_mb_s >= 0.9 * base ", Limit("rate_mb_s", ">=", 0.9, True)),
        ("live_sst_bytes <= 4e8", Limit("live_sst_bytes", "<=", 4e8, False)),
        ("live_sst_bytes <= 300MiB", Limit("live_sst_bytes", "<=", 300 * 2**20, False)),
        (
            "get_data_blocks <= 1.1 * base + 0.25",
            Limit("get_data_blocks", "<=", 1.1, True, plus=0.25),
        ),
        ("rate_mb_s>=0.9*base+1e1", Limit("rate_mb_s", ">=", 0.9, True, plus=10.0)),
        (
            "live_sst_bytes <= 1.1 * base + 10 MiB",
            Limit("live_sst_bytes", "<=", 1.1, True, plus=10 * 2**20),
        ),
        ("load_s <= 2 * base + 0", Limit("load_s", "<=", 2, True)),
        ("peak_space_bytes >= 1.5 GB", Limit("peak_space_bytes", ">=", 1.5e9, False)),
    ],
)
def test_limits_are_read(text: str, limit: Limit) -> None:
    assert parse_limit(text) == limit


@pytest.mark.parametrize(
    "limit",
    [
        *map(parse_limit, map(str, DEFAULTS)),
        Limit("rate_mb_s", ">=", 25.5, False),
        Limit("live_sst_bytes", "<=", 300 * 2**20, False),
        Limit("live_sst_bytes", "<=", 123_456_789, False),
        Limit("live_sst_bytes", "<=", 0, False),
    ],
)
def test_a_limit_says_itself_as_the_user_writes_it(limit: Limit) -> None:
    assert parse_limit(str(limit)) == limit


NUMBERS = st.floats(min_value=0, max_value=1e18)
LIMITS = st.builds(
    Limit,
    st.sampled_from(ASKABLE),
    st.sampled_from(["<=", ">="]),
    st.floats(min_value=1e-9, max_value=1e9),
    st.just(True),
    plus=NUMBERS,
) | st.builds(
    Limit, st.sampled_from(ASKABLE), st.sampled_from(["<=", ">="]), NUMBERS, st.just(False)
)


@given(LIMITS)
def test_parse_limit_of_any_limit_as_text_is_the_limit(limit: Limit) -> None:
    assert parse_limit(str(limit)) == limit


@given(LIMITS, st.floats(1e-3, 2.0), st.integers(2, 20), st.floats(1e-3, 1e3))
def test_grown_limit_is_wider_and_its_text_is_exact(
    limit: Limit, deviation: float, pairs: int, base: float
) -> None:
    """It grows only if it is a default one; then the base is inside by twice the half width."""
    assert limit.grown(deviation, pairs, base) == limit
    if not limit.times_base or limit.full_bound(base) < 0.5 * base:
        return
    grown = replace(limit, default=True).grown(deviation, pairs, base)
    assert parse_limit(str(grown)) == replace(grown, default=False)
    sign = 1 if limit.relation == "<=" else -1
    assert sign * grown.full_bound(base) >= sign * limit.full_bound(base) - 1e-9


def test_grown_limit_multiplies_factor_and_number() -> None:
    limit = Limit("get_data_blocks", "<=", 1.1, True, default=True, plus=0.25)
    assert limit.grown(0.05, 12, base=1.0) == limit  # 1.35 is enough for this noise
    assert limit.grown(0.05, 12, base=100.0) == limit
    grown = limit.grown(0.3, 12, base=1.0)
    assert grown.bound / 1.1 == pytest.approx(grown.plus / 0.25, abs=0.04)
    assert grown.bound > 1.15
    assert limit.grown(0.3, 12, base=0.01) == limit  # 0.25 is far more than the noise of 0.01


def test_ratio_of_unimportant_values_is_one_value() -> None:
    """Otherwise a difference between 0 and 0.0001 blocks would look like noise."""
    limit = Limit("get_missing_data_blocks", "<=", 1.1, True, plus=0.25)
    values = [limit.ratio({limit.metric: value}, {limit.metric: 0.0}) for value in (0.0, 0.0001)]
    assert values == [pytest.approx(0.01)] * 2


@pytest.mark.parametrize(
    ("text", "value", "broken_by"),
    [
        ("load_s <= 10", 10.0, 0.0),
        ("load_s <= 10", 15.0, 0.5),
        ("load_s <= 0.5 * base", 10.0, 1.0),
        ("rate_mb_s >= 10", 10.0, 0.0),
        ("rate_mb_s >= 10", 5.0, 1.0),
        ("rate_mb_s >= 2 * base", 16.0, 0.25),
        ("stall_s <= 0", 0.0, 0.0),
        ("load_s <= 1.5 * base + 5", 30.0, 0.5),
        ("rate_mb_s >= 0.5 * base + 1", 3.0, 1.0),
    ],
)
def test_how_far_a_limit_is_broken(text: str, value: float, broken_by: float) -> None:
    limit = parse_limit(text)
    violation = parse_objective("write_amp", (text,)).violation(BASE | {limit.metric: value}, BASE)
    assert violation == pytest.approx(broken_by)


def test_a_limit_of_zero_is_broken_by_anything_above() -> None:
    assert parse_objective("write_amp", ("stall_s <= 0",)).violation(BASE, BASE) > 1e6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "load_s",
        "load_s < 5",
        "load_s <= -5",
        "5 >= load_s",
        "load_s <= 1e400",
        "load_s <= 1.1 * base +",
        "load_s <= 5 + 3",
        "load_s <= 1.1 * base - 3",
        "load_s <= 3 + 1.1 * base",
        "load_s <= 2 * base + 3 * base",
        "load_s <= 2 * base + 1e400",
        "load_s <= none + 3",
    ],
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="METRIC <= NUMBER"):
        parse_limit(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("load_s <= 90s", "in s; use load_s <= 90$"),
        ("load_s <= 1.5h", "in s; use load_s <= 5400$"),
        ("write_p99_us <= 2ms", "in us; use write_p99_us <= 2000$"),
        ("p99_write_us >= 7us", "in us; use write_p99_us >= 7$"),
        ("throughput_ops_s >= 5k", "in ops/s; use throughput_ops_s >= NUMBER$"),
        ("write_amp <= 3 MiB", "ratio.*; use write_amp <= NUMBER$"),
        ("live_sst_bytes <= 3MiB * base", r"use live_sst_bytes <= 3 \* base$"),
        ("load_s <= 2 * base + 3ms", r"in s; use load_s <= 2 \* base \+ 0.003$"),
        ("live_sst_bytes <= 2 * base + 3 parsec", "size '3parsec'"),
        ("live_sst_bytes <= 3 parsec", "size '3parsec'"),
        ("live_sst_bytes <= 0MiB", "size '0MiB'"),
        ("stall_percent <= 5%", r"stall_percent .*in %.*METRIC <= NUMBER"),
    ],
)
def test_units_that_do_not_fit_the_metric_are_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=rf"^limits: .*{words}"):
        parse_limit(text)
