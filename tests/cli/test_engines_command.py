"""`lsmtune engines`: one document or table, one sentence for a mistake, and nothing left behind."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.jars import VERSION, build, pack, serve
from lsmtune.cli.main import run
from lsmtune.engines.libraries.installed import DEFAULT_VERSION

NAME = f"rocksdb@{VERSION}"
Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def told(cache: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    def told(*arguments: str) -> tuple[int, str, str]:
        code = run(["engines", *arguments])
        return code, *capsys.readouterr()

    return told


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Maven that serves one library as every version."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    jar = pack(tmp_path / "a.jar", build())
    serve(jar, monkeypatch)


def test_nothing_is_installed(told: Told, cache: Path) -> None:
    assert told("--json") == (0, "[]\n", "")
    code, out, _ = told()
    assert code == 0
    assert "lsmtune engines install rocksdb" in out
    assert not cache.exists()


@pytest.mark.usefixtures("served")
def test_a_version_is_installed_and_listed(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "600")  # paths of tests can be long
    code, out, err = told("install", NAME, "--trust", "--json")
    assert code == 0, err
    engine = json.loads(out)
    assert (engine["name"], engine["version"], engine["default"]) == ("rocksdb", VERSION, True)
    assert Path(engine["path"]).is_file()
    assert json.loads(told("--json")[1]) == [engine]
    _, out, _ = told()
    assert [engine[key] in out for key in ("version", "source", "sha256", "path")] == [True] * 4
    code, out, _ = told("install", NAME, "--trust")
    assert (code, engine["path"] in out) == (0, True)


@pytest.mark.usefixtures("served")
def test_without_a_version_it_is_the_usual_one(told: Told, cache: Path) -> None:
    code, out, err = told("install", "rocksdb")  # its SHA-256 is another one
    assert (code, out) == (2, "")
    assert f"lsmtune: rocksdb@{DEFAULT_VERSION}: " in err
    assert list((cache / "lsmtune" / "engines").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["instal", NAME], "install"),
        (["install"], "rocksdb@VERSION"),
        (["install", "leveldb@1.23"], "rocksdb"),
        (["install", "rocksdb@"], "three numbers"),
        (["install", "rocksdb@LATEST"], "three numbers"),
        (["install", NAME], "--trust"),
        (["--trust"], "--trust"),
    ],
)
@pytest.mark.usefixtures("served")
def test_a_mistake_is_one_sentence(
    told: Told, cache: Path, arguments: list[str], word: str
) -> None:
    code, out, err = told(*arguments)
    messages = [line for line in err.splitlines() if line.startswith("lsmtune: ")]
    assert (code, out, len(messages)) == (2, "", 1)
    assert word in messages[0]
    assert not cache.exists()
