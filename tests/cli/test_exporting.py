"""What is exported is what was measured: the values that a preset begins with are part of it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.exporting import deployment, exported
from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.metrics.options_file import parse_options
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.studies.study import open_study
from lsmtune.trials import TrialResult, TrialSpec

CAPTURED = Path(__file__).parents[1] / "data" / "captured" / "rocksdb-7.8.3-level"
OPTIONS = (CAPTURED / "OPTIONS").read_text().replace("bloomfilter:10:false", "nullptr")
"""As the scripted base is: without filters."""
BEGUN = ("cache_index_and_filter_blocks", "pin_l0_filter_and_index_blocks_in_cache")


def planted(trial: TrialSpec) -> TrialResult:
    """Large blocks gain."""
    return measured(write_amp=65536 / float(trial.settings["block_size"]))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A study whose preset begins with values of its own, and one that varies the load too."""
    folder = tmp_path_factory.mktemp("begun")
    given = {
        "objective": "write_amp", "optimizer": "random",
        "base_runs": 1, "trials": 8, "repeats": 0, "pairs": 0,
    }  # fmt: skip
    presets = {"s": "autotikv-writes", "varied": "jin2022-published"}
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as opened:
        patch.setattr(tempfile, "tempdir", str(folder))
        engine = ScriptedEngine(planted, options=OPTIONS)
        for name, knobs in presets.items():
            spec = make_spec({**given, "study": name, "knobs": knobs}, "here")
            with open_study(opened, spec, engine, lambda _: None) as study:
                study.tune()
        yield opened


def table(text: str) -> dict[str, str]:
    sections = parse_options(text).sections
    return next(dict(v) for k, v in sections.items() if k.startswith("TableOptions"))


def test_what_a_preset_begins_with_is_deployed_and_taken_back(home: Home) -> None:
    files = deployment(home, read_study(home, "s"))
    ran = [trial.spec.settings for trial in home.trials(home.study("s"))]
    assert all(settings[name] is True for settings in ran for name in BEGUN)
    deployed, before, own = table(files.options), table(files.back), table(OPTIONS)
    for name in BEGUN:
        assert deployed[name] == "true"
        assert before[name] == own[name] == "false"
    assert "bloomfilter:10" in deployed["filter_policy"]
    assert before["filter_policy"] == own["filter_policy"] == "nullptr"
    assert before["block_size"] == own["block_size"]
    for text in (files.options, files.back):
        assert any(f"{BEGUN[0]} = True" in line for line in comments(text))


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def test_notes_of_a_file_name_the_trial_and_who_picked_it(home: Home) -> None:
    winner = read_study(home, "s")
    assert winner.best_trial
    other = next(t.number for t in winner.searched if t.number != winner.best_trial.number)
    for view, number in ((winner, winner.best_trial.number), (read_study(home, "s", other), other)):
        for form in ("options", "db_bench"):
            notes = comments(exported(home, view, form, None, back=False))
            assert f"trial {number}" in notes[0]
            assert ("picked" in notes[0]) is view.picked
            assert any("not verified" in note for note in notes)
            assert any("UNVERIFIED" in note for note in notes)
            assert all(note.isascii() for note in notes)


def test_flags_hold_it_too(home: Home) -> None:
    view = read_study(home, "s")
    lines = exported(home, view, "db_bench", None, back=False).splitlines()
    assert {"--cache_index_and_filter_blocks=1", "--bloom_bits=10"} <= set(lines)
    back = exported(home, view, "db_bench", None, back=True).splitlines()
    assert {"--cache_index_and_filter_blocks=0", "--bloom_bits=-1"} <= set(back)


def test_what_is_the_loads_is_not_deployed(home: Home) -> None:
    view = read_study(home, "varied")
    [base, *_] = home.trials(home.study("varied"))
    assert {"threads", "compression_ratio"} <= base.config.keys()
    flags = exported(home, view, "db_bench", None, back=False)
    assert "--write_buffer_size=" in flags
    assert "--threads" not in flags
    assert "--compression_ratio" not in flags
    assert "write_buffer_size=" in deployment(home, view).options
