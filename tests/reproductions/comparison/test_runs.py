"""Tests of the searches of a comparison: each runs once and is stored."""

from pathlib import Path

import pytest

from lsmtune.errors import UserError
from lsmtune.progress import Observer
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune_reproductions.comparison.compare import engine_studies, on_engine, on_model

READ_LIMITS = ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us")


def small_blocks(spec: TrialSpec) -> TrialResult:
    return measured(write_amp=float(spec.settings["block_size"]))


@pytest.mark.slow
def test_on_model_stores_finished_searches(tmp_path: Path) -> None:
    lifted = [f"{metric} <= none" for metric in READ_LIMITS]
    spec = make_spec({"objective": "write_amp", "limits": lifted, "trials": 4}, "test")
    kept = tmp_path / "results" / "kept.jsonl"
    first = list(on_model(spec, ["random"], 2, kept, 1, home=tmp_path))
    text = kept.read_text()
    kept.write_text(text + '{"optimizer": "gen')  # as after a kill
    again = list(on_model(spec, ["random", "genetic"], 2, kept, 1, home=tmp_path))
    assert again[:2] == first
    assert kept.read_text().startswith(text)
    assert {(c.optimizer, c.seed) for c in again} == {
        (name, seed) for name in ("random", "genetic") for seed in (1, 2)
    }
    assert all(len(curve.costs) == 4 for curve in again)
    assert len(kept.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    "line", ["[" * 100_000, "{}", '{"optimizer": "random", "seed": 1, "costs": []}']
)
def test_a_file_of_searches_that_is_damaged_is_refused(tmp_path: Path, line: str) -> None:
    kept = tmp_path / "results" / "kept.jsonl"
    kept.parent.mkdir()
    kept.write_text(f"{line}\n")
    with pytest.raises(UserError, match=r"kept\.jsonl: "):
        list(on_model(make_spec({"trials": 4}, "test"), ["random"], 1, kept, 1, home=tmp_path))


def test_no_link_inside_a_home_is_followed(tmp_path: Path) -> None:
    spec, home, victim = make_spec({"trials": 4}, "test"), tmp_path / "home", tmp_path / "victim"
    victim.mkdir()
    home.mkdir()
    (home / "results").symlink_to(victim)
    with pytest.raises(UserError, match="link"):
        list(on_model(spec, ["random"], 1, home / "results" / "kept.jsonl", 1, home=home))
    assert list(victim.iterdir()) == []


def test_on_engine_each_search_is_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    given = {"study": "c", "objective": "write_amp", "knobs": "block_size", "trials": 3}
    spec = make_spec(given, "test")
    studies = engine_studies(spec, ["random", "gp-ucb:ucb=2"], 2)
    with Home(tmp_path / "home", create=True) as home:
        curves = list(on_engine(studies, ScriptedEngine(small_blocks), home, Observer()))
        assert len(home.study_names()) == 4
    assert [curve.optimizer for curve in curves] == ["random", "gp-ucb:ucb=2"] * 2
    assert [curve.seed for curve in curves] == [1, 1, 2, 2]
    assert all(curve.costs[0] >= curve.costs[-1] for curve in curves)
