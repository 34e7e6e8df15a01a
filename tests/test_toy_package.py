"""A package with an engine and an optimizer works with the commands, as if lsmtune had them."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest

from fakes.guests import install, install_broken
from lsmtune.batch import parse_batch
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.registry import entry_of
from lsmtune.errors import UserError
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.testing.engines import EngineConformance
from lsmtune.testing.optimizers import OptimizerConformance

PACKAGE = Path(__file__).parent / "toy_package"
POINTS = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]
TUNE = ["tune", "--engine", "toy", "--num", "4000", "--optimizer", "halving", "--trials", "10",
        "--study", "s"]  # fmt: skip

Asked = Callable[..., Any]


def run_quietly(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """Run a command and return what it printed."""
    capsys.readouterr()
    assert run(list(command)) == 0
    return capsys.readouterr().out


def put(site: Path, patch: pytest.MonkeyPatch) -> None:
    """Install the package into a folder, in this process."""
    patch.syspath_prepend(str(PACKAGE))
    install(site, patch, "lsmtune-toy", engines=POINTS["lsmtune.engines"],
            optimizers=POINTS["lsmtune.optimizers"])  # fmt: skip


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "site", monkeypatch)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the study s of the engine toy."""
    folder = tmp_path_factory.mktemp("toy")
    with pytest.MonkeyPatch.context() as patch:
        put(folder / "site", patch)
        assert run([*TUNE, "--home", str(folder / "home")]) == 0
    return folder / "home"


@pytest.fixture
def asked(home: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Runs a command on the home and returns its JSON."""

    def ask(*command: str) -> Any:
        assert run([*command, "--json", "--home", str(home)]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.mark.usefixtures("toy")
class TestToy(EngineConformance):
    """The store in memory."""

    @pytest.fixture
    def entry(self, toy: None) -> EngineEntry:
        return entry_of("toy")

    def keys(self, entry: EngineEntry) -> dict[str, Any]:
        return {"engine": entry.name, "workload": {"name": "fillseq", "num": 4000}}


@pytest.mark.usefixtures("toy")
class TestHalving(OptimizerConformance):
    """The optimizer."""

    @pytest.fixture
    def optimizer(self, toy: None) -> Optimizer:
        return make_optimizer("halving")


@pytest.mark.usefixtures("toy")
def test_a_study_is_shown(asked: Asked) -> None:
    shown = asked("show", "s")
    assert shown["engine"] == "toy"
    assert shown["trials"]["complete"] + shown["trials"]["failed"] == 10
    assert shown["verification"]["claim"] == "gain"
    assert shown["best"]["metrics"]["write_amp"] < shown["base"]["metrics"]["write_amp"]
    assert [row["engine"] for row in asked("studies")] == ["toy"]
    statuses = {trial["status"] for trial in asked("trials", "s")}
    assert "complete" in statuses


@pytest.mark.usefixtures("toy")
def test_a_study_goes_on_and_is_verified_again(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(home, tmp_path / "home")

    def asked(*command: str) -> Any:
        assert run([*command, "--json", "--home", str(copy)]) == 0
        return json.loads(capsys.readouterr().out)

    before = len(asked("trials", "s"))
    assert asked("tune", "--study", "s", "--trials", "11")["trials"]["total"] == 11
    assert len(asked("trials", "s")) > before
    assert asked("verify", "s", "--pairs", "7")["verification"]["pairs"] == 7


@pytest.mark.usefixtures("toy")
def test_page_and_file_are_written_in_the_format_of_the_package(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, file = tmp_path / "page.html", tmp_path / "toy.ini"

    def exported(*flags: str) -> ConfigParser:
        assert run(["export", "s", "--home", str(home), *flags, "-o", str(file)]) == 0
        found = ConfigParser()
        found.read(file)
        return found

    assert run(["report", "s", "--home", str(home), "-o", str(page)]) == 0
    assert "a read looks into more runs" in page.read_text()
    assert "--format ini -o toy.ini" in page.read_text()
    deployed = exported()["toy"]
    assert deployed.keys() == {"buffer_records", "most_runs", "merge"}
    assert exported("--back")["toy"]["buffer_records"] == "64"
    (stored,) = (home / "results").glob("*/toy.ini")
    assert dict(exported("--format", "ini")["toy"]) == dict(deployed)
    assert f"buffer_records = {deployed['buffer_records']}" in stored.read_text()
    assert stored.with_name("toy.ini.back").exists()
    assert run(["export", "s", "--home", str(home), "--format", "toml", "-o", str(file)]) == 0
    assert str(tomllib.loads(file.read_text())["most_runs"]) == deployed["most_runs"]
    capsys.readouterr()
    for flags, words in (
        (["--format", "options"], ["options", "toy", "ini, toml"]),
        (["--base", str(file)], ["--base", "ini", "remove"]),
    ):
        assert run(["export", "s", "--home", str(home), *flags]) == 2
        told = capsys.readouterr().err
        assert all(word in told for word in words), told


@pytest.mark.usefixtures("toy")
def test_tuning_starts_from_a_file_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("toy.ini").write_text("[toy]\nmost_runs = 9\n")
    assert run([*TUNE, "--base", "toy.ini", "--home", "home"]) == 0
    capsys.readouterr()
    assert run(["export", "s", "--back", "--format", "toml", "--home", "home"]) == 0
    back = tomllib.loads(capsys.readouterr().out)
    assert (back["most_runs"], back["buffer_records"]) == (9, 64)
    for text, words in (
        ("[toy]\nmost_runs = many\n", ["most_runs", "many"]), ("[toy]\nspeed = 3\n", ["speed"]),
        ("[mysqld]\nrocksdb_max_background_jobs = 4\n", ["my.cnf", "--engine myrocks"]),
    ):  # fmt: skip
        Path("toy.ini").write_text(text)
        assert run([*TUNE, "--base", "toy.ini", "--home", "other"]) == 2
        err = capsys.readouterr().err
        assert all(word in err for word in ("toy.ini" if "my.cnf" in words else "base", *words)), (
            err
        )
        assert err.count("\n") == 1


@pytest.mark.usefixtures("toy")
def test_its_own_workload_has_its_own_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def asked(*command: str) -> Any:
        assert run([*command, "--json", "--home", "home"]) == 0
        return json.loads(capsys.readouterr().out)

    amplification = {}
    for share in (0.0, 0.95):
        load = {"name": "hotwrites", "num": 3000, "hot_share": share}
        table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in load.items())
        name = f"s{share:g}".replace(".", "-")
        Path("study.toml").write_text(f'study = "{name}"\ntrials = 2\n[workload]\n{table}')
        assert asked("tune", "study.toml", "--dry-run")["workload"] == load
        shown = asked("tune", "study.toml", "--pairs", "0")
        amplification[share] = shown["base"]["metrics"]["write_amp"]
        with Home(Path("home"), create=False) as stored:
            study = stored.study(name)
        assert study.spec["workload"] == load
        assert study.settings.engine == "toy"
        assert study.settings.workload.own is not None
    assert amplification[0.95] != amplification[0.0]
    (listed,) = json.loads(run_quietly(capsys, "workloads", "hotwrites", "--json"))
    assert listed["engines"] == ["toy"]
    assert listed["parameters"] == {"num": 4000, "hot_share": 0.9}
    schema = json.loads(run_quietly(capsys, "schema"))
    assert "hotwrites" in schema["$defs"]["Workload"]["properties"]["name"]["enum"]
    assert schema["$defs"]["Workload"]["properties"]["hot_share"]["maximum"] == 1


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"hot_share": 2}, r"hot_share: .*1"),
        ({"hot_shar": 0.5}, "hotwrites 'hot_shar'.*'hot_share'"),
        ({"value_size": 99}, "hotwrites 'value_size'.*num, hot_share"),
        ({"mix": {"get": 1}}, "hotwrites 'mix'"),
    ],
)
def test_wrong_parameters_of_its_workload_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_spec({"workload": {"name": "hotwrites", **more}}, "study.toml")
    made = make_spec({"workload": "hotwrites"}, "study.toml")
    assert (made.engine, made.knobs, made.objective) == ("toy", "all", ("write_amp",))
    assert made.workload.model_dump() == {"name": "hotwrites", "num": 4000, "hot_share": 0.9}
    again = StudySettings.model_validate_json(made.model_dump_json())
    assert again == made
    other = make_spec({"workload": {"name": "hotwrites", "hot_share": 0.5}}, "study.toml")
    assert other.workload != made.workload
    assert other.changed_since(made) == ["workload"]
    (line,) = parse_batch('{"workload": {"name": "hotwrites", "num": 2000}}', "batch")
    assert (line.engine, line.workload.num) == ("toy", 2000)
    assert json.loads(line.to_json())["workload"]["hot_share"] == 0.9


@pytest.mark.usefixtures("toy")
def test_an_experiment_has_the_metrics_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    load = 'engine = "toy"\n[workload]\nname = "fillseq"\nnum = 4000\n'
    levels = "[sweep]\nrepeats = 2\n[sweep.factors.x]\nmost_runs = [2, 8]\n"
    Path("sweep.toml").write_text(load + levels)
    assert run(["sweep", "sweep.toml", "--json", "--home", "home"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"].keys() == {"write_amp", "live_sst_bytes"}


@pytest.mark.usefixtures("toy")
def test_lists_have_what_the_package_offers(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(*command: str) -> Any:
        assert run(list(command)) in (0, 1)
        return json.loads(capsys.readouterr().out)

    names = [knob["name"] for knob in listed("knobs", "toy", "--json")]
    assert names == ["buffer_records", "most_runs", "merge"]
    assert "halving" in [optimizer["name"] for optimizer in listed("optimizers", "--json")]
    (fillseq,) = listed("workloads", "fillseq", "--json")
    assert fillseq["engines"][-1] == "toy"
    checks = {check["name"]: check for check in listed("doctor", "--json")["checks"]}
    for name in ("engine toy", "optimizer halving"):
        assert checks[name]["ok"]
        assert "lsmtune-toy 1.0" in checks[name]["detail"]
    assert checks["toy"]["detail"] == "in memory"
    properties = listed("schema")["properties"]
    assert "toy" in properties["engine"]["enum"]
    assert "halving" in properties["optimizer"]["enum"]


def test_broken_packages_change_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "site", monkeypatch)
    assert run(["show", "s", "--json", "--home", str(home)]) == 0
    shown = capsys.readouterr().out
    install_broken(tmp_path / "others", monkeypatch)
    assert run(["show", "s", "--json", "--home", str(home)]) == 0
    assert capsys.readouterr().out == shown
    assert run([*TUNE, "--home", str(tmp_path / "home")]) == 0


@pytest.mark.parametrize(
    "command", ["show", "trials", "export", "report", "verify", "tune --study"]
)
def test_a_study_says_which_package_it_needs(
    home: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "toy" not in ENGINES
    assert run([*command.split(), "s", "--home", str(home)]) == 2
    said = capsys.readouterr().err
    assert "lsmtune-toy 1.0" in said
    assert len(said.splitlines()) == 1


def test_another_process_finds_the_package_and_imports_it_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "site", monkeypatch)
    code = (
        "import sys\nfrom lsmtune.cli.main import run\n"
        "codes = [run(['--help']), run(['tune', '--help']), run(['knobs', 'rocksdb', '--json'])]\n"
        "early = 'lsmtune_toy' in sys.modules\n"
        "codes.append(run(['knobs', 'toy', '--json']))\n"
        "print(codes, early, 'lsmtune_toy' in sys.modules)"
    )
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 0] False True"


def test_the_store_is_small() -> None:
    text = (PACKAGE / "lsmtune_toy" / "store.py").read_text()
    assert len(text.splitlines()) <= 150
