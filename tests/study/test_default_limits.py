"""Default limits of a load of writes on each engine: all of their metrics are measured."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines.measured_names import EMBEDDED, MYROCKS
from fakes.rig import Rig
from fakes.studies import open_study
from fakes.tikv_site import site
from lsmtune.engines.base import Engine
from lsmtune.engines.registry import engine_of
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import complete_trials
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

pytestmark = pytest.mark.usefixtures("crowd")
SETTINGS: dict[str, Any] = {
    "study": "s", "optimizer": "random", "trials": 1, "base_runs": 1, "repeats": 0, "pairs": 6,
    "max_pairs": 6, "early_stop": False, "workload": {"name": "fillrandom", "num": 20_000},
    "protocol": {"probe_reads": 100, "quiet_s": 0.05},
}  # fmt: skip


def check_verified(home: Home, spec: StudySettings, engine: Engine) -> None:
    """Open a study, measure the baseline and a trial, and verify the trial."""
    with open_study(home, spec, engine, lambda _: None) as study:
        run_search(study)
        *_, trial = complete_trials(study.trials(), Role.TRIAL)
        verdict = verify(study, spec.scale, spec.workload, trial.number)
    limits = {limit.metric for limit in study.objective.limits}
    assert {"live_sst_bytes", "throughput_ops_s"} < limits
    assert len(verdict.limits) == len(limits)
    assert all(check.state != "unknown" for check in verdict.limits)


def made(**changes: Any) -> StudySettings:
    return make_spec({**SETTINGS, "knobs": "write_buffer_size", **changes}, "here")


def measured_once(spec: StudySettings, folder: Path) -> ScriptedEngine:
    """An engine whose runs give what one run of the real engine has measured."""
    result = Rig(spec.program, folder, spec).run(workload=spec.workload).result
    assert result.status is Status.COMPLETE, result.reason
    return ScriptedEngine(lambda _: result, spec.engine)


@pytest.mark.slow
@pytest.mark.db_bench
def test_default_limits_on_db_bench_are_measured(home: Home, tmp_path: Path) -> None:
    spec = made(program="db_bench")
    check_verified(home, spec, measured_once(spec, tmp_path))


@pytest.mark.slow
def test_default_limits_on_a_library_are_measured(
    home: Home, tmp_path: Path, installed: Path
) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    spec = made(library=str(next(installed.rglob("librocksdb.so"))))
    check_verified(home, spec, measured_once(spec, tmp_path))


def test_default_limits_on_the_simulator_are_measured(home: Home) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    spec = made(engine="simulated", knobs="core")
    check_verified(home, spec, engine_of(spec))


def test_default_limits_on_tikv_are_measured(home: Home, tmp_path: Path) -> None:
    with site(tmp_path / "site") as place:
        given = place.study("writeheavy", memory="16GiB", objective="throughput_ops_s")
        spec = make_spec({**SETTINGS, **given}, "here")
        engine = measured_once(spec, tmp_path)
    check_verified(home, spec, engine)


def scripted(names: frozenset[str]) -> Callable[[TrialSpec], TrialResult]:
    """A script whose runs have these metrics and no others."""
    result = measured()
    assert result.measurement is not None
    metrics = {name: value for name, value in result.metrics.items() if name in names}
    only = result.measurement.model_copy(update={"metrics": metrics})
    return lambda _: result.model_copy(update={"measurement": only})


@pytest.mark.parametrize(
    ("engine", "knobs", "names"), [("myrocks", "mixed", MYROCKS), ("embedded", "all", EMBEDDED)]
)
def test_default_limits_on_the_metrics_of_an_engine_are_measured(
    home: Home, engine: str, knobs: str, names: frozenset[str]
) -> None:
    """MyRocks and the embedded stores may not be installed.

    The tests of these engines show that they measure the metrics.
    """
    spec = made(engine=engine, knobs=knobs, objective="total_s")
    check_verified(home, spec, ScriptedEngine(scripted(names), engine))
