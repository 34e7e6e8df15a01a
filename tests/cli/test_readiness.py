"""What is said before the first run about data, disk and machine."""

import re
from pathlib import Path

import pytest

from fakes.disks import with_free_bytes
from fakes.remarks import Remarks
from lsmtune.api.plan import Plan, plan_document
from lsmtune.api.readiness import readiness
from lsmtune.cli.main import run
from lsmtune.cli.plan_lines import plan_lines
from lsmtune.knobs.types import Settings
from lsmtune.report.text.plan_text import measure_facts
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import StudySettings, make_spec
from lsmtune.study.host_checks import remark_busy
from lsmtune.study.opening import describe
from lsmtune.testing.scripted import ScriptedEngine, measured


def spec(num: int = 1_000_000) -> StudySettings:
    return make_spec({"study": "s", "workload": {"num": num}}, "test")


@pytest.mark.parametrize(("others", "quiet"), [(2.0, True), (40.0, False)])
def test_the_json_plan_has_the_readiness(tmp_path: Path, others: float, quiet: bool) -> None:
    engine = ScriptedEngine(lambda _: measured())
    for num, is_enough in ((1_000_000, True), (1000, False)):
        asked = spec(num)
        facts, ground = describe(asked, engine, tmp_path)
        spaces = KnobSpaces(asked, ground)
        ready = readiness(asked, tmp_path, spaces.at(), others)
        found = Plan(facts, spaces, tmp_path, tuple(ready), None)
        document = plan_document(found)["ready"]
        assert document["data"]["ok"] is is_enough
        assert (document["data"]["flushes"] >= document["data"]["needed_flushes"]) is is_enough
        assert document["disk"]["needed_bytes"] > 0
        assert document["machine"] == {"ok": quiet, "other_programs_percent": others}


@pytest.mark.parametrize("accept_noise", [False, True])
def test_a_busy_host_is_named(accept_noise: bool) -> None:
    observer = Remarks()
    for others in (40.0, 4.0):
        remark_busy(spec(), observer, accept_noise=accept_noise, percent=lambda found=others: found)
    [remark] = observer.remarks
    assert "40 %" in remark


def test_online_tuning_repeats_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--workload", "tpcc", "--online", "--accept-noise", "--home", str(tmp_path / "home")]
    assert run(["tune", *flags]) == 2
    assert re.search(r"--accept-noise: .*\[online\]", capsys.readouterr().err)


@pytest.mark.parametrize(("free", "is_enough"), [(1, False), (1 << 60, True)])
def test_a_disk_that_is_too_small_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, is_enough: bool
) -> None:
    with_free_bytes(free, monkeypatch)
    facts, ground = describe(spec(), ScriptedEngine(lambda _: measured()), tmp_path)
    spaces = KnobSpaces(spec(), ground)
    ready = readiness(spec(), tmp_path, spaces.at(), 0.0)
    found = Plan(facts, spaces, tmp_path, tuple(ready), None)
    document = plan_document(found)["ready"]
    assert document["disk"]["ok"] is is_enough
    assert document["disk"]["free_bytes"] == free


def test_a_plan_without_pairs_has_no_verification(tmp_path: Path) -> None:
    asked = make_spec({"study": "s", "workload": {"num": 1_000_000}, "pairs": 0}, "test")
    facts, ground = describe(asked, ScriptedEngine(lambda _: measured()), tmp_path)
    spaces = KnobSpaces(asked, ground)
    lines = plan_lines(Plan(facts, spaces, tmp_path, (), None))
    (line,) = (line for line in lines if line.startswith("verification"))
    assert "pairs of runs" not in line
    assert "--pairs 0" in line


def test_the_plan_of_online_tuning_has_no_repeats_and_no_pairs(tmp_path: Path) -> None:
    given = {"study": "s", "workload": "overwrite", "rocksdb": "11.8.1", "trials": 4}
    asked = make_spec({**given, "online": {"window_s": 2, "windows": 6}}, "test")
    facts, ground = describe(asked, ScriptedEngine(lambda _: measured()), tmp_path)
    spaces = KnobSpaces(asked, ground)
    ready = readiness(asked, tmp_path, spaces.at(), 0.0)
    found = Plan(facts, spaces, tmp_path, tuple(ready), None)
    document = plan_document(found)
    assert document["runs"] == {"base": 0, "trials": 4, "pairs": 0}
    assert document["online"] == {"changes": 4, "window_s": 2, "windows": 6}
    assert document["limits"] == []
    assert "data" not in document["ready"]  # the workload writes until it is stopped
    shortest, longest = document["duration_s"]
    assert shortest == 4 * 2 * (6 + 2 + 3)
    assert longest > 4 * 2 * (6 + 1 + 6 + 1 + 6)
    lines = plan_lines(found)
    labels = {line.split("  ")[0] for line in lines}
    assert {"changes", "windows", "time"} <= labels
    assert not {"runs of the baseline", "search", "repeats", "verification"} & labels


@pytest.mark.parametrize(
    ("base", "is_told"),
    [
        ({"enable_blob_files": True, "min_blob_size": 4096}, True),
        ({"enable_blob_files": True, "min_blob_size": 1024}, False),
        ({"enable_blob_files": False, "min_blob_size": 4096}, False),
        ({}, False),
    ],
)
def test_values_too_small_for_the_blob_files_of_the_baseline_are_named(
    base: Settings, is_told: bool
) -> None:
    texts = [text for _, text in measure_facts(spec(), base)]
    assert any("min_blob_size" in text for text in texts) is is_told
