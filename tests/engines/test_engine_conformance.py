"""The conformance tests of engines, on those of this process that need no program."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lsmtune
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.function import function_engine
from lsmtune.engines.registry import entry_of
from lsmtune.errors import UserError
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.definitions import Metric
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.testing.engines import EngineConformance
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.workloads import Workload

KNOBS = (
    Knob.integer("block_kib", 4, 64, default=16, log=True, trade="Larger blocks need more memory."),
    Knob.real("share", 0.5, 4, default=1.0, shapes=False, apply="online"),
    Knob.boolean("fast", default=False),
    Knob.choice("order", ("key", "time"), default="key"),
)
PAUSE = Metric("pause_ms", unit="ms", better="lower", meaning="longest pause", label="pause")


def benchmark(config: Settings, seed: int, workdir: str) -> dict[str, float]:
    assert Path(workdir).is_dir()
    speed = 1000 + 10 * float(config["block_kib"]) + 500 * bool(config["fast"])
    pause = 10.0 if config["order"] == "time" else 20.0
    return {"throughput_ops_s": speed, "read_amp": 1 + float(config["share"]), "pause_ms": pause}


def of_function(function: Any = benchmark, **members: Any) -> EngineEntry:
    metrics = ("throughput_ops_s", "read_amp", PAUSE)
    members = {"times_matter": False, "metrics": metrics, **members}
    return function_engine("mine", function, knobs=KNOBS, **members)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """After a test, this process no longer knows the engine."""
    yield
    ENGINES.pop("mine", None)


class TestFunction(EngineConformance):
    """A Python function."""

    @pytest.fixture
    def entry(self) -> EngineEntry:
        return of_function()


class TestScripted(EngineConformance):
    """The scripted engine, in the place of RocksDB."""

    @pytest.fixture
    def entry(self) -> EngineEntry:
        rocksdb = replace(entry_of("rocksdb"), workloads=("fillrandom",))
        return replace(rocksdb, make=lambda _: ScriptedEngine(lambda _: measured()))


class TestSimulated(EngineConformance):
    """The simulator."""

    def keys(self, entry: EngineEntry) -> dict[str, Any]:
        keys = super().keys(entry)
        return {**keys, "workload": {**keys["workload"], "num": 20_000}}

    @pytest.fixture
    def entry(self) -> EngineEntry:
        pytest.importorskip("lsmsim", reason="the native core is not built here")
        return entry_of("simulated")


def tuned(home: Path, entry: EngineEntry, **keys: Any) -> lsmtune.Result:
    told = {"trials": 8, "study": "s", "home": home, **keys}
    return lsmtune.tune(engine=entry, **told)


def test_a_function_is_tuned(tmp_path: Path) -> None:
    result = tuned(tmp_path / "home", of_function())
    assert result.claim.gain
    result.export(tmp_path / "mine.toml")
    assert "fast = true" in (tmp_path / "mine.toml").read_text()
    again = tuned(tmp_path / "home", of_function(), trials=9)
    assert again.claim.view.name == "s"


def test_a_study_of_a_function_has_no_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert tuned(home, of_function(), study=None).claim.view.name.startswith("benchmark-")
    with Home(home, create=False) as stored:
        (name,) = stored.study_names()
        study = stored.study(name)
        assert study.spec["workload"] == {"name": "benchmark"}
        assert study.settings.workload == Workload(name="benchmark")
    assert run(["report", name, "--home", str(home), "-o", str(tmp_path / "page.html")]) == 0
    assert run(["show", name, "--home", str(home)]) == 0
    assert run(["verify", name, "--dry-run", "--home", str(home)]) == 0
    assert "records" not in capsys.readouterr().out
    for words in ("1,000,000", "empty store", "key_size"):
        assert words not in (tmp_path / "page.html").read_text()
    with pytest.raises(UserError, match="benchmark has no parameters"):
        tuned(home, of_function(), workload={"name": "benchmark", "num": 5000})


def test_a_function_that_raises_is_a_failed_trial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(config: Settings, seed: int, workdir: str) -> dict[str, float]:
        if config["fast"]:
            raise ZeroDivisionError("fast")
        return benchmark(config, seed, workdir)

    result = tuned(tmp_path, of_function(fails))
    capsys.readouterr()
    assert run(["trials", "s", "--json", "--home", str(tmp_path)]) == 0
    trials = json.loads(capsys.readouterr().out)
    reasons = {trial["reason"] for trial in trials if trial["status"] == "crashed"}
    assert reasons == {"ZeroDivisionError: fast"}
    kept = list((tmp_path / "evidence").rglob("traceback.txt*"))
    assert len(kept) == sum(trial["status"] == "crashed" for trial in trials)
    assert result.claim.view.name == "s"


@pytest.mark.parametrize("value", [None, float("nan"), "fast"])
def test_a_metric_that_is_no_number_is_unreadable(tmp_path: Path, value: Any) -> None:
    with pytest.raises(lsmtune.LsmtuneError, match="read_amp"):
        tuned(tmp_path, of_function(lambda *_: {**benchmark(*_), "read_amp": value}))


def test_what_a_function_does_not_measure_is_refused(tmp_path: Path) -> None:
    for keys in ({"objective": "write_amp"}, {"limits": ["write_amp <= 2 * base"]}):
        with pytest.raises(UserError, match="engine mine does not measure write_amp"):
            tuned(tmp_path, of_function(), **keys)
    with pytest.raises(UserError, match="unknown metric 'speed'"):
        of_function(metrics=("speed",))
    with pytest.raises(UserError, match="base"):
        tuned(tmp_path, of_function(), base=str(Path(__file__)))


def test_a_function_has_a_metric_of_its_own(tmp_path: Path) -> None:
    keys = {"objective": "pause_ms", "limits": ["pause_ms <= 1.5 * base"]}
    result = tuned(tmp_path, of_function(), **keys)
    assert result.claim.gain
    assert {change.knob.name for change in result.claim.changes} == {"order"}
    with pytest.raises(UserError, match="write_amp"):
        tuned(tmp_path / "other", of_function(metrics=(replace(PAUSE, name="write_amp"),)))
    with pytest.raises(UserError, match="objective"):
        of_function(metrics=(replace(PAUSE, better=None),))


def test_a_metric_with_a_formula_follows_from_what_the_function_returns(tmp_path: Path) -> None:
    waste = Metric(
        "waste", unit="ratio", better="lower", meaning="reads that were not needed",
        formula=lambda read_amp: read_amp - 1,
    )  # fmt: skip
    entry = of_function(metrics=("read_amp", waste))
    result = tuned(tmp_path, entry, objective="waste", trials=16)
    assert result.claim.gain
    found = result.document()
    assert found["base"]["metrics"]["waste"] == pytest.approx(1.0)
    assert found["best"]["metrics"]["waste"] < 1


def test_a_study_of_a_function_is_read_in_its_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tuned(tmp_path, of_function(), objective="pause_ms")
    del ENGINES["mine"]
    for command in (["show", "s"], ["export", "s"], ["tune", "--study", "s", "--trials", "9"]):
        capsys.readouterr()
        assert run([*command, "--home", str(tmp_path)]) == 2
        assert "'mine'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [FileNotFoundError("no-such-bench"), SystemExit(3), TimeoutError()]
)
def test_any_exception_of_a_function_fails_only_its_trial(
    tmp_path: Path, error: BaseException
) -> None:
    def fails(config: Settings, seed: int, workdir: str) -> dict[str, float]:
        if config["order"] == "time":
            raise error
        return benchmark(config, seed, workdir)

    assert tuned(tmp_path, of_function(fails)).claim.view.name == "s"


def test_numbers_of_numpy_are_metrics(tmp_path: Path) -> None:
    def of_numpy(*given: Any) -> dict[str, Any]:
        return {name: np.float32(value) for name, value in benchmark(*given).items()}

    assert tuned(tmp_path, of_function(of_numpy)).claim.gain


def test_use_of_the_cpu_by_others_is_measured_where_times_matter(tmp_path: Path) -> None:
    result = tuned(tmp_path, of_function(times_matter=True), trials=2, pairs=0, accept_noise=True)
    with Home(tmp_path, create=False) as home:
        for trial in home.trials(home.study(result.study)):
            assert 0 <= trial.result.metrics["others_cpu_percent"] <= 100


@pytest.mark.parametrize(
    "members",
    [
        {"knobs": (*KNOBS, Knob.integer("more", 1, 9, default=3))},
        {"knobs": KNOBS[1:]},
        {"knobs": (Knob.integer("block_kib", 4, 32, default=16, log=True), *KNOBS[1:])},
        {"metrics": ("throughput_ops_s", "read_amp", PAUSE, "cpu_s")},
        {"version": "2"},
    ],
)
def test_a_study_does_not_go_on_with_another_engine(
    tmp_path: Path, members: dict[str, Any]
) -> None:
    tuned(tmp_path, of_function())
    del ENGINES["mine"]

    def other(*given: Any) -> dict[str, float]:
        return benchmark({**given[0], "block_kib": 16}, *given[1:]) | {"cpu_s": 1.0}

    changed = {"knobs": KNOBS, **members}
    entry = function_engine(
        "mine", other, times_matter=False,
        **{"metrics": ("throughput_ops_s", "read_amp", PAUSE), **changed},
    )  # fmt: skip
    with pytest.raises(UserError, match="started on another system"):
        tuned(tmp_path, entry, trials=9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Knob.integer("a", 4, 2, default=3),
        lambda: Knob.integer("a", 0, 8, default=4, log=True),
        lambda: Knob.integer("a", 1, 8, default=4, unknown=3),
        lambda: Knob.choice("a", ("x", "x"), default="x"),
        lambda: function_engine("mine", 3, knobs=KNOBS, metrics=["read_amp"]),  # type: ignore[arg-type]
        lambda: function_engine("mine", benchmark, knobs=["a"], metrics=["read_amp"]),  # type: ignore[list-item]
        lambda: function_engine("mine", benchmark, knobs=KNOBS, metrics=[3]),  # type: ignore[list-item]
        lambda: of_function(version=3),
    ],
)
def test_wrong_arguments_are_one_sentence(make: Any) -> None:
    with pytest.raises(UserError) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "members",
    [
        {"knobs": (Knob.boolean("a b", default=True),)},
        {"knobs": (KNOBS[0], KNOBS[0])},
        {"metrics": (replace(PAUSE, better="up"),)},  # type: ignore[arg-type]
        {"memory": "1GiB"},
    ],
)
def test_what_an_engine_cannot_have_is_refused_before_a_run(
    tmp_path: Path, members: dict[str, Any]
) -> None:
    keys = {"memory": members.pop("memory")} if "memory" in members else {}
    given = {"knobs": KNOBS, "metrics": (PAUSE,), **members}
    entry = function_engine("mine", benchmark, times_matter=False, **given)
    with pytest.raises(UserError):
        tuned(tmp_path, entry, **keys)


def test_a_workload_of_several_engines_needs_the_name_of_one(tmp_path: Path) -> None:
    ENGINES["mine"] = of_function()
    ENGINES["other"] = function_engine("other", benchmark, knobs=KNOBS, metrics=("read_amp",))
    try:
        with pytest.raises(UserError, match="mine, other"):
            make_spec({"workload": "benchmark"}, "")
        assert make_spec({"workload": "benchmark", "engine": "other"}, "").engine == "other"
    finally:
        del ENGINES["other"]
