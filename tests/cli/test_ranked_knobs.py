"""`--knobs lasso:N` and `top:N`: what the ranking rests on, and what it finds."""

from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.analysis.importance import runs_of
from lsmtune.analysis.screened import screened_lines, shipped
from lsmtune.api.continue_study import StoredStudies
from lsmtune.api.knob_ranking import ranked_knobs
from lsmtune.api.resolve import name_ranked_knobs
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.progress import Observer
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.screen import screen
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec

LOAD = {"workload": "readrandom"}
KNOBS = "block_size,bloom_bits,cache_index_and_filter_blocks,num_levels,block_align"
FAST: dict[str, Any] = {
    "optimizer": "random", "repeats": 0, "pairs": 0, "early_stop": False, "base_runs": 1,
}  # fmt: skip


def by_blocks(spec: TrialSpec) -> TrialResult:
    """Only the size of blocks does anything."""
    return measured(throughput_ops_s=1e9 / float(spec.settings["block_size"]))


def by_levels(spec: TrialSpec) -> TrialResult:
    return measured(throughput_ops_s=1e3 * float(spec.settings["num_levels"]))


def search(home: Path, name: str, knobs: str, trials: int) -> None:
    spec = make_spec({**LOAD, **FAST, "study": name, "knobs": knobs, "trials": trials}, "test")
    with (
        Home(home, create=True) as opened,
        open_study(opened, spec, ScriptedEngine(by_blocks), lambda _: None) as study,
    ):
        run_search(study)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a search of some length, then one of fewer knobs and one too short."""
    place = tmp_path / "home"
    search(place, "wide", KNOBS, 14)
    search(place, "narrow", "block_size,bloom_bits", 14)
    search(place, "short", KNOBS, 5)
    return place


def test_a_search_of_most_knobs_will_do_for_the_lasso(home: Path) -> None:
    knobs, source = ranked_knobs("lasso:1", LOAD, home)
    assert knobs == "block_size"
    assert "study 'wide'" in source
    assert "14 configs" in source


def test_a_screening_counts_before_searches(home: Path) -> None:
    table = {"screen": {"replicated": 0}, "study": "spread", "knobs": KNOBS, "trials": 40}
    spec = make_spec({**LOAD, **FAST, **table}, "test")
    assert spec.screen is not None
    with (
        Home(home, create=True) as opened,
        open_study(opened, spec, ScriptedEngine(by_levels), lambda _: None) as study,
    ):
        screen(study, spec.screen)
    assert ranked_knobs("lasso:1", LOAD, home) == ("num_levels", "screening 'spread'")
    with Home(home, create=False) as opened:
        assert {line.rocksdb for line in screened_lines(opened, "spread")} == {"0.0.0"}


def test_a_study_file_may_ask_for_it_and_the_source_is_told(home: Path) -> None:
    given: dict[str, Any] = {**LOAD, "knobs": "lasso:2"}
    told: list[str] = []
    name_ranked_knobs(given, StoredStudies(home), Observer(), told.append)
    assert given["knobs"].split(",")[0] == "block_size"
    assert told[0].startswith("knobs: lasso:2 ")
    assert "study 'wide'" in told[0]


def test_the_data_that_ships_will_do_too(tmp_path: Path) -> None:
    knobs, source = ranked_knobs(
        "lasso:3", {"workload": "fillrandom", "objective": "live_sst_bytes"}, tmp_path
    )
    assert "shipped" in source
    assert "7.8.3" in source
    assert "compression_type" in knobs


def test_the_shipped_runs_of_the_nearest_version_count(tmp_path: Path) -> None:
    sources = {
        version: ranked_knobs(
            "lasso:3", {"workload": "fillrandom", "rocksdb": version}, tmp_path / "home"
        )[1]
        for version in ("7.10.2", "10.10.1")
    }
    assert "7.8.3" in sources["7.10.2"]
    assert "11.8.1" in sources["10.10.1"]


def test_permutation_needs_a_screening(home: Path) -> None:
    with pytest.raises(UserError, match=r"top:N.*readrandom"):
        ranked_knobs("top:1", LOAD, home)


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lasso:six.*lasso:N"):
        ranked_knobs("lasso:six", LOAD, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_models")
@pytest.mark.parametrize("wanted", ["top:40", "lasso:40"])
def test_options_that_production_leaves_alone_are_not_ranked(wanted: str, tmp_path: Path) -> None:
    avoided = {knob.name for knob in load("rocksdb").knobs if knob.avoid}
    varied = {factor.name for factor in runs_of(shipped(), load("rocksdb")).design.factors}
    assert avoided & varied  # else there is nothing to leave out
    knobs, _ = ranked_knobs(wanted, {"workload": "fillrandom"}, tmp_path)
    assert set(knobs.split(",")) == varied - avoided
