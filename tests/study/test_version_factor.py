"""Versions of RocksDB as levels of a factor: each cell runs on its version and its baseline."""

from typing import Any

import pytest

from fakes.studies import open_study
from fakes.versions import NEW, OLD, Played
from lsmtune.analysis.experiment_runs import Experiment, finish
from lsmtune.analysis.read_study import read_study
from lsmtune.engines.rocksdb.engine import Versions
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study_keys import VERSION
from lsmtune.testing.scripted import measured
from lsmtune.trials import Role, TrialResult, TrialSpec

MIB = 1 << 20
FACTORS: dict[str, Any] = {
    "version": {VERSION: [OLD, NEW]},
    "memtable": {"write_buffer_size": ["2MiB", "8MiB"]},
}
DEFAULTS = {NEW: {"max_background_jobs": 7, "target_file_size_base": 32 * MIB}}


def flat(version: str, _: TrialSpec) -> TrialResult:
    return measured(write_amp=2.0 if version == OLD else 1.0)


def make(factors: dict[str, Any] = FACTORS, **given: Any) -> StudySettings:
    names = [name for knobs in factors.values() for name in knobs]
    settings = {"study": "s", "scale": "1/4", "memory": "1TiB", "knobs": ",".join(names),
                "rocksdb": OLD, "sweep": {"factors": factors, "repeats": 2}}  # fmt: skip
    return make_spec({**settings, **given}, "test")


def run(home: Home, spec: StudySettings, played: Played) -> Experiment:
    engine = Versions({version: played.engine(version) for version in spec.versions})
    with open_study(home, spec, engine, lambda _: None) as study:
        return finish(study)


def runs(home: Home, role: Role) -> list[StoredTrial]:
    return [trial for trial in home.trials(home.study("s")) if trial.role is role]


def test_each_run_has_the_version_and_the_baseline_of_its_cell(home: Home) -> None:
    played = Played(flat, DEFAULTS)
    run(home, make(), played)
    cells = runs(home, Role.TRIAL)
    assert len(cells) == 8
    for trial in cells:
        settings, measurement = trial.spec.settings, trial.result.measurement
        is_new = settings[VERSION] == NEW
        assert trial.config[VERSION] == settings[VERSION]
        assert measurement is not None
        assert measurement.engine_version == settings[VERSION]
        # What the experiment sets is unchanged; other sizes are scaled from the version's own.
        assert settings["write_buffer_size"] in (2 * MIB, 8 * MIB)
        assert settings["max_background_jobs"] == (7 if is_new else 2)
        assert settings["target_file_size_base"] == (8 * MIB if is_new else 16 * MIB)
    assert {trial.spec.settings[VERSION] for trial in runs(home, Role.BASE)} == {OLD}
    assert all(VERSION not in trial.settings for trial in played.trials)


def test_knobs_may_change_together_with_the_version(home: Home) -> None:
    factor = {VERSION: [OLD, NEW], "max_background_jobs": [2, 4]}
    found = run(home, make({"upgrade": factor}), Played(flat, DEFAULTS))
    jobs = {t.spec.settings[VERSION]: t.spec.settings["max_background_jobs"]
            for t in runs(home, Role.TRIAL)}  # fmt: skip
    assert jobs == {OLD: 2, NEW: 4}
    assert found.swept.version((f"{NEW} + 4",)) == NEW
    assert found.swept.version(()) == OLD


def test_the_baseline_may_be_another_version_than_the_first(home: Home) -> None:
    found = run(home, make(rocksdb=NEW), Played(flat, DEFAULTS))
    assert {trial.spec.settings[VERSION] for trial in runs(home, Role.BASE)} == {NEW}
    assert found.swept.metrics[0].base.mean == pytest.approx(1.0)
    assert [*found.swept.libraries] == [NEW, OLD]


def test_the_baseline_is_the_first_version_if_the_study_names_none() -> None:
    assert make(rocksdb=None).versions == (OLD, NEW)
    assert make({"v": {VERSION: [NEW, OLD]}}, rocksdb=None).rocksdb == NEW


def test_a_study_keeps_the_library_of_each_version(home: Home) -> None:
    found = run(home, make(), Played(flat, content={NEW: "abc"}))
    assert home.study("s").engine.libraries == found.swept.libraries
    assert [(v, o.sha256) for v, o in found.swept.libraries.items()] == [
        (OLD, f"{OLD} as installed"), (NEW, "abc"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("version", [OLD, NEW])
def test_another_library_of_one_version_is_another_system(home: Home, version: str) -> None:
    run(home, make(), Played(flat))
    before = len(home.trials(home.study("s")))
    run(home, make(), Played(flat))
    with pytest.raises(UserError, match="the library of rocksdb"):
        run(home, make(), Played(flat, content={version: "other"}))
    assert len(home.trials(home.study("s"))) == before


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_knob_that_a_version_lacks_is_refused_before_the_first_run(
    home: Home, version: str
) -> None:
    played = Played(flat, missing={version: ("write_buffer_size",)})
    with pytest.raises(UserError, match=rf"RocksDB {version} .*knob write_buffer_size"):
        run(home, make(), played)
    assert played.trials == []
    assert home.find_study("s") is None


def test_a_value_that_a_version_lacks_is_refused_before_the_first_run(home: Home) -> None:
    played = Played(flat)
    factors = {"version": FACTORS["version"], "format": {"format_version": [5, 7]}}
    with pytest.raises(UserError, match=rf"RocksDB {OLD} .*format_version; allowed: .*6$"):
        run(home, make(factors), played)
    assert played.trials == []
    alone = {"upgrade": {VERSION: [OLD, NEW], "format_version": [6, 7]}}
    run(home, make(alone, study="t"), played)
    assert {spec.settings["format_version"] for spec in played.trials} == {5, 6, 7}


def test_a_trial_of_another_version_is_no_config_of_the_baseline(home: Home) -> None:
    run(home, make(), Played(flat))
    numbers = {trial.config[VERSION]: trial.number for trial in runs(home, Role.TRIAL)}
    assert read_study(home, "s", numbers[OLD]).engine_version == OLD
    with pytest.raises(UserError, match=rf"^trial = {numbers[NEW]}: .*{NEW}.*{OLD}"):
        read_study(home, "s", numbers[NEW])


@pytest.mark.parametrize(
    ("factors", "given", "words"),
    [
        ({"version": {VERSION: ["8.10", NEW]}}, {}, "rocksdb = '8.10'"),
        ({"version": {VERSION: [8.1, NEW]}}, {}, "rocksdb = 8.1"),
        (FACTORS, {"rocksdb": None, "program": "db_bench"}, "program"),
        (FACTORS, {"rocksdb": None, "library": "lib.so"}, "library"),
        (FACTORS, {"engine": "embedded", "program": "lsmdriver"}, "embedded"),
        ({"memtable": FACTORS["memtable"]},
         {"sweep": {"factors": {"m": FACTORS["memtable"]}, "fixed": {VERSION: OLD}}}, "fixed"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_versions_is_refused(
    factors: dict[str, Any], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        make(factors, **given)
