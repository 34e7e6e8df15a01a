"""Studies of earlier versions keep their names, and continue as if nothing had happened."""

import json
import shlex
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from recorded_studies import (
    OPTIONS_OF_USER,
    STUDIES,
    USER_FILE,
    Recorded,
    recorded_studies,
    studies_of_removed_optimizers,
)

from fakes.disks import with_free_bytes
from fakes.entries import replaced
from fakes.recorded_home import HOMES, VERSIONS, Enter, studies_in
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Engine
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.testing.scripted import Script
from lsmtune.trials import Role, TrialResult, TrialSpec

REMOVED = "removed-optimizers"
ENDED = {
    "0.1.0": ("finished", "verified", "front", "server", "cluster", "stores"),
    "0.2.0": (
        "finished", "whole", "verified", "front", "server", "cluster", "stores", "published",
        "preset-base", "cached", "uncached",
    ),
    "0.3.0.dev0": ("sized", "limited", "simplified", "stores-simplified", "published"),
}  # fmt: skip
"""Studies whose search has ended; `lsmtune tune` finds nothing left to run."""


@pytest.mark.parametrize("version", VERSIONS)
def test_stored_settings_without_a_name_give_the_recorded_name(
    enter: Enter, write: bool, version: str
) -> None:
    with Home(enter(version) / "home", create=False) as home:
        specs = {name: home.study(name).settings for name in home.study_names()}
    found = {n: spec.model_copy(update={"study": None}).name for n, spec in specs.items()}
    record = HOMES / f"{version}.names.json"
    if write and not record.exists():
        record.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(record.read_text())


@pytest.mark.parametrize("version", [home for home in STUDIES if home != REMOVED])
def test_settings_of_a_user_find_the_stored_study(enter: Enter, version: str) -> None:
    names = json.loads((HOMES / f"{version}.names.json").read_text())
    with Home(enter(version) / "home", create=False) as home:
        for name, study in STUDIES[version]().items():
            stored = home.study(name).settings
            assert study.spec.name == name
            assert study.spec.model_copy(update={"study": None}).name == names[name]
            assert study.spec.changed_since(stored) == []
    assert sum(name == derived for name, derived in names.items()) == 1  # one was not named


@pytest.mark.parametrize(
    "case",
    [
        ("0.2.0", "interrupted", "whole"),
        ("0.2.0", "cached-interrupted", "cached"),
        ("0.2.0", "uncached-interrupted", "uncached"),
        ("0.3.0.dev0", "sized-interrupted", "sized"),
        ("0.3.0.dev0", "simplified-interrupted", "simplified"),
    ],
    ids=str,
)
def test_interrupted_study_continues_to_the_results_of_the_whole_one(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str, str]
) -> None:
    version, study, whole = case
    folder = _enter_on_this_host(enter, version)
    names, before = studies_in(folder), _runs(folder, study)
    wanted = _runs(folder, whole)
    assert before == wanted[: len(before)]
    assert len(before) < len(wanted)
    studies = STUDIES[version]()
    _continue(studies[study], monkeypatch, studies[whole].script)
    assert _runs(folder, study) == wanted
    assert studies_in(folder) == names


@pytest.mark.parametrize(
    ("version", "study"), [(version, study) for version in ENDED for study in ENDED[version]]
)
def test_study_that_has_ended_continues_with_nothing_left_to_run(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch, version: str, study: str
) -> None:
    folder = _enter_on_this_host(enter, version)
    names, before = studies_in(folder), _trials(folder, study)
    studies = STUDIES.get(version, recorded_studies)()
    _continue(studies[study], monkeypatch, _no_run)
    assert _trials(folder, study) == before
    assert studies_in(folder) == names


def test_command_without_a_name_continues_the_study_that_it_made(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _enter_on_this_host(enter, "0.2.0")
    names = studies_in(folder)
    (unnamed,) = (name for name, study in recorded_studies().items() if not study.spec.study)
    before = _trials(folder, unnamed)
    Path("study.toml").write_text("repeats = 0\n")
    monkeypatch.setenv("LSMTUNE_DB_BENCH", "db_bench")  # the program is a part of the identity
    _run_on(recorded_studies()[unnamed].engine(_no_run), monkeypatch)
    command = ["tune", "study.toml", "--optimizer", "tpe", "--trials", "2", "--pairs", "0"]
    assert run(command) == 0
    assert _trials(folder, unnamed) == before
    assert studies_in(folder) == names


SEARCHES = ("verified", "ended", "interrupted", "small-generations")
"""Studies between runs whose optimizer was removed."""


@pytest.mark.parametrize("study", SEARCHES)
def test_study_of_a_removed_optimizer_goes_on_as_a_new_study_with_another_one(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch, study: str
) -> None:
    folder = _enter_on_this_host(enter, REMOVED)
    before = _trials(folder, study)
    _run_on(_engine_of_removed(study), monkeypatch)
    command = ["tune", "--study", study, "--optimizer", "tpe"]
    assert run(command) == 0
    assert _trials(folder, study) == before
    with Home(folder / "home", create=False) as home:
        old, new = (home.study(name).settings for name in (study, f"{study}-2"))
    assert new == old.model_copy(update={"study": f"{study}-2", "optimizer": "tpe"})
    kept = {trial.started_at for trial in before if trial.pair is None}
    after = _trials(folder, f"{study}-2")
    assert kept <= {trial.started_at for trial in after}
    assert sum(trial.role == Role.TRIAL for trial in after) == new.trials
    _run_on(_engine_of_removed(study, _no_run), monkeypatch)
    assert run(command) == 0  # the same command continues the new study
    assert _trials(folder, f"{study}-2") == after


def test_online_study_of_a_removed_optimizer_goes_on_as_a_new_study_with_another_one(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _enter_on_this_host(enter, REMOVED)
    before = _trials(folder, "online")
    _run_on(_engine_of_removed("online"), monkeypatch)
    assert run(["tune", "--study", "online", "--optimizer", "tpe"]) == 0
    assert _trials(folder, "online") == before
    assert len(_trials(folder, "online-2")) == len(before)


@pytest.mark.parametrize("study", [*SEARCHES, "online"])
@pytest.mark.parametrize("flags", [[], ["--trials", "9"], ["--dry-run"], ["--new-baseline"]])
def test_study_of_a_removed_optimizer_is_refused_with_the_command_that_runs(
    enter: Enter, capsys: pytest.CaptureFixture[str], study: str, flags: list[str]
) -> None:
    folder = enter(REMOVED)
    assert run(["tune", "--study", study, *flags]) == 2
    told = capsys.readouterr().err.strip()
    if study != "online" or "--new-baseline" not in flags:
        assert f"`lsmtune tune --study {study} --optimizer tpe`" in told
    assert "\n" not in told
    assert studies_in(folder) == list(studies_of_removed_optimizers())


def test_file_of_a_study_of_a_removed_optimizer_is_refused_with_the_command_that_runs(
    enter: Enter, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the file leaves the optimizer to lsmtune, because a flag named the removed one."""
    enter(REMOVED)
    Path("study.toml").write_text('study = "ended"\n')
    for flags in ([], ["--optimizer", "cmaes"]):
        assert run(["tune", "study.toml", *flags]) == 2
        assert "`lsmtune tune --study ended --optimizer tpe`" in capsys.readouterr().err


def test_next_step_of_an_interrupted_study_of_a_removed_optimizer_runs(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _enter_on_this_host(enter, REMOVED)
    assert run(["show", "interrupted", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    command = shlex.split(shown["claim"]["next"][0]["command"])
    _run_on(_engine_of_removed("interrupted"), monkeypatch)
    assert run(command[1:]) == 0
    assert "interrupted-2" in studies_in(folder)


def test_study_of_a_removed_optimizer_is_verified_and_simplified(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _enter_on_this_host(enter, REMOVED)
    for study in ("ended", "small-generations"):
        before = _trials(folder, study)
        _run_on(_engine_of_removed(study), monkeypatch)
        assert run(["verify", study]) == 0
        verified = _trials(folder, study)
        assert verified[: len(before)] == before
        assert {trial.role for trial in verified[len(before) :]} == {
            Role.VERIFY_BASE, Role.VERIFY_BEST
        }  # fmt: skip
    _run_on(_engine_of_removed("interrupted"), monkeypatch)
    assert run(["simplify", "verified"]) == 0
    with Home(folder / "home", create=False) as home:
        assert home.study("verified").simplified is not None


def test_screening_with_a_removed_optimizer_continues_because_it_needs_none(
    enter: Enter, crowd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _enter_on_this_host(enter, REMOVED)
    before = _trials(folder, "screening")
    Path("screening.toml").write_text(
        'study = "screening"\nknobs = "core"\ntrials = 4\nbase_runs = 1\ndeploy_cores = 2\n'
        'optimizer = "cmaes"\n[screen]\nreplicated = 1\nruns = 2\n'
    )
    monkeypatch.setenv("LSMTUNE_DB_BENCH", "db_bench")  # the program is a part of the identity
    monkeypatch.setitem(
        ENGINES, "rocksdb", replaced("rocksdb", lambda _: _engine_of_removed("screening"))
    )
    assert run(["screen", "screening.toml"]) == 0
    after = _trials(folder, "screening")
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


@pytest.mark.parametrize("flags", [[], ["--optimizer", "tpe"]])
def test_screening_with_a_removed_optimizer_is_refused_as_every_screening(
    enter: Enter, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    enter(REMOVED)
    assert run(["tune", "--study", "screening", *flags]) == 2
    told = capsys.readouterr().err
    assert "lsmtune screen" in told
    assert "screening-2" not in told


@pytest.mark.parametrize("name", ["forest", "cmaes", "qmc", "genetic-jin2022-small"])
def test_new_study_with_a_removed_optimizer_is_refused(
    enter: Enter, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = enter(REMOVED)
    assert run(["tune", "--study", "new", "--optimizer", name]) == 2
    assert "available: bestconfig, cdbtune, genetic" in capsys.readouterr().err
    assert "new" not in studies_in(folder)


def _engine_of_removed(study: str, script: Script | None = None) -> Engine:
    """Return the engine of a study whose optimizer was removed; it never interrupts."""
    found = studies_of_removed_optimizers()
    of = found["ended" if study == "interrupted" else study]
    return of.engine(script)


def _no_run(_: TrialSpec) -> TrialResult:
    pytest.fail("a trial was run")


def _continue(study: Recorded, patch: pytest.MonkeyPatch, script: Script) -> None:
    """Continue a study as a user does, on its scripted engine."""
    _run_on(study.engine(script), patch)
    assert run(["tune", "--study", study.spec.name]) == 0


def _run_on(engine: Engine, patch: pytest.MonkeyPatch) -> None:
    """Let commands run an engine that needs no space on the disk."""
    for name in ENGINES:
        patch.setitem(ENGINES, name, replaced(name, lambda _: engine))
    with_free_bytes(1 << 60, patch)


def _enter_on_this_host(enter: Enter, version: str) -> Path:
    """Enter a home as if its studies had begun on this host, for a study stays on its host."""
    folder = enter(version)
    Path(USER_FILE).write_text(OPTIONS_OF_USER)
    host = {**asdict(describe_host()), "storage": asdict(describe_storage(folder))}
    with sqlite3.connect(folder / "home" / "lsmtune.sqlite3") as database:
        database.execute("UPDATE study SET host = ?", (json.dumps(host),))
    database.close()
    return folder


def _trials(folder: Path, study: str) -> list[StoredTrial]:
    with Home(folder / "home", create=False) as home:
        return home.trials(home.study(study))


def _runs(folder: Path, study: str) -> list[dict[str, Any]]:
    """Return all runs: what the engine was given, and what it gave.

    Order and seeds of the pairs of a verification depend on the number of the verification in the
    home. So their sides are sorted, and their seeds and numbers are left out.
    """
    trials = _trials(folder, study)
    searched = [trial for trial in trials if trial.pair is None]
    pairs = [trial for trial in trials if trial.pair is not None]
    of_pairs = [
        {**_run(trial), "pair": trial.pair, "status": trial.result.status, "result": None,
         "spec": {**trial.spec.model_dump(mode="json"), "seed": None}}
        for trial in pairs
    ]  # fmt: skip
    return [_run(t) for t in searched] + sorted(of_pairs, key=lambda r: (r["pair"], r["role"]))


def _run(trial: StoredTrial) -> dict[str, Any]:
    return {
        "role": trial.role,
        "config": dict(trial.config),
        "spec": trial.spec.model_dump(mode="json"),
        "result": trial.result.model_dump(mode="json"),
    }
