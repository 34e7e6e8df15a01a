"""Which RocksDB a study runs: named by flag, file or stored study, else the usual one."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.entries import replaced
from fakes.jars import build, pack, serve
from fakes.libraries import put
from fakes.studies import open_study
from lsmtune.api.continue_study import StoredStudies
from lsmtune.api.rocksdb_version import name_rocksdb
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Engine
from lsmtune.engines.libraries.installed import Loaded, loaded_library
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.testing.scripted import ScriptedEngine, measured

VARIABLE = "LSMTUNE_DB_BENCH"
DRIVEN = {"program": "lsmdriver", "rocksdb": "8.10.2"}
OPTIONS = '[Version]\n  rocksdb_version={}\n[DBOptions]\n[CFOptions "default"]\n'
SHORT = {"objective": "write_amp", "optimizer": "random", "trials": 2, "base_runs": 1,
         "finalists": 1, "repeats": 0, "pairs": 0, "workload": {"num": 5000}}  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without an installed library, and a PATH with a db_bench that nobody starts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    Path("bin").mkdir()
    Path("bin/db_bench").write_text("#!/bin/sh\nexit 1\n")
    Path("bin/db_bench").chmod(0o755)
    return tmp_path


@pytest.fixture
def cache(place: Path) -> Path:
    return place / "cache"


def chosen(given: dict[str, Any] | None = None, **flags: str) -> dict[str, Any]:
    """What the settings name after the choice."""
    settings = dict(given or {})
    name_rocksdb(settings, flags, StoredStudies(Path("home")).settings, lambda line: None)
    return {key: settings[key] for key in ("program", "rocksdb", "library") if key in settings}


def refused(given: dict[str, Any] | None = None, **flags: str) -> str:
    with pytest.raises(UserError) as caught:
        chosen(given, **flags)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def base(version: str) -> dict[str, Any]:
    """Settings with a baseline that this version wrote."""
    path = Path(f"OPTIONS-{version}")
    path.write_text(OPTIONS.format(version))
    return {"base": str(path)}


def stored(study: str | None, **settings: str) -> str:
    """Leave a study in the home; return its name."""
    spec = make_spec({**SHORT, **settings, "study": study}, "test")
    engine = ScriptedEngine(lambda _: measured())
    with (
        Home(Path("home"), create=True) as home,
        open_study(home, spec, engine, lambda event: None),
    ):
        return spec.name


def test_the_usual_one_is_the_default_version_then_the_newest_then_db_bench(cache: Path) -> None:
    assert chosen() == {}
    put(cache, "9.11.2", "10.1.3")
    assert chosen() == {"rocksdb": "10.1.3"}
    put(cache, "11.8.1", "99.1.1")
    assert chosen() == {"rocksdb": "11.8.1"}


def test_without_any_rocksdb_both_ways_to_get_one_are_told() -> None:
    Path("bin/db_bench").unlink()
    message = refused()
    assert "lsmtune engines install rocksdb" in message
    assert "apt-get install rocksdb-tools" in message
    assert run(["tune", "--dry-run", "--home", "home"]) == 2
    assert not Path("home").exists()


def test_without_the_driver_an_installed_version_does_not_help(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lsmsim", None)  # Python then finds no such package
    put(cache, "11.8.1")
    assert chosen() == {}
    Path("bin/db_bench").unlink()
    message = refused()
    assert "make setup" in message
    assert "engines install" not in message


@pytest.mark.parametrize(
    ("flag", "value"), [("rocksdb", "8.10.2"), ("library", "a.so"), ("program", "./db_bench")]
)
@pytest.mark.parametrize("before", [{"program": "x"}, {"rocksdb": "9.11.2"}, {"library": "x"}])
def test_a_flag_replaces_what_the_file_names(
    flag: str, value: str, before: dict[str, Any], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, "11.8.1")
    monkeypatch.setenv(VARIABLE, "other")
    assert chosen(before, **{flag: value}) == {flag: value}
    assert chosen(before, program="other") == before  # the flag has the value of the variable


def test_flags_name_one_rocksdb() -> None:
    message = refused(rocksdb="8.10.2", library="a.so")
    assert "--rocksdb" in message
    assert "--library" in message
    assert "--db-bench" in refused(rocksdb="8.10.2", program="./db_bench")
    command = ["tune", "--dry-run", "--rocksdb", "8.10.2", "--library", "a.so"]
    assert run(command) == 2


def test_the_variable_means_db_bench(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(cache, "11.8.1")
    monkeypatch.setenv(VARIABLE, "./db_bench")
    assert chosen(base("8.10.2"), program="./db_bench") == {"program": "./db_bench"}


@pytest.mark.parametrize("workload", ["mixgraph", {"name": "trace", "trace": "t"}])
def test_workloads_of_db_bench_stay_on_it(workload: object, cache: Path) -> None:
    put(cache, "11.8.1")
    assert chosen({"workload": workload}) == {}
    assert chosen({"workload": workload}, rocksdb="11.8.1") == {"rocksdb": "11.8.1"}
    with pytest.raises(UserError, match="db_bench"):
        make_spec({"workload": workload, "rocksdb": "11.8.1"}, "here")


@pytest.mark.parametrize("given", [{"workload": "tpcc"}, {"engine": "simulated"}])
def test_other_engines_get_no_rocksdb(given: dict[str, Any], cache: Path) -> None:
    put(cache, "11.8.1")
    assert chosen(given) == {}
    assert chosen(given, program="./db_bench") == {}
    assert run(["tune", "--dry-run", "--engine", "simulated", "--rocksdb", "11.8.1"]) == 2


def test_the_version_of_the_baseline_runs_and_is_told(cache: Path) -> None:
    put(cache, "8.10.2", "11.8.1", "10.10.1.1")
    told: list[str] = []
    given = base("8.10.2")
    name_rocksdb(given, {}, StoredStudies(Path("home")).settings, told.append)
    assert given["rocksdb"] == "8.10.2"
    assert len(told) == 1
    assert all(word in told[0] for word in ("8.10.2", given["base"]))
    assert chosen(base("10.10.1")) == {"rocksdb": "10.10.1.1"}


def test_the_version_of_the_baseline_is_not_installed(cache: Path) -> None:
    message = refused(base("8.10.2"))
    assert "`lsmtune engines install rocksdb@8.10.2`" in message
    assert "`program = db_bench`" in message
    put(cache, "9.11.2", "11.8.1")
    message = refused(base("8.10.2"))
    assert "`rocksdb = 9.11.2`" in message
    assert "--db-bench" not in message
    assert chosen(base("8.10.2"), rocksdb="11.8.1") == {"rocksdb": "11.8.1"}
    Path("bin/db_bench").unlink()
    assert run(["tune", "--dry-run", "--base", "OPTIONS-8.10.2"]) == 2


def test_the_printed_command_installs_a_version_without_a_pin(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refused(base("7.8.3"))
    command = message.split("`")[1].split()
    assert command[0] == "lsmtune"
    monkeypatch.setenv("PATH", os.defpath)
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    jar = pack(place / "a.jar", build(version="7.8.3"))
    serve(jar, monkeypatch)
    assert run(command[1:]) == 0
    assert chosen(base("7.8.3")) == {"rocksdb": "7.8.3"}


def test_a_db_bench_of_the_version_of_the_baseline_is_the_other_way(cache: Path) -> None:
    Path("bin/db_bench").write_text("#!/bin/sh\necho db_bench version 7.8.3\n")
    put(cache, "11.8.1")
    assert "`program = db_bench`" in refused(base("7.8.3"))
    assert "program = " not in refused(base("7.8.4"))
    assert chosen(base("7.8.3"), program="db_bench") == {"program": "db_bench"}


def test_db_bench_leaves_out_the_rate_of_a_file_that_names_no_rocksdb(cache: Path) -> None:
    def left(given: dict[str, Any], **flags: Any) -> tuple[object, int]:
        settings, told = {"rate": "9990", **given}, list[str]()
        name_rocksdb(settings, flags, StoredStudies(Path("home")).settings, told.append)
        return settings.get("rate"), len(told)

    assert left({}) == (None, 1)
    assert left({}, program="db_bench") == (None, 1)
    assert left({}, rate="9990") == ("9990", 0)  # refused later
    assert left({"measure": "running"}) == ("9990", 0)
    assert left({"program": "db_bench"}) == ("9990", 0)
    assert left({}, rocksdb="11.8.1") == ("9990", 0)
    put(cache, "11.8.1")
    assert left({}) == ("9990", 0)


@pytest.mark.parametrize("text", [OPTIONS.format("0.0.0"), "[DBOptions]\n", "no OPTIONS file"])
def test_a_baseline_without_a_version(text: str, cache: Path) -> None:
    put(cache, "11.8.1")
    Path("OPTIONS").write_text(text)
    assert chosen({"base": "OPTIONS"}) == {"rocksdb": "11.8.1"}
    assert "missing" in refused({"base": "missing"})


@pytest.mark.parametrize("given", [{"program": "db_bench"}, DRIVEN, {"library": "a.so"}])
def test_a_stored_study_keeps_its_rocksdb(
    given: dict[str, str], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored("s", **given)
    put(cache, "11.8.1")
    monkeypatch.setenv(VARIABLE, "other")
    kept = {"program": "lsmdriver", **given}
    assert chosen({"study": "s"}) == kept
    assert chosen({"study": "s", **base("9.11.2")}, program="other") == kept
    assert chosen({"study": "s"}, rocksdb="11.8.1") == {"rocksdb": "11.8.1"}
    assert chosen({"study": "new"}) == {"program": "other"}


class Driver:
    """Stands in for the engine on the driver, and notes what it is given."""

    def __init__(self) -> None:
        self.loaded: list[Loaded] = []

    def engine(self, spec: StudySettings) -> Engine:
        self.loaded.append(loaded_library(spec.rocksdb, spec.library))
        return ScriptedEngine(lambda _: measured())

    @property
    def versions(self) -> list[str | None]:
        return [one.version for one in self.loaded]


@pytest.fixture
def driver(own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", made.engine))
    return made


COMMANDS = [
    ["tune", "tune.toml", "--study", "s", "--dry-run"],
    ["screen", "screen.toml", "--study", "s"],
    ["sweep", "sweep.toml"],
    ["compare", "random", "--real", "--study-file", "tune.toml", "--trials", "2",
     "--repeats", "1"],
]  # fmt: skip


@pytest.fixture
def files(place: Path) -> None:
    common = "[workload]\nnum = 5000\n"
    search = "objective = 'write_amp'\noptimizer = 'random'\ntrials = 2\nbase_runs = 1\n"
    search += "finalists = 1\nrepeats = 0\npairs = 0\n"
    Path("tune.toml").write_text(f"{search}{common}")
    Path("screen.toml").write_text(f"trials = 2\n{common}[screen]\nreplicated = 0\n")
    Path("sweep.toml").write_text(
        f"{common}[sweep]\nrepeats = 2\nfactors.size.block_size = [4096, 8192]\n"
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_all_commands_run_the_version_that_the_user_names(
    command: list[str], cache: Path, driver: Driver, capsys: pytest.CaptureFixture[str]
) -> None:
    put(cache, "8.10.2", "11.8.1")
    assert run([*command, "--rocksdb", "8.10.2", "--home", "home"]) == 0, capsys.readouterr().err
    assert set(driver.versions) == {"8.10.2"}
    Path("own.so").write_text("own")
    assert run([*command, "--library", "own.so", "--home", "home2"]) == 0
    assert driver.loaded[-1].path == Path("own.so").absolute()
    assert run([*command, "--home", "home3"]) == 0
    assert driver.versions[-1] == "11.8.1"


@pytest.mark.usefixtures("files")
def test_a_study_goes_on_with_its_rocksdb(cache: Path, driver: Driver) -> None:
    put(cache, "8.10.2")
    assert run(["tune", "tune.toml", "--study", "s", "--home", "home"]) == 0
    assert run(["sweep", "sweep.toml", "--home", "home"]) == 0
    put(cache, "11.8.1")
    assert run(["tune", "--study", "s", "--home", "home"]) == 0
    assert run(["tune", "tune.toml", "--study", "s", "--home", "home"]) == 0
    assert run(["sweep", "sweep.toml", "--home", "home"]) == 0
    assert run(["verify", "s", "--trial", "2", "--home", "home"]) == 0
    assert set(driver.versions) == {"8.10.2"}
    assert run(["tune", "--study", "s", "--rocksdb", "11.8.1", "--home", "home"]) == 2


@pytest.mark.usefixtures("files", "driver")
def test_the_same_settings_on_another_rocksdb_are_told(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = stored(None, program="db_bench")
    stored("fillrandom-named", program="db_bench")
    put(cache, "8.10.2")

    def told(*flags: str) -> list[str]:
        assert run(["tune", "tune.toml", "--home", "home", *flags]) == 0
        lines = capsys.readouterr().err.splitlines()
        return [line for line in lines if "these settings" in line]

    (line,) = told("--dry-run")
    assert name in line
    assert "`--db-bench db_bench`" in line
    assert told("--rocksdb", "8.10.2", "--dry-run") == []  # the user knows what runs
    assert told("--study", "other", "--dry-run") == []
    assert told("--seed", "2", "--dry-run") == []
    assert len(told()) == 1
    assert told() == []  # this study goes on
    put(cache, "11.8.1")
    (line,) = told("--dry-run")
    assert "`--rocksdb 8.10.2`" in line


def test_a_file_with_two_is_refused(driver: Driver, capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.toml").write_text("rocksdb = '8.10.2'\nlibrary = 'a.so'\n")
    assert run(["tune", "two.toml", "--dry-run"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert all(word in err for word in ("two.toml", "rocksdb", "library"))
    assert driver.loaded == []
