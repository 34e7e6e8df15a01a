"""The conformance tests of engines, on those of this process that need no program."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.function import function_engine
from lsmtune.engines.registry import entry_of
from lsmtune.errors import UserError
from lsmtune.knobs.types import Knob, Settings
from lsmtune.testing.engines import EngineConformance
from lsmtune.testing.scripted import ScriptedEngine, measured

KNOBS = (
    Knob(name="block_kib", area="cache", kind="int", unit="", low=4, high=64, log=True, default=16,
         shapes=True, apply="restart", trade="Larger blocks need more memory."),
    Knob(name="share", area="cache", kind="float", unit="", low=0.5, high=4, default=1.0,
         shapes=False, apply="online", trade="A larger share leaves less for others."),
    Knob(name="fast", area="paths", kind="bool", unit="", default=False, shapes=False,
         apply="restart", trade="The fast way checks less."),
)  # fmt: skip


def benchmark(config: Settings, seed: int, workdir: str) -> dict[str, float]:
    assert Path(workdir).is_dir()
    speed = 1000 + 10 * float(config["block_kib"]) + 500 * bool(config["fast"])
    return {"throughput_ops_s": speed, "read_amp": 1 + float(config["share"])}


def of_function(function: Any = benchmark, **members: Any) -> EngineEntry:
    metrics = ("throughput_ops_s", "read_amp")
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
    assert again.claim.study == "s"


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
    assert result.claim.study == "s"


@pytest.mark.parametrize("value", [None, float("nan"), "fast"])
def test_a_metric_that_is_no_number_is_unreadable(tmp_path: Path, value: Any) -> None:
    with pytest.raises(lsmtune.LsmtuneError, match="read_amp"):
        tuned(tmp_path, of_function(lambda *_: {"throughput_ops_s": 1.0, "read_amp": value}))


def test_what_a_function_does_not_measure_is_refused(tmp_path: Path) -> None:
    for keys in ({"objective": "write_amp"}, {"limits": ["write_amp <= 2 * base"]}):
        with pytest.raises(UserError, match="engine mine does not measure write_amp"):
            tuned(tmp_path, of_function(), **keys)
    with pytest.raises(UserError, match="unknown metric 'speed'"):
        of_function(metrics=("speed",))
    with pytest.raises(UserError, match="base"):
        tuned(tmp_path, of_function(), base=str(Path(__file__)))
