"""What several rooms of tests share; its place also makes `fakes` importable."""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, settings

from fakes.fake_db_bench import install
from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    engine_of_version,
    engines_folder,
    installed_engines,
)

pytest.register_assert_rewrite("lsmtune.testing")

# Without bytecode, workers and hundreds of small programs compile the same modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Each stored trial waits for the disk, which other programs may use too. So the folders of tests
# are in memory, if there is enough of it and if programs and direct reads may be there.
_MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 4 << 30
_DISK = tempfile.gettempdir()


def _can_replace_the_disk(memory: Path) -> bool:
    if not memory.is_dir() or not os.access(memory, os.W_OK):
        return False
    if os.statvfs(memory).f_flag & os.ST_NOEXEC or shutil.disk_usage(memory).free < _MEMORY_BYTES:
        return False
    with tempfile.NamedTemporaryFile(dir=memory) as file:
        try:
            os.close(os.open(file.name, os.O_RDONLY | os.O_DIRECT))
        except OSError:  # Linux before 6.6
            return False
    return True


if _can_replace_the_disk(_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# No table of a test breaks its lines because a runner of tests knows the width of a terminal.
os.environ.pop("COLUMNS", None)

# A deadline per example, or for making examples, fails a test when other work slows the machine
# down.
settings.register_profile(
    "no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("no deadline")


_ENGINES = engines_folder()
"""The user's own libraries of RocksDB; tests see an empty folder instead."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags that write recorded texts again, to be reviewed as a diff, and --skipped."""
    parser.addoption("--write-contract", action="store_true", help="record the contract again")
    parser.addoption("--write-texts", action="store_true", help="record tests/texts again")
    parser.addoption("--skipped", metavar="FILE", help="write the ids of skipped tests to FILE")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the ids of skipped tests, one per line; `pytest @FILE` runs these tests."""
    file: str | None = terminalreporter.config.getoption("skipped")
    if file is not None:
        reports = terminalreporter.getreports("skipped")
        # Each worker reports the modules that are skipped as a whole.
        ids = dict.fromkeys(report.nodeid for report in reports)
        Path(file).write_text("".join(f"{each}\n" for each in ids), encoding="utf-8")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that run the real db_bench where there is none."""
    if item.get_closest_marker("db_bench") and shutil.which("db_bench") is None:
        pytest.skip("db_bench is not installed: make db_bench")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from modules and tests, which all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _quick_commands() -> Iterator[None]:
    """The command line is built once, and no command looks at other programs for a second.

    No test depends on what other programs do.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsmtune.study.host_checks._QUIET_S", 0.01)
        # Where other work slows a command down, it would print what it is doing.
        patch.setattr(
            "lsmtune.cli.slow_work.TerminalProgress.working.__wrapped__.__defaults__", (3600.0,)
        )
        patch.setattr("typer.main.get_command", cache(partial(_built, typer.main.get_command)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No library of RocksDB is installed, so a test runs db_bench unless it asks for another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def on_disk() -> Iterator[Path]:
    """A folder on the disk, for tests of written bytes: the kernel counts none in memory."""
    with tempfile.TemporaryDirectory(prefix="lsmtune-tests-", dir=_DISK) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def installed() -> Path:
    """The folder with the libraries that the user installed, among them the default version."""
    if engine_of_version(installed_engines(_ENGINES), DEFAULT_VERSION) is None:
        pytest.skip("the default version is not installed: lsmtune engines install rocksdb")
    return _ENGINES


def _built(build: Callable[[typer.Typer], Any], app: typer.Typer) -> Any:
    """Build the command line. Each command keeps the names of its help from its first use."""
    command = build(app)
    context = command.make_context("lsmtune", [], resilient_parsing=True)
    for name, each in getattr(command, "commands", {}).items():
        each.make_context(name, [], parent=context, resilient_parsing=True)
    return command


@pytest.fixture(scope="module")
def quick_models() -> Iterator[None]:
    """Fewer and smaller models, for tests of what is made of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsmtune.learning.models.MODELS", {"extra trees": ("extra trees",)})
        patch.setattr("lsmtune.learning.models._TREES", 20)
        yield


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests run side by side: no trial waits for theirs, or is repeated for what they take."""
    folder = tmp_path_factory.mktemp("crowd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsmtune.study.runner.DISTURBED_PERCENT", 100.0)
        patch.setenv("TMPDIR", str(folder))
        patch.setenv("XDG_STATE_HOME", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with small studies, for `enter_home`."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        from fakes.made_home import make_home  # noqa: PLC0415 - slow to import

        return make_home(folder / "home")


@pytest.fixture
def own_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files and state, and so a host lock, of the test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def fake_db_bench(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The db_bench on PATH is a fake, for tests that need one but start no trial."""
    program = install(tmp_path_factory.mktemp("fake") / "bin")
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
