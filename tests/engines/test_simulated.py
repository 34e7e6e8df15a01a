"""The engine on the simulator: every command works on it, and says that nothing was measured."""

import json
from pathlib import Path

import pytest

pytest.importorskip("lsmsim", reason="the native core is not built here")

from fakes.rig import Rig
from lsmtune.cli.main import run
from lsmtune.engines.simulated.engine import Simulated
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load as load_catalogue
from lsmtune.simulator import known_knobs
from lsmtune.spec import make_spec
from lsmtune.trials import Status

FLAGS = ["--engine", "simulated", "--num", "50000"]
OPTIONS = """\
[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1
[DBOptions]
  max_background_jobs=6
[CFOptions "default"]
  write_buffer_size=1048576
[CFOptions "mine"]
  write_buffer_size=33554432
  compaction_style=kCompactionStyleUniversal
[TableOptions/BlockBasedTable "mine"]
  block_size=16384
"""


def test_a_study_tunes_verifies_and_writes_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "home")]
    free = ("live_sst_bytes", "scan_p99_us", "scan_p50_us")
    space = [text for name in free for text in ("--limit", f"{name} <= 9 * base")]
    assert run(["tune", *FLAGS, *space, "--trials", "12", "--study", "s", *home]) == 0
    assert "UNVERIFIED" in capsys.readouterr().out
    results = tmp_path / "home" / "results" / "s"
    assert "UNVERIFIED" in (results / "flags").read_text()
    assert "not measured" in (results / "report.html").read_text()
    assert run(["show", "s", "--json", *home]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["engine"] == "simulated"
    assert shown["trials"]["complete"] == 12
    assert run(["export", "s", "--format", "options", *home]) == 2
    assert "--base" in capsys.readouterr().err
    assert run(["simulate", "s", "--json", *home]) == 0
    base, best = map(json.loads, capsys.readouterr().out.splitlines())
    assert base["id"] == "base"
    assert best["metrics"]["write_amp"] > 0


def test_it_has_only_the_knobs_that_it_knows(tmp_path: Path) -> None:
    engine = Simulated()
    facts = engine.describe(tmp_path)
    base = engine.base(facts, None, tmp_path)
    assert base.settings.keys() <= known_knobs()
    assert "write_buffer_size" in base.settings


def test_what_it_knows_is_spelt_as_knobs_are() -> None:
    knobs = {knob.name for knob in load_catalogue("rocksdb").knobs}
    assert known_knobs() - knobs == {"disable_wal"}  # durability is the user's own choice, no knob


def test_the_users_own_family_is_what_it_begins_with(tmp_path: Path) -> None:
    own = tmp_path / "OPTIONS"
    own.write_text(OPTIONS)
    base = make_spec({"engine": "simulated", "base": str(own), "family": "mine"}, "")
    rig = Rig("lsmsim", tmp_path / "rig", base)
    assert rig.ground.base.settings["write_buffer_size"] == 32 << 20
    assert rig.ground.base.settings["compaction_style"] == 1
    assert rig.ground.base.settings["block_size"] == 16384
    assert rig.ground.base.settings["max_background_jobs"] == 6
    none = make_spec({"engine": "simulated", "base": str(own), "family": "none"}, "")
    with pytest.raises(UserError, match=r"^family: .*'none'.*default, mine"):
        Rig("lsmsim", tmp_path / "none", none)


def test_baseline_names_the_options_that_are_not_simulated(tmp_path: Path) -> None:
    own = tmp_path / "OPTIONS"
    own.write_text(OPTIONS.replace("7.8.3", "6.20.3") + "  whole_key_filtering=false\n")
    spec = make_spec({"engine": "simulated", "base": str(own), "family": "mine"}, "")
    base = Rig("lsmsim", tmp_path / "rig", spec).ground.base
    assert "6.20.3" in base.notes[0]
    assert "7.8.3" in base.notes[0]
    (left,) = base.left_out
    assert left.startswith("whole_key_filtering = ")


def test_an_options_string_is_a_baseline(tmp_path: Path) -> None:
    own = tmp_path / "store.conf"
    own.write_text('[osd]\nx_rocksdb_options = "write_buffer_size=32M,compaction_threads=4"\n')
    base = Rig("lsmsim", tmp_path / "rig", make_spec(
        {"engine": "simulated", "base": str(own)}, "")).ground.base  # fmt: skip
    defaults = Rig("lsmsim", tmp_path / "none", make_spec({"engine": "simulated"}, "")).ground.base
    assert base.settings == defaults.settings | {"write_buffer_size": 32 << 20}
    assert [name in " ".join(base.notes) for name in (str(own), "compaction_threads")] == [True] * 2


def test_a_dry_run_shows_the_options_string(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours").write_text("write_buffer_size=32M;flusher_threads=4")
    flags = ["--engine", "simulated", "--base", "ours", "--home", "home", "--dry-run", "--json"]
    assert run(["tune", *flags]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["base"] == str(tmp_path / "ours") or plan["base"] == "ours"
    assert "flusher_threads" in " ".join(plan["base_notes"])


def test_what_the_simulator_does_not_know_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "--engine", "simulated", "--workload", "readrandom", "--dry-run"]) == 2
    assert "readrandom; available: rocksdb" in capsys.readouterr().err


def test_a_run_that_would_never_end_is_a_trial_that_timed_out(tmp_path: Path) -> None:
    spec = make_spec({"engine": "simulated", "workload": {"name": "fillrandom", "num": 50_000}}, "")
    rig = Rig("lsmsim", tmp_path, spec)
    stopped = {
        "compaction_style": 1, "universal_min_merge_width": 50, "level0_stop_writes_trigger": 4,
        "level0_slowdown_writes_trigger": 4, "level0_file_num_compaction_trigger": 4,
        "universal_max_size_amplification_percent": 10**9,
    }  # fmt: skip
    result = rig.run({**rig.base, **stopped}).result
    assert result.status is Status.TIMED_OUT
    assert result.measurement is None
