"""The package of the how-to page "Add an engine": the page shows it, and its commands run."""

import importlib
import re
import shlex
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lsmtune
from fakes.guests import install
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.testing.engines import EngineConformance

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "sqlite_engine"
PAGE = (ROOT / "docs" / "how-to" / "add-an-engine.md").read_text()
LANGUAGES = {
    "lsmtune_sqlite.py": "python",
    "lsmtune_batches.py": "python",
    "pyproject.toml": "ini",
    "test_sqlite.py": "python",
}
COMMANDS = ["doctor", "knobs", "tune", "verify", "export"]
FEWER = {"--trials": "8"}
COUNTED = ["--objective", "pages", "--limit", "throughput_ops_s <= none", "--accept-noise"]
"""Times would not give a gain for certain."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The installed package, with a shorter benchmark."""
    points = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]["entry-points"]
    monkeypatch.syspath_prepend(str(FOLDER))
    install(tmp_path / "site", monkeypatch, "lsmtune-sqlite", engines=points["lsmtune.engines"])
    module = importlib.import_module("lsmtune_sqlite")
    monkeypatch.setattr(module, "RECORDS", 1000)
    return module


def test_the_page_shows_the_files() -> None:
    assert {file.name for file in FOLDER.iterdir() if file.is_file()} == set(LANGUAGES)
    for name, language in LANGUAGES.items():
        assert f"```{language}\n{(FOLDER / name).read_text()}```" in PAGE, name


class TestSqlite(EngineConformance):
    """The engine of the page."""

    @pytest.fixture
    def entry(self, package: ModuleType) -> Any:
        return package.SQLITE


class TestBatches(EngineConformance):
    """The engine of the page whose workload has a parameter."""

    @pytest.fixture
    def entry(self, package: ModuleType) -> Any:
        return importlib.import_module("lsmtune_batches").BATCHES


def test_the_parameter_of_the_workload_reaches_the_benchmark(
    package: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, sizes = importlib.import_module("lsmtune_batches"), set[int]()

    def benchmark(config: Any, seed: int, workdir: Path, batch: int) -> dict[str, float]:
        sizes.add(batch)
        return {"throughput_ops_s": 1.0 + seed % 3, "disk_bytes": 1.0, "pages": 1.0}

    monkeypatch.setattr(module, "benchmark", benchmark)
    monkeypatch.setattr(module.Batches, "times_matter", False)
    monkeypatch.setitem(ENGINES, "batches", module.BATCHES)
    lsmtune.tune(
        engine=module.BATCHES, workload={"name": "batchwrites", "batch": 50}, trials=2, pairs=0,
        home=tmp_path / "home", accept_noise=True,
    )  # fmt: skip
    assert sizes == {50}


@pytest.mark.slow
@pytest.mark.usefixtures("package")
def test_the_commands_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"test_own_engine.py -->\n```\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    commands = [shlex.split(line)[1:] for line in shown[1].splitlines()]
    assert [command[0] for command in commands] == COMMANDS
    for name, *words in commands:
        few = [FEWER.get(before, word) for before, word in zip(["", *words], words, strict=False)]
        more = {"tune": COUNTED, "verify": ["--accept-noise"]}.get(name, [])
        code, said = run([name, *few, *more]), capsys.readouterr()
        if name == "doctor":  # it also checks RocksDB, which may be missing
            assert "engine sqlite" in said.out
        else:
            assert code == 0, said.err
    assert "page_size" in (tmp_path / "settings.toml").read_text()
