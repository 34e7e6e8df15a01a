"""The follower of a LOG that grows sees what a reader of the whole sees."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.metrics.log_events import LogFollower
from lsmtune.metrics.log_reader import read_log

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
LOGS = [*sorted(CAPTURED.glob("*/LOG.gz")), *CAPTURED.glob("*.LOG.gz")]
STAMP = "2026/11/21-21:17:44.881941 9854 "


def event(micros: int, job: int, name: str, **fields: object) -> str:
    payload = {"time_micros": micros, "job": job, "event": name, **fields}
    return f"{STAMP}EVENT_LOG_v1 {json.dumps(payload)}\n"


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.parent.name)
def test_the_follower_sees_what_the_reader_sees(path: Path) -> None:
    content, follower = gzip.decompress(path.read_bytes()), LogFollower()
    ledger = read_log(content.decode().split("\n")).ledger
    for start in range(0, len(content), 777):
        follower.feed(content[start : start + 777])
    assert follower.running_jobs == set()
    assert ledger.running == []
    assert follower.last_finished_micros == ledger.last_finished_micros
    assert follower.finished_count == len(ledger.jobs)


@given(st.lists(st.integers(0, 600), max_size=8))
def test_where_the_follower_is_fed_does_not_matter(cuts: list[int]) -> None:
    content = (
        event(1, 2, "flush_started")
        + event(5, 2, "flush_finished", lsm_state=[1, 0])
        + event(3, 7, "compaction_started", files_L0=[1, 2])
        + event(4, 8, "trivial_move")
    ).encode()
    follower = LogFollower()
    edges = [0, *sorted(cuts), len(content)]
    for start, end in pairwise(edges):
        follower.feed(content[start:end])
    assert follower.running_jobs == {7}
    assert (follower.finished_count, follower.last_finished_micros) == (1, 5)


def test_the_follower_waits_for_the_whole_line() -> None:
    follower, line = LogFollower(), event(1, 2, "flush_started").encode()
    follower.feed(line[:-1])
    assert follower.running_jobs == set()
    follower.feed(line[-1:])
    assert follower.running_jobs == {2}


def test_the_follower_keeps_the_latest_end() -> None:
    follower = LogFollower()
    for micros in (8, 9, 7):
        follower.feed(event(micros, micros, "flush_finished").encode())
    assert (follower.last_finished_micros, follower.finished_count) == (9, 3)


def test_the_follower_counts_an_end_that_rocksdb_cut() -> None:
    follower = LogFollower()
    follower.feed(event(1, 2, "compaction_started").encode())
    follower.feed(event(2, 2, "compaction_finished", lsm_state=[1])[:-8].encode() + b"\n")
    assert (follower.running_jobs, follower.finished_count) == (set(), 1)


@given(st.binary())
def test_any_bytes_are_followed(chunk: bytes) -> None:
    LogFollower().feed(b'EVENT_LOG_v1 {"time_micros": ' + chunk + b"\n" + chunk)
