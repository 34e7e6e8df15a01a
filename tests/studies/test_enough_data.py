"""Workloads that write too little to measure write amplification are refused."""

from pathlib import Path

import numpy as np
import pytest

from lsmtune.analysis.measurable import too_few_flushes
from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import MemoryLimit, memtable_bytes
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySpec
from lsmtune.store.home import Home
from lsmtune.studies.enough_data import check_flushes, expected_flushes
from lsmtune.studies.study import open_study
from lsmtune.studies.verify import verify
from lsmtune.trials import Base
from lsmtune.workloads import Mix, Workload

SMALL = Workload(num=5000)
FULL = load("rocksdb").defaults(1)
DEFAULTS = load("rocksdb").defaults(1 / 64)


@pytest.mark.parametrize(
    ("flushes", "sufficient"), [(7, 7200), (4, 13_000), (1, 50_000), (0, 50_000)]
)
def test_a_sufficient_number_is_named(flushes: int, sufficient: int) -> None:
    with pytest.raises(UserError, match=rf"^workload\.num: .* use {sufficient} or more$"):
        check_flushes(SMALL, {"flushes": flushes})


@pytest.mark.parametrize(
    ("workload", "metrics"),
    [
        (SMALL, {"flushes": 8.0}),
        (SMALL, {}),  # an engine that does not count flushes
        (Workload(name="readrandom", num=5000), {"flushes": 0.0}),
    ],
)
def test_enough_or_unknown_flushes_and_reads_are_allowed(
    workload: Workload, metrics: dict[str, float]
) -> None:
    check_flushes(workload, metrics)


def test_a_baseline_that_flushes_nothing_needs_what_the_estimate_says() -> None:
    with pytest.raises(UserError, match=r"^workload\.num: .* use 500000 or more$"):
        check_flushes(SMALL, {"flushes": 0}, expected=0.1)


def test_on_tikv_a_load_that_also_reads_need_not_flush() -> None:
    reading = Workload(name="ycsb_b", num=5000)
    check_flushes(reading, {"flushes": 0}, ["throughput_ops_s"])
    with pytest.raises(UserError, match=r"^workload\.num: 5000 "):
        check_flushes(reading, {"flushes": 0}, ["throughput_ops_s", "write_amp"])
    with pytest.raises(UserError, match=r"^workload\.num: 5000 "):
        check_flushes(Workload(name="writeheavy", num=5000), {"flushes": 0}, ["throughput_ops_s"])


def test_the_parameter_that_the_user_gave_is_named() -> None:
    given = Workload(name="overwrite", num=5000, operations=1000)
    with pytest.raises(UserError, match=r"^workload\.operations: 1000 "):
        check_flushes(given, {"flushes": 2.0})


def test_flushes_are_estimated_before_a_run() -> None:
    assert expected_flushes(Workload(num=100_000), DEFAULTS) == pytest.approx(99, abs=1)
    half = Workload(name="mix", num=100_000, mix=Mix(get=0.5, put=0.5))
    assert expected_flushes(half, DEFAULTS) == pytest.approx(50, abs=1)
    assert expected_flushes(Workload(name="readwhilewriting"), DEFAULTS) is None
    tikv = load("tikv").defaults(1)
    for name, share in (("ycsb_a", 0.5), ("ycsb_b", 0.05), ("writeheavy", 1 / 16)):
        bytes_written = share * 10_000_000 * Workload(name=name).record_bytes
        found = expected_flushes(Workload(name=name, num=10_000_000), tikv)
        assert found == pytest.approx(bytes_written / (128 << 20), rel=0.01)


@pytest.mark.usefixtures("own_host")
def test_tune_and_verify_refuse_and_keep_the_runs(tmp_path: Path) -> None:
    counts = iter([20.0, 20.0, 3.0, 3.0, 3.0, 3.0])
    engine = ScriptedEngine(lambda spec: measured(flushes=next(counts)))
    spec = StudySpec(study="s", base_runs=1, trials=1, repeats=0, workload=SMALL)
    with Home(tmp_path / "home", create=True) as home:
        with open_study(home, spec, engine, lambda _: None) as study:
            study.tune()
            with pytest.raises(UserError, match="flushes"):
                verify(study, spec.scale, spec.workload, trial=1)
        fewer = spec.model_copy(update={"study": "t"})
        with (
            open_study(home, fewer, engine, lambda _: None) as study,
            pytest.raises(UserError, match="flushes"),
        ):
            study.tune()
        assert len(home.trials(home.study("t"))) == 1


def test_runs_with_too_few_flushes_are_counted() -> None:
    assert too_few_flushes([{"flushes": 7.0}, {"flushes": 8.0}, {}]) == 1


@pytest.mark.parametrize("seed", range(20))
def test_memtables_of_searched_configs_hold_an_eighth_of_the_written_bytes(seed: int) -> None:
    spec = StudySpec(workload=Workload(num=20_000), memory="64MiB")
    space = knob_space(spec, Ground(load("rocksdb"), Base(options="", settings=FULL), 1024))
    rng = np.random.default_rng(seed)
    for config in (space.sample(rng), space.at(rng.random(len(space.knobs)).tolist())):
        assert memtable_bytes(space.settings(config)) <= 20_000 * 1040 / 8
    free = StudySpec(workload=Workload(num=20_000), memory="64MiB", knobs="jin2022")
    assert knob_space(
        free, Ground(load("rocksdb"), Base(options="", settings=FULL), 1024)
    ).memory == (MemoryLimit(64 << 20))
