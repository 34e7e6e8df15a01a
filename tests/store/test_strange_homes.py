"""Homes that are damaged, or that somebody else has filled: one clear error, nothing is changed."""

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.cli.main import run
from lsmtune.errors import UserError
from lsmtune.spec import make_spec
from lsmtune.store.database import APPLICATION_ID
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured

DATABASE = "lsmtune.sqlite3"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a study that has a winner, measured by a script."""
    folder = tmp_path_factory.mktemp("template")
    given = {"study": "s", "objective": "write_amp", "optimizer": "random", "trials": 2,
             "base_runs": 1, "finalists": 1, "repeats": 0, "pairs": 6}  # fmt: skip
    runs = iter(range(1, 1000))
    engine = ScriptedEngine(lambda spec: measured(write_amp=1 / next(runs)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        with (
            Home(folder / "home", create=True) as opened,
            open_study(opened, make_spec(given, "test"), engine, lambda event: None) as study,
        ):
            run_search(study)
            opened.add_verification(study.stored, 1, "1/64", study.spec.workload)
    return folder / "home"


@pytest.fixture
def home(template: Path, tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = Path(shutil.copytree(template, tmp_path / "home"))
    monkeypatch.setenv("LSMTUNE_HOME", str(path))
    monkeypatch.chdir(tmp_path)
    return path


def change(home: Path, statement: str, *values: Any) -> None:
    database = sqlite3.connect(home / DATABASE)
    with database:
        database.execute(statement, values)
    database.close()


def asked(home: Path, query: str) -> Any:
    database = sqlite3.connect(home / DATABASE)
    try:
        return database.execute(query).fetchone()[0]
    finally:
        database.close()


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that ends with exit code 2 and return its only sentence."""
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("lsmtune: ")
    return err


def test_the_header_says_that_lsmtune_made_the_database(home: Path) -> None:
    assert asked(home, "PRAGMA application_id") == APPLICATION_ID


@pytest.mark.usefixtures("fake_db_bench")
@pytest.mark.parametrize("command", [["show", "s"], ["tune"], ["tune", "--dry-run"]], ids=" ".join)
def test_a_database_of_another_program_is_left_alone(
    home: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (home / DATABASE).unlink()
    change(home, "CREATE TABLE notes (text TEXT)")
    before = (home / DATABASE).read_bytes()
    names = sorted(path.name for path in home.iterdir())
    assert DATABASE in refusal(command, capsys)
    assert (home / DATABASE).read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == names


def test_a_database_of_another_application_is_refused_in_spite_of_its_tables(home: Path) -> None:
    change(home, "PRAGMA application_id = 7")
    with pytest.raises(UserError, match="did not make"):
        Home(home, create=True)
    assert asked(home, "PRAGMA application_id") == 7


@pytest.mark.usefixtures("fake_db_bench")
@pytest.mark.parametrize("command", [["show", "s"], ["tune"], ["tune", "--dry-run"]], ids=" ".join)
def test_a_home_of_an_older_lsmtune_is_refused(
    home: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The first homes have no application id."""
    (home / DATABASE).unlink()
    for table in ("study", "trial", "verification"):
        change(home, f"CREATE TABLE {table} (id INTEGER PRIMARY KEY)")
    change(home, "PRAGMA user_version = 6")
    before = (home / DATABASE).read_bytes()
    message = refusal(command, capsys)
    assert all(word in message for word in (DATABASE, "format 6", "commit dff3aab2", "--home"))
    assert (home / DATABASE).read_bytes() == before


def test_reading_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(home / "work")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    folders = sorted(path for path in home.rglob("*") if path.is_dir())
    for command in (["show", "s"], ["trials", "s"], ["report", "s", "-o", "page.html"]):
        assert run(command) == 0
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    assert sorted(path for path in home.rglob("*") if path.is_dir()) == folders


DAMAGE: list[tuple[str, Any]] = [
    ("UPDATE study SET spec = ?", "{"),
    ("UPDATE study SET spec = ?", "[]"),
    ("UPDATE study SET spec = ?", '{"trials": "many"}'),
    ("UPDATE study SET spec = ?", '{"workload": {"name": "nosuch"}}'),
    ("UPDATE study SET spec = ?", "[" * 100_000),
    ("UPDATE study SET spec = ?", 5),
    ("UPDATE study SET engine = ?", "{}"),
    ("UPDATE study SET engine = ?", "3"),
    ("UPDATE study SET engine = json_set(engine, '$.base', ?)", "x"),
    ("UPDATE study SET host = ?", "null"),
    ("UPDATE study SET limits = ?", '[{"metric": 5}]'),
    ("UPDATE study SET limits = ?", "7"),
    ("UPDATE trial SET result = ?", "{}"),
    ("UPDATE trial SET result = ?", b"\xff\xfe"),
    ("UPDATE trial SET spec = ?", '{"settings": 3}'),
    ("UPDATE trial SET config = ?", '{"block_size": [1]}'),
    ("UPDATE trial SET config = json_set(config, '$.nosuch', ?)", 1),
    ("UPDATE trial SET config = json_set(config, '$.max_background_jobs', ?)", "x"),
    ("UPDATE study SET engine = replace(engine, '\"max_background_jobs\":2', ?)", '"x": NaN'),
    (
        "UPDATE study SET engine = replace(engine, '\"max_background_jobs\":2', ?)",
        f'"max_background_jobs": {"9" * 400}',
    ),
    (
        "UPDATE trial SET spec = replace(spec, '\"settings\":{', ?)",
        f'"settings":{{"x":{"9" * 400},',
    ),
    ("UPDATE trial SET role = ?", "king"),
    ("UPDATE trial SET duration_s = ?", "long"),
    ("UPDATE trial SET duration_s = ?", float("inf")),
    ("UPDATE trial SET started_at = ?", "yesterday"),
    ("UPDATE trial SET evidence = ?", "../../victim"),
    ("UPDATE trial SET pair = ?", "x"),
    ("UPDATE verification SET scale = ?", "large"),
    ("UPDATE verification SET workload = ?", "{"),
    ("ALTER TABLE trial DROP COLUMN started_at", None),
    ("DROP TABLE verification", None),
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: f"{damage[0]} {damage[1]}"[:60])
def test_a_damaged_row_is_one_clear_error(
    home: Path, damage: tuple[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    statement, value = damage
    change(home, statement, *(() if value is None else (value,)))
    for command in (["show", "s"], ["report", "s", "-o", "page.html"], ["trials", "s"]):
        refusal(command, capsys)
    assert not Path("page.html").exists()


@pytest.mark.parametrize("statement", [one for one, value in DAMAGE if value in ("7", "3", "[]")])
def test_a_damaged_study_is_listed(
    home: Path, statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(home, statement, "7")
    assert run(["studies", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["study"], row["result"]) == ("s", "cannot be read")


def test_a_study_without_its_engine_is_listed_with_what_it_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["studies", "--json"]) == 0
    (before,) = json.loads(capsys.readouterr().out)
    change(home, "UPDATE study SET spec = json_set(spec, '$.engine', ?)", "gone")
    assert run(["studies", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["engine"], row["result"]) == ("gone", "cannot be read")
    kept = ("study", "workload", "objective", "runs", "started")
    assert {key: row[key] for key in kept} == {key: before[key] for key in kept}


def test_a_number_of_a_trial_that_is_too_large_is_one_clear_error(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(home, "UPDATE trial SET number = ? WHERE number = 0", float("inf"))
    refusal(["studies"], capsys)


def test_a_damaged_schema_is_one_clear_error(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(home / DATABASE)) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        damage = "UPDATE sqlite_master SET sql = CAST(X'435245415445209B' AS TEXT) WHERE name = ?"
        database.execute(damage, ("trial",))
    refusal(["show", "s"], capsys)


def test_damaged_pages_of_the_database_are_one_clear_error(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray((home / DATABASE).read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 4096] = b"\xa5" * len(data[page : page + 4096])
        (home / DATABASE).write_bytes(data)
        assert str(home) in refusal(["show", "s"], capsys)


@pytest.mark.parametrize(
    "command",
    [["show"], ["report", "-o", "page.html"], ["trials"]],
    ids=lambda command: command[0],
)
def test_a_stored_name_that_is_a_path_is_refused(
    home: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = "../../victim"
    change(home, "UPDATE study SET name = ?", name)
    assert "name" in refusal([command[0], name, *command[1:]], capsys)
    refusal([command[0], "other", *command[1:]], capsys)  # it would list the names
    assert not (home.parent / "victim").exists()
    assert not (home.parent.parent / "victim").exists()


@pytest.mark.parametrize(
    "planted",
    [DATABASE, f"{DATABASE}-wal", "results", "evidence", "work", "templates", "machine.json",
     "s.lock", "results/s", "evidence/s"],
)  # fmt: skip
@pytest.mark.parametrize("create", [False, True])
def test_a_link_in_a_home_is_refused(home: Path, planted: str, create: bool) -> None:
    victim, link = home.parent / "victim", home / planted
    if link.exists():
        link.rename(victim)
    else:
        victim.mkdir()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(victim)
    with pytest.raises(UserError, match=r"link inside the home"):
        Home(home, create=create)
    assert link.is_symlink()


def test_the_home_itself_may_be_a_link(home: Path) -> None:
    (home.parent / "other").symlink_to(home)
    with Home(home.parent / "other", create=False) as opened:
        assert opened.study_names() == ["s"]


def test_evidence_behind_a_link_is_not_read(home: Path) -> None:
    folder = home / "evidence" / "s" / "00000"
    secret = home.parent / "secret.gz"
    secret.write_bytes(gzip.compress(b"secret"))
    (folder / "LOG.gz").symlink_to(secret)
    with Home(home, create=False) as opened:
        trial = opened.trials(opened.study("s"))[0]
        with pytest.raises(UserError, match="link"):
            opened.read_evidence(trial, "LOG")
        folder.rename(home.parent / "moved")
        folder.symlink_to(home.parent / "moved")
        with pytest.raises(UserError, match="link"):
            opened.read_evidence(trial, "OPTIONS")


def test_damaged_evidence_is_one_clear_error(home: Path) -> None:
    file = home / "evidence" / "s" / "00000" / "LOG.gz"
    whole = gzip.compress(os.urandom(5000))
    with Home(home, create=False) as opened:
        trial = opened.trials(opened.study("s"))[0]
        for data in (b"no gzip", whole[:1000], whole[:100] + b"\xff" * 100 + whole[200:]):
            file.write_bytes(data)
            with pytest.raises(UserError, match="damaged"):
                opened.read_evidence(trial, "LOG")


def test_settings_of_a_stored_study_are_checked(home: Path) -> None:
    change(home, "UPDATE study SET spec = json_set(spec, '$.study', '../out')")
    with Home(home, create=False) as opened:
        stored = opened.study("s")
        assert json.loads(json.dumps(stored.spec))["study"] == "../out"
        with pytest.raises(UserError, match="letters"):
            _ = stored.settings
