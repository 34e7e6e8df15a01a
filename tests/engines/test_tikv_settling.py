"""How long lsmtune waits for TiKV: for one refresh of its counters, and for real work."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from fakes.rig import Rig
from fakes.tikv_site import Site, site
from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.tikv import status
from lsmtune.engines.tikv.status import StatusServer, settle
from lsmtune.metrics.prometheus import Series, parse_metrics
from lsmtune.spec import make_spec
from lsmtune.trials import Status

REFRESH_S = 10.0
LIMIT_S = 600.0


@dataclass
class Clock:
    """A clock that only sleeping moves."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


@dataclass
class Server:
    """TiKV after a load that ended at 0: it flushes and compacts until `idle_at`.

    `phase` is when its first refresh comes.
    """

    clock: Clock
    phase: float
    idle_at: float = 0.0

    def metrics(self) -> Series:
        passed = (self.clock.now - self.phase) // REFRESH_S
        at = self.phase + passed * REFRESH_S  # of the last refresh; below 0 within the load
        working = at < self.idle_at
        written = 1e9 * (1 + max(0.0, min(at, self.idle_at))) if at >= 0 else 5e8
        ended = min(self.clock.now, self.idle_at) // 4
        return parse_metrics(
            f'tikv_engine_flow_bytes{{db="kv",type="bytes_written"}} {written}\n'
            f'tikv_engine_num_running_compactions{{db="kv"}} {int(working)}\n'
            f'tikv_engine_event_total{{cf="default",db="kv",type="compaction"}} {ended}\n'
        )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(status, "time", found)
    return found


def settled(server: Server) -> tuple[Series, float]:
    return settle(cast("StatusServer", server), REFRESH_S, LIMIT_S)


@pytest.mark.parametrize("phase", [0.1, 2.5, 4.9, 7.0, 9.9, 10.0])
def test_what_was_done_is_seen_within_one_refresh(clock: Clock, phase: float) -> None:
    counted, settle_s = settled(Server(clock, phase))
    assert counted.total("tikv_engine_flow_bytes", db="kv") == 1e9
    assert clock.now <= REFRESH_S
    assert settle_s == 0


@pytest.mark.parametrize("phase", [0.1, 5.0, 9.9])
@pytest.mark.parametrize("idle_at", [3.0, 12.0, 41.0])
def test_work_is_waited_for(clock: Clock, phase: float, idle_at: float) -> None:
    counted, settle_s = settled(Server(clock, phase, idle_at))
    assert not status.is_busy(counted)
    assert idle_at <= clock.now <= idle_at + REFRESH_S + REFRESH_S / status.LOOKS
    assert settle_s <= clock.now
    assert settle_s >= idle_at // 4 * 4 - REFRESH_S / status.LOOKS


def test_where_no_counter_changes_one_refresh_has_passed(clock: Clock) -> None:
    settled(Server(clock, phase=0.0))
    assert clock.now == REFRESH_S


def test_work_without_end_is_a_failure(clock: Clock) -> None:
    with pytest.raises(TrialFailedError, match="600 s") as failure:
        settled(Server(clock, phase=5.0, idle_at=1e9))
    assert failure.value.status is Status.TIMED_OUT


# --- of trials


@pytest.fixture
def place(tmp_path: Path, own_host: Path) -> Iterator[Site]:
    with site(tmp_path / "site") as found:
        yield found


def rig(place: Site, load: str, **table: object) -> Rig:
    given = place.study(load, memory="16GiB")
    given["tikv"] |= {"refresh_s": REFRESH_S, **table}
    return Rig(str(place.program), place.folder.parent / "work", make_spec(given, "here"))


@pytest.mark.parametrize("load", ["writeheavy", "ycsb_a", "ycsb_c"])
def test_a_trial_waits_for_one_refresh(place: Site, clock: Clock, load: str) -> None:
    found = rig(place, load)
    found.run()
    waits = []
    for settings in ({}, {"rocksdb.max-background-jobs": 4}, {}):
        before = clock.now
        result = found.run({**found.base, **settings}).result
        assert result.status is Status.COMPLETE, result.reason
        waits.append(clock.now - before)
    assert max(waits) <= REFRESH_S
    assert result.metrics["settle_s"] == 0


def test_records_and_restarts_settle_before_the_load(place: Site, clock: Clock) -> None:
    found = rig(place, "ycsb_a")
    found.run()
    assert clock.now <= 2 * REFRESH_S
    before = clock.now
    place.tikv.busy = 3
    result = found.run({**found.base, "rocksdb.defaultcf.block-size": 4096}).result
    assert result.status is Status.COMPLETE, result.reason
    assert 2 * REFRESH_S <= clock.now - before <= 5 * REFRESH_S


def test_data_that_the_user_prepares_settles(place: Site, clock: Clock, tmp_path: Path) -> None:
    script = tmp_path / "prepare"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    found = rig(place, "ycsb_c", prepare=[str(script)])
    found.run()
    before = clock.now
    found.run()
    assert REFRESH_S < clock.now - before <= 2 * REFRESH_S


def test_compactions_of_the_load_are_waited_for(place: Site, clock: Clock) -> None:
    found = rig(place, "ycsb_a")
    there = found.run().result.metrics["write_amp"]
    place.tikv.busy = 4
    result = found.run().result
    assert result.metrics["settle_s"] > REFRESH_S
    assert result.metrics["write_amp"] == pytest.approx(there, rel=0.05)
