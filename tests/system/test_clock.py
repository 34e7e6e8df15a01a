"""A clock that was set is told from one that is slowly corrected."""

import time

import pytest

from lsmtune.system.host import ClockWatch

DAY_S = 86400.0


class Clocks:
    """A wall clock and a monotonic one, moved by hand."""

    def __init__(self) -> None:
        self.wall_s = 1.8e9
        self.monotonic_s = 500.0

    def watch(self) -> ClockWatch:
        return ClockWatch(lambda: self.wall_s, lambda: self.monotonic_s)

    def go_on(self, seconds: float, *, set_by: float = 0.0) -> None:
        self.monotonic_s += seconds
        self.wall_s += seconds + set_by


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.mark.parametrize("set_by", [3600.0, -3600.0, 0.2, -0.2, DAY_S, -DAY_S])
def test_a_clock_that_was_set_is_found_out(clocks: Clocks, set_by: float) -> None:
    watch = clocks.watch()
    clocks.go_on(10, set_by=set_by)
    assert watch.jump_s() == pytest.approx(set_by, abs=1e-6)


@pytest.mark.parametrize("set_by", [0.0, 0.05, -0.05, 0.099])
def test_little_is_nothing(clocks: Clocks, set_by: float) -> None:
    watch = clocks.watch()
    clocks.go_on(10, set_by=set_by)
    assert watch.jump_s() == 0.0


@pytest.mark.parametrize("share", [400e-6, -400e-6])
def test_slow_correction_is_no_jump(clocks: Clocks, share: float) -> None:
    watch = clocks.watch()
    for _ in range(24):
        clocks.go_on(3600, set_by=3600 * share)
        assert watch.jump_s() == 0.0


def test_a_jump_stands_out_of_slow_correction(clocks: Clocks) -> None:
    watch = clocks.watch()
    clocks.go_on(3600, set_by=1.0)
    assert watch.jump_s() == 0.0
    clocks.go_on(1, set_by=-60.0)
    assert watch.jump_s() == pytest.approx(-59.0)


def test_set_and_set_back_is_found_out_by_looking(clocks: Clocks) -> None:
    watch = clocks.watch()
    clocks.go_on(5, set_by=3600)
    assert watch.jump_s() == pytest.approx(3600)
    clocks.go_on(5, set_by=-3600)
    assert watch.jump_s() == pytest.approx(3600)
    assert clocks.watch().jump_s() == 0.0


def test_a_sleep_of_the_machine_is_a_jump(clocks: Clocks) -> None:
    watch = clocks.watch()
    clocks.wall_s += 600
    assert watch.jump_s() == pytest.approx(600)


def test_the_clocks_of_this_machine_go_together() -> None:
    watch = ClockWatch()
    time.sleep(0.01)
    assert watch.jump_s() == 0.0
