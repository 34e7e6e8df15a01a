"""A LOG inside the log of another program has the same findings as the LOG itself."""

import gzip
import random
from functools import cache
from pathlib import Path

import pytest

from fakes.frames import FRAMES
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path

DATA = Path(__file__).parents[1] / "data"
LOGS = sorted([*(DATA / "planted").glob("*.gz"), *(DATA / "captured").glob("**/*LOG.gz")])
DRAWN = [
    (path, frame)
    for place, path in enumerate(LOGS)
    for frame in random.Random(place).sample(sorted(FRAMES), 2)
]


@cache
def inspected(path: Path) -> Inspection:
    return inspect_path(path)


@pytest.mark.parametrize(
    ("path", "frame"), DRAWN, ids=[f"{path.parent.name}-{path.name}-{f}" for path, f in DRAWN]
)
def test_a_log_in_a_frame_has_the_same_findings(path: Path, frame: str, tmp_path: Path) -> None:
    framed = tmp_path / "LOG"
    framed.write_bytes(FRAMES[frame](gzip.decompress(path.read_bytes()).decode()))
    own, found = inspected(path), inspect_path(framed)
    assert [finding.code for finding in found.findings] == [f.code for f in own.findings]
    assert found.kind == own.kind
    assert found.version == own.version
    assert found.options == own.options
    assert found.levels == own.levels
    assert found.tickers == own.tickers
    assert found.totals.write_amp == own.totals.write_amp
    assert len(found.jobs) == len(own.jobs)


@pytest.mark.parametrize("frame", sorted(FRAMES))
def test_warnings_alone_are_read_in_each_frame(frame: str, tmp_path: Path) -> None:
    lines = [
        f"2026/11/21-21:{minute}:44.881941 9854 [WARN] [db/column_family.cc:948] [cf] Stopping "
        "writes because we have 36 level-0 files"
        for minute in range(10, 20)
    ]
    path = tmp_path / "warnings.txt"
    path.write_bytes(FRAMES[frame]("\n".join([*lines, ""])))
    found = inspect_path(path)
    assert found.kind == "LOG"
    assert {stall.family for stall in found.stalls} == {"cf"}
    assert not found.timed_stalls  # warnings do not say when a stall ended
    assert [finding.code for finding in found.findings] == ["writes-stopped"]


@pytest.mark.parametrize("level", ["error", "ERROR", "[error]", "Error"])
def test_the_level_of_a_prefix_counts_in_each_of_many_lines(level: str, tmp_path: Path) -> None:
    lines = [
        f"2026-11-21 21:{minute:02}:{second:02},123 {level} rocksdb: [db/db_impl.cc:1] [cf] No good"
        for minute in range(30)
        for second in range(60)
    ]
    path = tmp_path / "service.log"
    path.write_text("\n".join(["2026-11-21 21:00:00,000 info rocksdb: RocksDB version: 8.0.0",
                               *lines, ""]))  # fmt: skip
    assert inspect_path(path).trouble_lines == len(lines)
