"""What settings of somebody else may start, as the entries of the engines say it."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.guests import install_broken
from lsmtune.api.consent import ask_for_home
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.registry import entry_of
from lsmtune.store.database import DATABASE

SOMEBODY = 4242
"""A user id that is neither the tests' own nor root's."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that belongs to somebody else."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / DATABASE).touch()
    if os.geteuid() == 0:
        os.chown(folder, SOMEBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)
    return folder


@pytest.fixture
def asked(home: Path) -> Callable[..., str]:
    """Returns the question about settings; "" if there is none."""

    def ask(**settings: Any) -> str:
        questions = [""]

        def consent(question: str, *, unasked: str, refused: str) -> None:
            questions.append(question)

        ask_for_home(home, settings, consent)
        return questions[-1]

    return ask


@pytest.mark.parametrize("engine", ["rocksdb", "tikv", "embedded", None])
def test_each_engine_is_asked_because_a_flag_may_choose_it(
    asked: Callable[..., str], engine: str | None
) -> None:
    named = {} if engine is None else {"engine": engine}
    table = {"restart": ["./again", "now"], "prepare": ("./before",), "status": "127.0.0.1:1"}
    found = asked(**named, tikv=table, libraries={"lmdb": "./lmdb.so"}, library="./rocksdb.so")
    for text in ("./again now", "./before", "./lmdb.so", "./rocksdb.so"):
        assert text in found
    assert "127.0.0.1" not in found
    assert asked(**named, program="db_bench", tikv={}, libraries=None) == ""


@pytest.mark.parametrize("wrong", [3, "text", [1], {"restart": 3, "lmdb": 3}, None])
def test_settings_of_wrong_types_are_no_error(asked: Callable[..., str], wrong: object) -> None:
    for key in ("tikv", "libraries", "program", "library"):
        asked(**{key: wrong})
    assert "./program" in asked(program="./program", tikv=wrong)


def test_an_engine_of_a_package_says_what_it_starts(
    asked: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def starts(settings: Mapping[str, Any]) -> Iterable[str]:
        return [settings["toy"]["command"]]

    entry = replace(entry_of("embedded"), name="toy", program="toy", starts=starts)
    monkeypatch.setitem(ENGINES, "toy", entry)
    found = asked(engine="toy", program="toy", toy={"command": "./toy --now", "size": "4"})
    assert "'./toy --now'" in found
    without = asked(engine="toy", program="toy", workload={"name": "./anything"})
    assert "./anything" in without


@pytest.mark.parametrize("engine", ["gone", "future", "nobody", 3])
def test_of_an_engine_that_cannot_be_used_all_texts_are_asked_for(
    asked: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: object
) -> None:
    install_broken(tmp_path, monkeypatch)
    table = {"command": ["./run", "--fast"], "deep": {"folder": "./data"}}
    found = asked(engine=engine, program="db_bench", mine=table)
    assert all(text in found for text in ("db_bench", "./run", "--fast", "./data"))


def test_files_of_the_user_need_no_question(tmp_path: Path) -> None:
    def consent(question: str, *, unasked: str, refused: str) -> None:
        raise AssertionError(question)

    (tmp_path / DATABASE).touch()
    ask_for_home(tmp_path, {"program": "./program", "engine": "nobody"}, consent)
