"""A program that a file of somebody else names is started only if the user agrees."""

import io
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.studies import open_study
from lsmtune.cli.main import run
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured

SOMEBODY = 4242
"""A user id that is neither the tests' own nor root's."""


@pytest.fixture
def place(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program that tells that it ran, and a home and study files that name it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LSMTUNE_HOME", "home")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("program", "db_bench"):
        Path(name).write_text(f"#!/bin/sh\n: > {tmp_path}/{name}-ran\n")
        Path(name).chmod(0o755)
    Path("named.toml").write_text("program = './program'")
    Path("library.toml").write_text("library = './program'")
    Path("stores.toml").write_text("workload = 'fillrandom'\nengine = 'embedded'\n"
                                   "[libraries]\nlmdb = './program'\n")  # fmt: skip
    Path("usual.toml").write_text("seed = 2\n")
    Path("tikv.toml").write_text(
        "engine = 'tikv'\nprogram = 'go-ycsb'\n"
        "[tikv]\nconfig = 'tikv.conf'\nrestart = ['./program']\n"
    )
    Path("sweep.toml").write_text(
        "program = './program'\n[sweep.factors]\nsize.block_size = [4096, 8192]\n"
    )
    given = {"study": "s", "objective": "write_amp", "optimizer": "random", "trials": 2,
             "base_runs": 1, "finalists": 1, "repeats": 0, "pairs": 0}  # fmt: skip
    runs = iter(range(1, 1000))
    engine = ScriptedEngine(lambda spec: measured(write_amp=1 / next(runs)))
    with (
        Home(tmp_path / "home", create=True) as home,
        open_study(home, make_spec(given, "test"), engine, lambda event: None) as study,
    ):
        run_search(study)
    return tmp_path


def name_program(program: str) -> None:
    with sqlite3.connect("home/lsmtune.sqlite3") as database:
        database.execute("UPDATE study SET spec = json_set(spec, '$.program', ?)", (program,))
    database.close()


@pytest.fixture
def give_away(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a file belong to somebody else than the caller."""

    def give(name: str) -> None:
        if os.geteuid() == 0:
            os.chown(name, SOMEBODY, -1)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)

    return give


def answer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sit at a terminal and answer the question."""
    terminal = io.StringIO(text)
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


FROM_STUDY_FILES = [
    ["tune", "named.toml"], ["tune", "named.toml", "--dry-run"], ["screen", "named.toml"],
    ["compare", "random", "--study-file", "named.toml", "--real"], ["sweep", "sweep.toml"],
    ["tune", "tikv.toml"], ["tune", "library.toml"], ["tune", "stores.toml"],
]  # fmt: skip


@pytest.mark.parametrize("command", FROM_STUDY_FILES, ids=" ".join)
def test_a_study_file_of_somebody_else_starts_nothing_unasked(
    place: Path, give_away: Callable[[str], None], command: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    file = next(word for word in command if word.endswith(".toml"))
    give_away(file)
    assert run(command) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert all(word in err for word in (file, "./program", "cp ")), err
    assert not Path("program-ran").exists()


def test_a_home_of_somebody_else_starts_nothing_unasked(
    place: Path, give_away: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    name_program("./program")
    give_away("home/lsmtune.sqlite3")
    assert run(["verify", "s"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert all(word in err for word in ("--home", "./program", "cp -r")), err
    assert not Path("program-ran").exists()
    assert run(["show", "s"]) == 0


@pytest.mark.parametrize("reply", ["y", "n", ""])
@pytest.mark.parametrize("command", [["verify", "s"], ["tune", "named.toml", "--dry-run"]])
def test_at_a_terminal_the_user_decides(
    place: Path, give_away: Callable[[str], None], command: list[str], reply: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    name_program("./program")
    give_away("home")
    give_away("named.toml")
    answer(f"{reply}\n", monkeypatch)
    assert run(command) == 2  # the program is no db_bench
    assert Path("program-ran").exists() is (reply == "y")


@pytest.mark.parametrize("command", [["verify", "s"], ["tune", "usual.toml", "--dry-run"]])
def test_the_usual_program_on_the_users_own_path_needs_no_question(
    place: Path, give_away: Callable[[str], None], command: list[str]
) -> None:
    give_away("home")
    give_away("usual.toml")
    assert run(command) == 2  # the program is no db_bench
    assert Path("db_bench-ran").exists()


def test_the_users_own_files_need_no_question(place: Path) -> None:
    name_program("./program")
    for command in (["verify", "s"], ["tune", "named.toml", "--dry-run"]):
        assert run(command) == 2  # the program is no db_bench
        Path("program-ran").unlink()
