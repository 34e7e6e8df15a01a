"""A LOG inside the log of another program has the same findings as the LOG itself."""

import gzip
import json
import random
from pathlib import Path

import pytest
from recorded_logs import EXAMPLE, LOGS, inspected

from fakes.frames import FRAMES, layered
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.cli.main import run

LARGE_BYTES = 80_000
DRAWN = [
    (path, frame)
    for place, path in enumerate(LOGS)
    for frame in random.Random(place).sample(
        sorted(FRAMES), 1 if path.stat().st_size > LARGE_BYTES else 2
    )
]
"""A large LOG in one frame, a small one in two."""


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
    assert found.totals.stall_percent == own.totals.stall_percent
    assert len(found.jobs) == len(own.jobs)


@pytest.mark.parametrize("seed", range(12))
def test_frames_in_one_another_are_taken_off(seed: int, tmp_path: Path) -> None:
    name, frame = layered(seed)
    path = tmp_path / "LOG"
    path.write_bytes(frame(gzip.decompress(EXAMPLE.read_bytes()).decode()))
    own, found = inspected(EXAMPLE), inspect_path(path)
    assert [finding.code for finding in found.findings] == [f.code for f in own.findings], name
    assert (found.options, found.levels, len(found.jobs)) == (
        own.options, own.levels, len(own.jobs)
    ), name  # fmt: skip


def damaged(share: float, seed: int) -> str:
    """Plant text of another program inside a share of the lines."""
    rng = random.Random(seed)
    lines = gzip.decompress(EXAMPLE.read_bytes()).decode().split("\n")
    for place, line in enumerate(lines):
        if line and rng.random() < share:
            at = rng.randrange(len(line))
            lines[place] = f"{line[:at]}[net] GET /index 200{line[at:]}"
    return "\n".join(lines)


@pytest.mark.parametrize("share", [0.2, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_many_damaged_lines_give_no_diagnosis(share: float, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(damaged(share, seed))
    found = inspect_path(path)
    assert found.is_refused
    assert found.verdict == "insufficient_data"
    assert not found.findings
    assert not any([found.version, *found.options.values()])
    assert found.incomplete == (found.unread,)
    forced = inspect_path(path, force=True)
    assert forced.findings
    assert forced.unread == forced.incomplete[0] == found.unread


def test_few_damaged_lines_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(damaged(0.05, 3))
    found = inspect_path(path)
    assert found.unread is None
    assert found.findings
    assert found.incomplete


def test_a_version_that_is_none_gives_no_diagnosis(tmp_path: Path) -> None:
    text = gzip.decompress(EXAMPLE.read_bytes()).decode()
    path = tmp_path / "LOG"
    path.write_text(text.replace("RocksDB version: 7", "RocksDB version: seven"))
    assert inspect_path(path).is_refused


def test_a_log_that_cannot_be_turned_around_gives_no_diagnosis(tmp_path: Path) -> None:
    lines = gzip.decompress(EXAMPLE.read_bytes()).decode().splitlines()
    path = tmp_path / "LOG"
    path.write_text("\n".join([*lines[:1001], *reversed(lines[1001:])]))
    found = inspect_path(path)
    assert found.is_refused
    assert not found.findings
    assert inspect_path(path, force=True).incomplete[0] == found.unread


def test_the_cause_behind_an_error_stays_in_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "rocksdb.info"
    begin = "[2026/11/21 21:17:44.881 +00:00]"
    path.write_text(
        f'{begin} [INFO] [a.rs:1] ["[db/db_impl.cc:1] [cf] [JOB 1] Flushing"] [thread_id=0x4]\n'
        f'{begin} [FATAL] [b.rs:2] ["cannot log"] [err="No space \\"left\\""] [thread_id=0x4]\n'
        f'{begin} [INFO] [a.rs:1] ["[db/db_impl.cc:1] [cf] [JOB 2] Flushing"] [thread_id=0x5]\n'
    )
    (finding,) = inspect_path(path).findings
    assert finding.code == "errors"
    assert "No space" in finding.evidence
    assert "thread_id" not in finding.evidence


def test_force_is_named_and_changes_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "LOG"
    path.write_text(damaged(0.6, 0))
    assert run(["inspect", str(path)]) == 1
    assert "--force" in capsys.readouterr().out
    assert run(["inspect", str(path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["findings"]) == ("insufficient_data", [])
    assert document["incomplete"]
    assert run(["inspect", str(path), "--force"]) == 0
    assert run(["inspect", str(path), "--compare", "--after", str(path)]) == 1


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
