"""The store: what is kept comes back, and nothing that is not ours is touched."""

import json
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.facts import ENGINE, HOST
from lsmtune.errors import UserError
from lsmtune.knobs.types import Config
from lsmtune.limits import parse_limit
from lsmtune.metrics.measurement import Level
from lsmtune.store.database import FORMAT
from lsmtune.store.home import Home
from lsmtune.store.open_runs import LostRun
from lsmtune.store.records import NewTrial, StoredStudy, complete_pairs
from lsmtune.testing.scripted import measured
from lsmtune.trials import Protocol, Role, Status, TrialResult, TrialSpec
from lsmtune.workloads import Workload

DATABASE = "lsmtune.sqlite3"
CONFIG = Config({"mmap_read": True, "bloom_bits": -1, "max_bytes_for_level_multiplier": 10.0})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home"


def add_study(home: Home, name: str = "mine") -> StoredStudy:
    limit = parse_limit("load_s <= 5")
    return home.add_study(name, {"study": name, "limits": ["é <= 5"]}, ENGINE, HOST, [limit])


def new_trial(role: Role = Role.TRIAL, **fields: Any) -> NewTrial:
    spec = TrialSpec(settings=dict(CONFIG), workload=Workload(), protocol=Protocol(), seed=3)
    given = {"result": measured(load_s=1.5), "started_at": "2024-01-01", "duration_s": 2.5}
    return NewTrial(role=role, config=CONFIG, spec=spec, **{**given, **fields})


def rows(path: Path, table: str) -> int:
    connection = sqlite3.connect(path / DATABASE)
    try:
        return int(connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])  # noqa: S608
    finally:
        connection.close()


def test_a_study_comes_back(path: Path) -> None:
    with Home(path, create=True) as home:
        added = add_study(home)
    with Home(path, create=False) as home:
        found = home.study("mine")
        assert found == added
        assert found.spec == {"study": "mine", "limits": ["é <= 5"]}
        assert (found.engine, found.host) == (ENGINE, HOST)
        assert found.limits == (parse_limit("load_s <= 5"),)
        assert found.created_at.endswith("+00:00")
        assert home.find_study("yours") is None


def test_studies_are_listed_in_order_and_an_unknown_one_is_told_of_them(path: Path) -> None:
    with Home(path, create=True) as home:
        with pytest.raises(UserError, match=r"^home = .*no study"):
            home.study("x")
        add_study(home, "second-by-name")
        add_study(home, "first-by-name")
        assert home.study_names() == ["second-by-name", "first-by-name"]
        with pytest.raises(UserError, match=r"'x'.*second-by-name, first-by-name"):
            home.study("x")


def test_the_settings_of_a_study_can_be_replaced(path: Path) -> None:
    with Home(path, create=True) as home:
        mine, yours = add_study(home), add_study(home, "yours")
        home.update_spec(mine, {"trials": 99})
        assert home.study("mine").spec == {"trials": 99}
        assert home.study("yours").spec == yours.spec


@pytest.mark.parametrize(
    "result",
    [
        measured(write_amp=2.25, stall_s=0.0, compact_write_bytes=1e15),
        TrialResult(status=Status.CRASHED, reason='signal 6: it\'s "bad"\nlast line é'),
    ],
)
def test_a_trial_comes_back(path: Path, result: TrialResult) -> None:
    with Home(path, create=True) as home:
        study = add_study(home)
        kept = home.add_trial(study, new_trial(result=result), {})
    with Home(path, create=False) as home:
        (trial,) = home.trials(study)
    assert trial == kept
    expected = new_trial(result=result)
    assert trial.number == 0
    for field in ("role", "config", "spec", "result", "started_at", "duration_s", "pair"):
        assert getattr(trial, field) == getattr(expected, field)
    assert trial.config.hash == CONFIG.hash
    assert [type(value) for value in trial.config.values()] == [int, float, bool]


def test_a_measurement_comes_back_whole(path: Path) -> None:
    measurement = measured().measurement
    assert measurement is not None
    level = Level(
        level="L0", files=2, size_bytes=5, read_bytes=None, write_bytes=7, w_amp_table=1.5
    )
    whole = measurement.model_copy(
        update={"levels": (level,), "stalls": {"stops": 3}, "as_run": {"num_levels": "7"}}
    )
    result = TrialResult(status=Status.COMPLETE, measurement=whole)
    with Home(path, create=True) as home:
        study = add_study(home)
        home.add_trial(study, new_trial(result=result), {})
        assert home.trials(study)[0].result.measurement == whole


def test_equal_parts_of_trials_take_memory_once(path: Path) -> None:
    with Home(path, create=True) as home:
        study = add_study(home)
        for _ in range(2):
            home.add_trial(study, new_trial(result=measured(write_amp=2.25)), {})
        one, other = home.trials(study)
    assert one.spec == other.spec
    assert one.spec.workload is other.spec.workload
    assert one.spec.protocol is other.spec.protocol
    names = zip(one.result.metrics, other.result.metrics, strict=True)
    assert all(first is second for first, second in names)


def test_trials_count_up_within_their_study(path: Path) -> None:
    with Home(path, create=True) as home:
        mine, yours = add_study(home), add_study(home, "yours")
        numbers = [home.add_trial(mine, new_trial(), {}).number for _ in range(3)]
        assert home.add_trial(yours, new_trial(), {}).number == 0
        assert numbers == [0, 1, 2] == [trial.number for trial in home.trials(mine)]
        folders = {trial.evidence for study in (mine, yours) for trial in home.trials(study)}
        assert len(folders) == 4


def test_verifications_come_back_with_their_runs(path: Path) -> None:
    load = Workload(num=5000, value_size=100)
    with Home(path, create=True) as home:
        study = add_study(home)
        first = home.add_verification(study, 4, "1/64", Workload())
        second = home.add_verification(study, 4, "1", load)
        run = new_trial(Role.VERIFY_BASE, verification_id=second.id, pair=0)
        home.add_trial(study, run, {})
    with Home(path, create=False) as home:
        assert home.verifications(study) == [first, second]
        assert (second.best_trial, second.scale, second.workload) == (4, "1", load)
        (trial,) = home.trials(study)
        assert (trial.verification_id, trial.pair, trial.role) == (second.id, 0, Role.VERIFY_BASE)


def test_only_whole_pairs_of_complete_runs_of_one_verification_are_pairs(path: Path) -> None:
    crash = TrialResult(status=Status.CRASHED, reason="dead")
    with Home(path, create=True) as home:
        study = add_study(home)
        other = home.add_verification(study, 0, "1", Workload())
        ours = home.add_verification(study, 0, "1", Workload())

        def add(pair: int, role: Role, seconds: float | None, id_: int = ours.id) -> None:
            result = crash if seconds is None else measured(load_s=seconds)
            run = new_trial(role, result=result, verification_id=id_, pair=pair)
            home.add_trial(study, run, {})

        add(1, Role.VERIFY_BASE, 4)
        add(1, Role.VERIFY_BEST, 3)
        add(0, Role.VERIFY_BEST, 1)
        add(0, Role.VERIFY_BASE, 2)
        add(2, Role.VERIFY_BEST, 5)
        add(3, Role.VERIFY_BASE, 6)
        add(4, Role.VERIFY_BEST, None)
        add(4, Role.VERIFY_BASE, 7)
        add(0, Role.VERIFY_BEST, 8, other.id)
        found = complete_pairs(home.trials(study), ours)
        assert [(best["load_s"], base["load_s"]) for best, base in found] == [(1, 2), (3, 4)]


def test_evidence_is_kept_compressed_and_can_be_read(path: Path, tmp_path: Path) -> None:
    log = tmp_path / "source"
    log.write_bytes(b"a line of the LOG\n" * 10_000 + b"\xff")
    with Home(path, create=True) as home:
        study = add_study(home)
        home.add_trial(study, new_trial(), {"LOG": log})
        (trial,) = home.trials(study)
        text = home.read_evidence(trial, "LOG")
        assert text is not None
        assert text == "a line of the LOG\n" * 10_000 + "\ufffd"
        assert home.read_evidence(trial, "OPTIONS") is None
        folder = home.evidence / trial.evidence
    assert sorted(file.name for file in folder.iterdir()) == ["LOG.gz", "spec.json"]
    assert (folder / "LOG.gz").stat().st_size < log.stat().st_size / 50
    assert json.loads((folder / "spec.json").read_text())["seed"] == 3
    assert log.exists()


def test_a_row_is_written_only_after_its_evidence(path: Path, tmp_path: Path) -> None:
    with Home(path, create=True) as home:
        study = add_study(home)
        home.add_trial(study, new_trial(), {})
        with pytest.raises(FileNotFoundError):
            home.add_trial(study, new_trial(), {"LOG": tmp_path / "absent"})
        assert [trial.number for trial in home.trials(study)] == [0]
        home.sweep_evidence(study)
        assert [folder.name for folder in (home.evidence / "mine").iterdir()] == ["00000"]
        assert home.add_trial(study, new_trial(), {}).number == 1


def test_only_our_own_leftovers_are_swept(path: Path, tmp_path: Path) -> None:
    with Home(path, create=True) as home:
        mine, yours = add_study(home), add_study(home, "yours")
        for study in (mine, yours):
            home.add_trial(study, new_trial(), {})
            with pytest.raises(FileNotFoundError):
                home.add_trial(study, new_trial(), {"LOG": tmp_path / "absent"})
        foreign = home.evidence / "mine" / "2024-notes"
        foreign.mkdir()
        (foreign / "thoughts.txt").write_text("keep me")
        home.sweep_evidence(mine)
        assert (foreign / "thoughts.txt").read_text() == "keep me"
        assert sorted(f.name for f in (home.evidence / "mine").iterdir()) == ["00000", foreign.name]
        assert sorted(f.name for f in (home.evidence / "yours").iterdir()) == ["00000", "00001"]


def test_sweeping_before_there_is_evidence_is_fine(path: Path) -> None:
    with Home(path, create=True) as home:
        home.sweep_evidence(add_study(home))


def test_the_database_is_in_wal_mode(path: Path) -> None:
    with Home(path, create=True):
        pass
    connection = sqlite3.connect(path / DATABASE)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("version", "words"),
    [(99, r"newer lsmtune .*format 99.*upgrade"), (FORMAT - 1, r"format 10.*dff3aab2.*home")],
)
@pytest.mark.parametrize("create", [False, True])
def test_another_format_is_refused_and_left_alone(
    path: Path, version: int, words: str, create: bool
) -> None:
    with Home(path, create=True) as home:
        add_study(home)
    connection = sqlite3.connect(path / DATABASE)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(UserError, match=words):
        Home(path, create=create)
    assert rows(path, "study") == 1


def test_a_rate_comes_back(path: Path) -> None:
    with Home(path, create=True) as home:
        study = add_study(home)
        assert study.rate is None
        assert home.update_rate(study, 12_000.0) == home.study("mine")
        home.add_verification(study, 4, "1/64", Workload(), rate=500.5)
        home.add_verification(study, 4, "1/64", Workload())
        assert [found.rate for found in home.verifications(study)] == [500.5, None]


def test_a_folder_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match=r"^home = .*new.*folder"):
        Home(tmp_path, create=True)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_without_studies_is_not_made_when_only_reading(path: Path) -> None:
    with pytest.raises(UserError, match=r"^home = .*lsmtune tune"):
        Home(path, create=False)
    assert not path.exists()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^home = .*file"):
        Home(tmp_path / "file", create=True)


def test_a_database_that_is_none_is_refused(path: Path) -> None:
    path.mkdir()
    (path / DATABASE).write_text("no database at all, " * 100)
    with pytest.raises(UserError, match="file is not a database"):
        Home(path, create=True)


def test_a_home_that_was_cut_off_while_it_was_made_can_be_used(path: Path) -> None:
    path.mkdir()
    (path / DATABASE).touch()
    with Home(path, create=False) as home:
        assert home.study_names() == []
    assert (path / DATABASE).read_bytes() == b""
    with Home(path, create=False) as home:
        add_study(home)
        assert home.study_names() == ["mine"]


def test_two_connections_see_each_others_work(path: Path) -> None:
    with Home(path, create=True) as one, Home(path, create=True) as other:
        study = add_study(one)
        assert other.study("mine") == study
        assert one.add_trial(study, new_trial(), {}).number == 0
        assert other.add_trial(study, new_trial(), {}).number == 1
        assert [trial.number for trial in one.trials(study)] == [0, 1]


def test_many_connections_write_at_once(path: Path) -> None:
    Home(path, create=True).__exit__(None, None, None)
    errors: list[BaseException] = []

    def work(name: str) -> None:
        try:
            with Home(path, create=False) as home:
                study = add_study(home, name)
                for _ in range(10):
                    home.add_trial(study, new_trial(), {})
        except BaseException as error:
            errors.append(error)

    run_together([lambda n=n: work(f"study-{n}") for n in range(4)])  # type: ignore[misc]
    assert errors == []
    assert rows(path, "trial") == 40


def test_many_can_make_the_same_home_at_once(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(path: Path, barrier: threading.Barrier) -> None:
        barrier.wait()
        try:
            Home(path, create=True).__exit__(None, None, None)
        except BaseException as error:
            errors.append(error)

    for attempt in range(10):
        barrier, path = threading.Barrier(4), tmp_path / str(attempt)
        run_together([lambda p=path, b=barrier: work(p, b)] * 4)  # type: ignore[misc]
    assert errors == []


def run_together(jobs: list[Any]) -> None:
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


LOST = LostRun(
    "a.0", "alpha-1", Role.TRIAL, "2026-01-01T00:00:00.000+00:00", "2026-01-01T00:00:12.500+00:00",
    "the host left",
)  # fmt: skip


def test_lost_runs_come_back_each_attempt_once(path: Path) -> None:
    again = replace(LOST, ended_at="2026-01-01T00:01:00.000+00:00", reason="the disk is full")
    other = replace(LOST, attempt="b.0")
    with Home(path, create=True) as home:
        mine, yours = add_study(home), add_study(home, "yours")
        home.add_lost_run(mine, LOST)
        assert home.lost_runs(mine) == [LOST]
        home.update_lost_run("a.0", "2026-01-01T00:00:30.000+00:00")
        home.update_lost_run("unknown.0", "2026-01-01T00:00:30.000+00:00")
        home.add_lost_run(mine, other)
        assert [row.back_at is None for row in home.lost_runs(mine)] == [False, True]
        home.add_lost_run(mine, again)
        assert home.lost_runs(mine) == [other, again]
        assert [row.lost_s for row in home.lost_runs(mine)] == [12.5, 60.0]
        assert home.lost_runs(yours) == []
        home.delete_study(mine)
    assert rows(path, "lost_run") == 0


@pytest.mark.parametrize(
    "values", [{"ended_at": "yesterday"}, {"started_at": "2026-01-01"}, {"role": "king"}]
)
def test_damaged_lost_run_is_refused(path: Path, values: dict[str, str]) -> None:
    with Home(path, create=True) as home:
        study = add_study(home)
        home.add_lost_run(study, LOST)
    ((column, value),) = values.items()
    with sqlite3.connect(path / DATABASE) as connection:
        connection.execute(f"UPDATE lost_run SET {column} = ?", (value,))  # noqa: S608
    with Home(path, create=False) as home, pytest.raises(UserError, match="lost run"):
        home.lost_runs(study)
