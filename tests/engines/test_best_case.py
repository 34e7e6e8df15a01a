"""Bounds of a running trial hold on real runs, and a trial without hope is cut."""

import pytest

from fakes.rig import Rig
from fakes.traces import processes_of
from lsmtune.engines.base import Watch
from lsmtune.engines.rocksdb.best_case import BestCase, SoFar
from lsmtune.knobs.types import Settings
from lsmtune.metrics.definitions import METRICS
from lsmtune.trials import Status
from lsmtune.workloads import Workload

pytestmark = [pytest.mark.db_bench, pytest.mark.slow]

STRONG: Settings = {"compression_type": "zlib", "block_size": 16384}
"""What makes the tables as small as any codec can."""


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Rig:
    return Rig("db_bench", tmp_path_factory.mktemp("db_bench"))


@pytest.mark.parametrize(
    ("name", "num", "changes"),
    [("fillrandom", 40_000, {}), ("fillrandom", 30_000, STRONG), ("fillseq", 40_000, STRONG),
     ("overwrite", 20_000, STRONG), ("readrandom", 40_000, {}),
     ("readrandomwriterandom", 40_000, {})],
)  # fmt: skip
def test_no_metric_comes_out_better_than_its_bound(
    rig: Rig, name: str, num: int, changes: Settings
) -> None:
    seen: list[dict[str, float]] = []

    def collect(bounds: dict[str, float]) -> None:
        seen.append(dict(bounds))

    watch = Watch(lambda phase: None, collect)  # type: ignore[arg-type]
    load = Workload(name=name, num=num)
    result = rig.run({**rig.base, **changes}, load, watch).result
    assert result.status is Status.COMPLETE, result.reason
    assert seen
    for bounds in seen:
        for metric, bound in bounds.items():
            reached = result.metrics[metric]
            lower_is_better = METRICS[metric].better == "lower"
            assert bound <= reached if lower_is_better else reached <= bound, metric


def test_the_space_bound_is_near_what_the_strongest_codec_reaches(rig: Rig) -> None:
    load = Workload(num=20_000)
    live = rig.run({**rig.base, **STRONG}, load).result.metrics["live_sst_bytes"]
    least = BestCase(load).least_live_bytes()
    assert least is not None
    assert 0.6 * live < least < live


def test_a_trial_without_hope_is_cut_and_keeps_its_bounds(rig: Rig) -> None:
    watch = Watch(
        lambda phase: None,
        lambda bounds: "too slow" if bounds["load_s"] > 0.1 else None,
    )
    outcome = rig.run(workload=Workload(num=2_000_000), watch=watch)
    assert outcome.result.status is Status.CUT
    assert outcome.result.reason == "too slow"
    assert outcome.result.bounds["load_s"] > 0.1
    assert {"load-stdout.txt", "LOG", "OPTIONS"} <= set(outcome.evidence)
    assert processes_of(rig.folder) == []


def test_time_is_no_bound_before_the_load_has_surely_begun() -> None:
    bounds = BestCase(Workload(num=1000)).bounds(SoFar(0.4, 0.4, 0, 0))
    assert bounds["load_s"] == bounds["total_s"] == 0
    assert "throughput_ops_s" not in bounds
