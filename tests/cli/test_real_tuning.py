"""The whole way on the real db_bench: tune, verify, show, report, export, open the export."""

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import pytest

from lsmtune.analysis.claim import GAINS
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.limits import default_limits
from lsmtune.workloads import Workload

pytestmark = [pytest.mark.db_bench, pytest.mark.slow]

STUDY = """
study = "s"
optimizer = "tpe"  # runs at once, where `guided` simulates first
trials = 4
finalists = 2
repeats = 1
max_pairs = 6
objective = "write_amp"
limits = ["live_sst_bytes <= 9 * base", LIMITS]
[workload]
name = "fillrandom"
num = 20000
[protocol]
probe_reads = 500
"""


# Times depend on what else runs on the machine, counted reads on how a load happens to end.
CHANCE = [
    limit.metric
    for limit in default_limits(Workload(), ENGINES["rocksdb"])
    if limit.probe or limit.metric.endswith(("_us", "_ops_s"))
]


def tune(home: Path, *flags: str) -> int:
    file = home.with_name("study.toml")
    lifted = ", ".join(f'"{name} <= none"' for name in CHANCE)
    file.write_text(STUDY.replace("LIMITS", lifted))
    return run(["tune", str(file), "--home", str(home), *flags])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, crowd: None) -> Path:
    folder = tmp_path_factory.mktemp("tuned") / "home"
    assert tune(folder) == 0
    return folder


def shown(home: Path, capsys: pytest.CaptureFixture[str]) -> dict:
    capsys.readouterr()
    assert run(["show", "s", "--home", str(home), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_winner_is_verified(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = shown(home, capsys)
    assert document["trials"]["complete"] + document["trials"]["cut"] == 4
    # Large memtables or blob files halve the write amplification of a tree this small. Blob files
    # have a price: slower scans.
    assert document["verification"]["claim"] in GAINS
    assert document["verification"]["pairs"] >= 6
    ratio = document["verification"]["ratios"]["write_amp"]
    assert ratio["low"] <= ratio["median"] <= ratio["high"] < 1
    assert document["best"]["config"]
    assert document["best"]["metrics"]["write_amp"] < document["base"]["metrics"]["write_amp"]


def test_the_same_command_again_runs_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = shown(home, capsys)
    assert tune(home, "--json") == 0
    assert json.loads(capsys.readouterr().out) == before


def test_trials_come_as_csv_and_json_lines(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["trials", "s", "--home", str(home), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert run(["trials", "s", "--home", str(home), "--jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["trial"] for row in rows] == [str(line["trial"]) for line in lines]
    assert rows[0]["role"] == "base"
    assert float(rows[0]["write_amp"]) == pytest.approx(lines[0]["metrics"]["write_amp"])


def test_the_page_stands_alone(home: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["report", "s", "--home", str(home), "-o", str(page)]) == 0
    text = page.read_text()
    assert re.search(r"\d+ pairs of runs", text)
    assert 'src="http' not in text


def as_run(options: Path, folder: Path) -> dict[str, str]:
    """What RocksDB runs when db_bench is given the OPTIONS file."""
    database = folder / "db"
    subprocess.run(
        ["db_bench", f"--options_file={options}", "--benchmarks=fillseq", "--num=10",
         f"--db={database}"],
        check=True, capture_output=True,
    )  # fmt: skip
    newest = sorted(database.glob("OPTIONS-*"))[-1]
    lines = (line.strip().split("=", 1) for line in newest.read_text().splitlines() if "=" in line)
    return dict(lines)


def test_db_bench_opens_the_exported_options(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = shown(home, capsys)["best"]["config"]
    exported = home / "results" / "s" / "OPTIONS"
    assert "UNVERIFIED" in exported.read_text()
    ran = as_run(exported, tmp_path)
    slowdown = "level0_slowdown_writes_trigger"
    if slowdown in best:
        assert ran[slowdown] == str(best[slowdown])
    assert best


def test_sizes_are_exported_for_a_full_size_tree_within_the_bases_memory(
    home: Path, tmp_path: Path
) -> None:
    ran = as_run(home / "results" / "s" / "OPTIONS", tmp_path)
    memtables = int(ran["write_buffer_size"]) * int(ran["max_write_buffer_number"])
    assert 64 << 20 <= memtables <= (2 * 64 + 8) << 20


def test_the_file_says_what_can_be_set_online_and_what_needs_a_restart(home: Path) -> None:
    text = (home / "results" / "s" / "OPTIONS").read_text()
    back = (home / "results" / "s" / "OPTIONS.back").read_text()
    assert "baseline" in back.splitlines()[0]
    for file in (text, back):
        notes = [line for line in file.splitlines() if line.startswith("#")]
        assert any("SetOptions" in line or "restart" in line for line in notes)


def test_only_tuned_keys_of_the_users_file_change(home: Path, tmp_path: Path) -> None:
    base = (home / "results" / "s" / "OPTIONS").read_text()
    mine = (
        base.replace("max_open_files=-1", "max_open_files=4321")
        .replace("  write_buffer_size=", "  # mine, do not touch\n  write_buffer_size=")
        .replace("max_sequential_skip_in_iterations=8", "max_sequential_skip_in_iterations=7")
    )
    (tmp_path / "OPTIONS").write_text(mine)
    out = tmp_path / "out"
    flags = ["--format", "options", "--home", str(home), "-o", str(out)]
    assert run(["export", "s", "--base", str(tmp_path / "OPTIONS"), *flags]) == 0
    changed = out.read_text()
    assert "# mine, do not touch" in changed
    assert "max_sequential_skip_in_iterations=7" in changed
    assert as_run(out, tmp_path)["max_sequential_skip_in_iterations"] == "7"


def test_the_way_back_is_the_base(home: Path, tmp_path: Path) -> None:
    back = tmp_path / "back"
    flags = ["--format", "options", "--home", str(home), "-o", str(back)]
    assert run(["export", "s", "--back", *flags]) == 0
    ran = as_run(back, tmp_path)
    assert ran["write_buffer_size"] == "67108864"
    assert ran["max_write_buffer_number"] == "2"


def test_exported_flags_run(home: Path, tmp_path: Path) -> None:
    flags = tmp_path / "flags"
    arguments = ["--format", "db_bench", "--home", str(home), "-o", str(flags)]
    assert run(["export", "s", *arguments]) == 0
    subprocess.run(
        ["db_bench", f"--flagfile={flags}", "--benchmarks=fillseq", "--num=10",
         f"--db={tmp_path / 'db'}"],
        check=True, capture_output=True,
    )  # fmt: skip


def test_verify_at_another_size(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    command = ["verify", "s", "--num", "24000", "--scale", "1/32", "--home", str(home), "--json"]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["verification"]["scale"] == "1/32"


def test_doctor_finds_db_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor", "--home", str(tmp_path / "new"), "--json"])
    document = json.loads(capsys.readouterr().out)
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["db_bench"]["ok"]
    assert set(checks["db_bench"]) == {"name", "ok", "detail", "fix"}
