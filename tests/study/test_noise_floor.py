"""The noise of the baseline against itself is known before the search."""

from collections.abc import Iterator
from math import exp, sqrt
from pathlib import Path

import pytest

from fakes.entries import replaced
from fakes.remarks import Remarks
from fakes.studies import open_study
from lsmtune.api.resolve import Resolved
from lsmtune.api.tune import tune
from lsmtune.engine_traits import ENGINES
from lsmtune.report.text.baseline_text import measured_lines
from lsmtune.spec import StudySettings
from lsmtune.stats import half_width
from lsmtune.store.home import Home
from lsmtune.study.baselines import Floor, measure_baseline, noise_floor
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec

NOISY = (2000.0, 3300.0, 5500.0)
"""Throughputs of one config of a real TiKV under small loads, in operations per second."""


def engine(values: tuple[float, ...]) -> ScriptedEngine:
    """An engine whose runs have these throughputs, the last one from then on."""
    left = iter(values)

    def script(spec: TrialSpec) -> TrialResult:
        return measured(throughput_ops_s=next(left, values[-1]))

    return ScriptedEngine(script)


def spec(**changes: object) -> StudySettings:
    load = {"name": "fillrandom", "num": 20_000}
    given = {"study": "s", "objective": "throughput_ops_s", "workload": load}
    given |= {"trials": 1, "repeats": 0, "pairs": 0}
    return StudySettings.model_validate({**given, **changes})


@pytest.fixture
def home(tmp_path: Path, own_host: Path) -> Iterator[Home]:
    with Home(tmp_path / "home", create=True) as opened:
        yield opened


def floors(home: Home, values: tuple[float, ...], **changes: object) -> dict[str, Floor]:
    found = spec(base_runs=len(values), **changes)
    with open_study(home, found, engine(values), lambda _: None) as study:
        measure_baseline(study)
        return {floor.metric: floor for floor in noise_floor(study)}


def test_the_floor_is_what_pairs_of_the_baseline_cannot_tell(home: Home) -> None:
    found = floors(home, NOISY, pairs=6, max_pairs=12)["throughput_ops_s"]
    assert (found.runs, found.low, found.high, found.pairs) == (3, 2000, 5500, 12)
    # the standard deviation of the logs of the three values is 0.506
    assert found.factor == pytest.approx(exp(half_width(sqrt(2) * 0.506, 12)), rel=0.01)


def test_a_quiet_baseline_has_a_low_floor(home: Home) -> None:
    found = floors(home, (1000.0, 1001.0, 999.0))["throughput_ops_s"]
    assert found.factor is not None
    assert found.factor < 1.01


def test_the_metrics_of_the_objective_have_a_floor(home: Home) -> None:
    found = floors(home, NOISY, objective="balanced")
    assert found.keys() == {"write_amp", "live_sst_bytes", "total_s", "throughput_ops_s"}


def test_one_run_tells_no_noise(home: Home) -> None:
    found = floors(home, (1000.0,))["throughput_ops_s"]
    assert found.factor is None
    assert "base_runs" in measured_lines([], [found])[0]


def test_it_is_told_before_the_search(
    tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observer = Remarks()
    monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", lambda _: engine((*NOISY, 1000.0))))
    tune(Resolved(spec(base_runs=3)), tmp_path / "home", observer)
    told = observer.remarks
    noise = [place for place, line in enumerate(told) if line.startswith("noise: throughput_ops_s")]
    ended = [place for place, line in enumerate(told) if line.startswith("search ended")]
    assert len(noise) == len(ended) == 1
    assert noise < ended
    assert "2,000" in told[noise[0]].replace("2000", "2,000")
