"""The levels of hosts: how far each is from the others, as far as chance does not explain it."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.host_levels import HostLevels

FAST, SLOW = "fast", "slow"


def base(
    noise: float, seed: int, runs: int = 3, **levels: float
) -> dict[str, list[dict[str, float]]]:
    """Runs of the baseline: a time at the level of each host, and a count that is the same."""
    rng = np.random.default_rng(seed)
    return {
        host: [
            {"total_s": 10 * level * float(np.exp(rng.normal(0, noise))), "write_amp": 5.0}
            for _ in range(runs)
        ]
        for host, level in levels.items()
    }


def test_a_run_on_a_slow_host_is_compared_with_its_own_baseline() -> None:
    levels = HostLevels(base(0.01, 1, fast=1.0, slow=2.0))
    fast = levels.levelled(FAST, {"total_s": 8.0, "write_amp": 4.0})
    slow = levels.levelled(SLOW, {"total_s": 16.0, "write_amp": 4.0})
    assert slow["total_s"] == pytest.approx(fast["total_s"], rel=0.03)
    assert slow["write_amp"] == fast["write_amp"] == 4.0


def test_hosts_that_are_equal_have_no_level_in_most_cases() -> None:
    found = [
        HostLevels(base(0.05, seed, one=1.0, two=1.0, three=1.0)).of("one").get("total_s", 1.0)
        for seed in range(200)
    ]
    assert sum(level == 1.0 for level in found) > 100
    # A level that is there is less than what the means say.
    assert fmean(abs(np.log(level)) for level in found) < 0.015


def test_without_repeats_or_other_hosts_there_is_no_level() -> None:
    metrics = {"total_s": 3.0}
    for known in ({}, base(0.01, 1, fast=1.0), base(0.01, 1, runs=1, fast=1.0, slow=2.0)):
        assert HostLevels(known).levelled(FAST, metrics) is metrics
    assert HostLevels(base(0.01, 1, fast=1.0, slow=2.0)).levelled(None, metrics) is metrics


@given(
    st.lists(st.floats(0.2, 5.0), min_size=2, max_size=5),
    st.floats(0.0, 0.2),
    st.integers(0, 1000),
)
def test_levels_keep_the_middle_and_can_be_taken_back(
    given_levels: list[float], noise: float, seed: int
) -> None:
    known = base(noise, seed, **{f"h{place}": level for place, level in enumerate(given_levels)})
    levels = HostLevels(known)
    logs = [np.log(levels.of(host).get("total_s", 1.0)) for host in known]
    assert fmean(logs) == pytest.approx(0.0, abs=1e-9)
    for host in known:
        run = {"total_s": 7.0, "write_amp": 2.0, "flushes": 0.0}
        assert levels.on_host(host, levels.levelled(host, run)) == pytest.approx(run)


def test_this_machine_is_a_host_like_others() -> None:
    runs = base(0.01, 1, fast=1.0, slow=2.0)
    levels = HostLevels({None: runs[FAST], SLOW: runs[SLOW]})
    assert levels.of(SLOW)["total_s"] == pytest.approx(2**0.5, rel=0.02)
    assert levels.of(None)["total_s"] == pytest.approx(0.5**0.5, rel=0.02)
