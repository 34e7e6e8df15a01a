"""What a few runs tell of a machine, and where that is kept."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

pytest.importorskip("lsmsim", reason="the native core is not built here")

from fakes.entries import replaced
from fakes.libraries import put
from fakes.machines import keep_machine, on, planted
from lsmtune.api.doctor import calibrate
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import EngineFacts
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.simulator import Measured, Run, RunningStore, fitted_constants, load_machine, predict
from lsmtune.simulator.native import default_constants
from lsmtune.store.home import Home
from lsmtune.study import calibration
from lsmtune.study.calibration import calibrated
from lsmtune.system.host import describe_host
from lsmtune.testing.scripted import ScriptedEngine
from lsmtune.trials import Status, TrialResult
from lsmtune.workloads import Workload


@pytest.mark.slow
def test_short_runs_tell_how_fast_the_machine_is(tmp_path: Path) -> None:
    real = planted(writer=1.6, background=0.6, zlib=1.5)
    machine = calibrated(on(real), tmp_path, lambda _: None)
    knobs = {"write_buffer_size": 1 << 20, "max_bytes_for_level_base": 4 << 20}
    load, knobs = Workload(num=200_000, value_size=1024), {**knobs, "compression_type": "zlib"}
    runs = [Run(load, knobs, seed) for seed in range(1, 10)]

    def typical(constants: dict[str, Any] | None) -> dict[str, float]:
        predicted = [told.metrics for told in predict(runs, constants)]
        return {name: median(each[name] for each in predicted) for name in ("total_s", "cpu_s")}

    truth = typical(real)
    assert typical(machine.constants) == pytest.approx(truth, rel=0.1)
    assert typical(None)["cpu_s"] != pytest.approx(truth["cpu_s"], rel=0.2)


def test_a_trial_of_a_running_store_tells_how_fast_the_machine_is() -> None:
    knobs = {"write_buffer_size": 1 << 20, "max_bytes_for_level_base": 4 << 20}
    store = RunningStore(knobs, rate=3000, turn_over=1, capacity_s=3, calm_s=2, window_s=6)
    load = Workload(name="overwrite", num=50_000, value_size=1024)
    run = Run(load, knobs, running=store)

    def told(constants: dict[str, Any] | None) -> dict[str, float]:
        (predicted,) = predict([run], constants)
        return {name: predicted.metrics[name] for name in ("capacity_ops_s", "cpu_us_per_op")}

    slow = told(planted(writer=2.0, background=2.0, zlib=2.0))
    fitted = fitted_constants([Measured(run, slow)], 2)
    assert told(fitted) == pytest.approx(slow, rel=0.15)
    assert told(None)["capacity_ops_s"] > 1.4 * slow["capacity_ops_s"]


def test_a_run_that_fails_is_told(tmp_path: Path) -> None:
    failing = ScriptedEngine(lambda _: TrialResult(status=Status.CRASHED, reason="it fell"))
    with pytest.raises(LsmtuneError, match="it fell"):
        calibrated(failing, tmp_path, lambda _: None)


def test_what_was_calibrated_counts_on_that_machine_alone(tmp_path: Path) -> None:
    file, host = tmp_path / "machine.json", describe_host()
    assert load_machine(file, host) is None
    assert load_machine(keep_machine(file), host) is not None
    assert load_machine(keep_machine(file, logical_cpus=999), host) is None


def test_a_home_with_nothing_but_the_calibration_can_be_used(tmp_path: Path) -> None:
    keep_machine(tmp_path / "machine.json")
    with Home(tmp_path, create=True) as home:
        assert load_machine(home.machine_path, describe_host()) is not None


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text("{ no json")
    with pytest.raises(UserError, match=r"machine\.json: .*--calibrate"):
        load_machine(file, describe_host())


@pytest.mark.parametrize(
    ("name", "value"),
    [("put_s", None), ("put_s", "x"), ("put_s", -1.0), ("put_s", float("nan")),
     ("put_s", 10**400), ("cores", True),
     ("codecs", None), ("codecs", 3), ("codecs", {"snappy": {"compress_s_per_byte": 1e-9}})],
)  # fmt: skip
def test_a_file_with_an_unusable_constant_is_told(tmp_path: Path, name: str, value: object) -> None:
    constants = {**default_constants(), name: value}
    if value is None:
        del constants[name]
    file = keep_machine(tmp_path / "machine.json", constants=constants)
    with pytest.raises(UserError, match=rf"machine\.json: .*{name}.*--calibrate"):
        load_machine(file, describe_host())


class OfVersion(ScriptedEngine):
    """RocksDB of a version whose runs fail, and say the version."""

    def __init__(self, version: str) -> None:
        super().__init__(lambda _: TrialResult(status=Status.CRASHED, reason=version))
        self._version = version

    def describe(self, workdir: Path) -> EngineFacts:
        """The version."""
        return replace(super().describe(workdir), version=self._version)


def test_a_new_study_and_a_calibration_run_the_same_rocksdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    put(tmp_path / "cache", "11.8.1")
    monkeypatch.setitem(
        ENGINES, "rocksdb", replaced("rocksdb", lambda spec: OfVersion(spec.rocksdb or "7.8.3"))
    )
    for program, version in ((None, "11.8.1"), ("db_bench", "7.8.3")):
        assert calibrate(program, tmp_path / "home").detail.endswith(version)


@pytest.mark.slow
def test_doctor_keeps_it_in_the_home_and_simulate_takes_it_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def simulated_cpu_s() -> tuple[float, str]:
        assert run(["simulate", "--json", "--num", "50000", "--home", str(tmp_path)]) == 0
        told = capsys.readouterr()
        return json.loads(told.out)["metrics"]["cpu_s"], told.err

    guessed_s, said = simulated_cpu_s()
    assert "--calibrate" in said
    slow = planted(writer=2.0, background=2.0, zlib=2.0)
    monkeypatch.setattr(calibration, "_RECORDS", 20_000)
    monkeypatch.setenv("PATH", str(tmp_path))  # no other engine is found and started
    monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", lambda _: on(slow)))
    assert run(["doctor", "--calibrate", "--json", "--home", str(tmp_path)]) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    assert [c["ok"] for c in told["checks"] if c["name"] == "calibration"] == [True]
    calibrated_s, said = simulated_cpu_s()
    assert "--calibrate" not in said
    assert calibrated_s == pytest.approx(2 * guessed_s, rel=0.15)
