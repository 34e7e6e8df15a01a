"""Workloads that write too little to measure write amplification are refused."""

from math import floor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.studies import open_study
from lsmtune.analysis.measurable import too_few_flushes
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import FEWEST_FLUSHES, MemoryLimit, flush_bytes, memtable_bytes
from lsmtune.knobs.types import Settings
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings
from lsmtune.store.home import Home
from lsmtune.study.enough_data import (
    check_before_run,
    check_expected_flushes,
    check_flushes,
    expected_flushes,
    per_flush,
    study_must_flush,
    sufficient,
    too_few,
)
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base
from lsmtune.workloads import Mix, Workload

SMALL = Workload(num=5000)
WRITTEN = ("write_amp",)
FULL = load("rocksdb").defaults(1)
DEFAULTS = flush_bytes(load("rocksdb").defaults(1 / 64))


@pytest.mark.parametrize(
    ("flushes", "sufficient"), [(7, 7300), (4, 15_000), (1, 50_000), (0, 50_000)]
)
def test_a_sufficient_number_is_named(flushes: int, sufficient: int) -> None:
    with pytest.raises(UserError, match=rf"^workload\.num: .* use {sufficient} or more$"):
        check_flushes(SMALL, {"flushes": flushes}, WRITTEN)


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
    base = flush_bytes({"write_buffer_size": 52_000_000, "max_write_buffer_number": 2})
    assert expected_flushes(SMALL, base) == pytest.approx(0.1)
    with pytest.raises(UserError, match=r"^workload\.num: .* use 500000 or more$"):
        check_flushes(SMALL, {"flushes": 0}, WRITTEN, base)


def test_the_flush_at_the_end_of_a_load_is_not_one_of_a_full_memtable() -> None:
    """A load that fills 0.06 memtables flushes once: at its end."""
    base = flush_bytes({"write_buffer_size": 128 << 20, "max_write_buffer_number": 3})
    load = Workload(name="mix", num=50_000, value_size=512, mix=Mix(get=0.7, put=0.3))
    before = sufficient(load, base)
    assert before == sufficient(load, base, {"flushes": 1.0})
    assert before is not None
    longer = load.model_copy(update={"num": before})
    assert (expected_flushes(longer, base) or 0) >= FEWEST_FLUSHES


def test_an_unknown_number_of_writes_is_estimated_from_the_bytes_of_a_run() -> None:
    base = flush_bytes({"write_buffer_size": 1 << 20, "max_write_buffer_number": 2})
    load = Workload(name="readwhilewriting", num=20_000)
    run = {"flushes": 1.0, "write_amp": 3.0, "flush_write_bytes": 0.5 * 2**20,
           "compact_write_bytes": 0.25 * 2**20}  # fmt: skip
    assert expected_flushes(load, base) is None
    assert sufficient(load, base, run) == 800_000


@pytest.mark.parametrize(
    ("name", "shares", "objective"),
    [("mix", {"get": 0.994, "put": 0.006}, "get_p99"), ("mix", {"scan": 0.9, "put": 0.1}, "scan"),
     ("ycsb_b", None, "get_p99_us"), ("updaterandom", None, "throughput_ops_s")],
)  # fmt: skip
def test_a_load_that_also_reads_needs_no_flushes_without_write_amplification(
    name: str, shares: dict[str, float] | None, objective: str
) -> None:
    load = Workload(name=name, num=5000, **({} if shares is None else {"mix": Mix(**shares)}))
    check_flushes(load, {"flushes": 0}, ["throughput_ops_s", "get_p999_us"])
    check_expected_flushes(load, flush_bytes(FULL), ["throughput_ops_s", "get_p999_us"])
    with pytest.raises(UserError, match=f"objective = {objective}"):
        check_flushes(load, {"flushes": 0}, ["throughput_ops_s", "write_amp"])


def test_a_load_that_writes_nothing_gets_no_number_but_another_objective() -> None:
    load = Workload(name="mix", num=5000, mix=Mix(get=1.0))
    assert sufficient(load, DEFAULTS) is None
    message = too_few(load, DEFAULTS, WRITTEN)
    assert "or more" not in message
    assert "objective = get_p99_us" in message


LOADS = st.one_of(
    st.builds(
        lambda put, **given: Workload(name="mix", mix=Mix(get=1 - put, put=put), **given),
        put=st.floats(1e-4, 1), num=st.integers(1000, 10**6), value_size=st.integers(1, 5000),
        threads=st.integers(1, 64),
    ),
    st.builds(
        Workload, name=st.sampled_from(["fillrandom", "overwrite", "updaterandom"]),
        num=st.integers(1000, 10**6), value_size=st.integers(1, 5000),
        operations=st.none() | st.integers(100, 10**6),
    ),
    st.builds(
        Workload, name=st.sampled_from(["ycsb_a", "ycsb_b", "writeheavy"]),
        num=st.integers(1000, 10**7), threads=st.sampled_from([1, 7, 64, 1024]),
    ),
)  # fmt: skip
BASES = st.builds(
    lambda size, number, merged: {
        "write_buffer_size": size, "max_write_buffer_number": number,
        "min_write_buffer_number_to_merge": merged,
    },
    size=st.integers(64 << 10, 256 << 20), number=st.integers(2, 8), merged=st.integers(1, 8),
)  # fmt: skip


@given(load=LOADS, base=BASES, real=st.floats(0.75, 3.0))
def test_the_number_that_is_asked_for_is_accepted(
    load: Workload, base: Settings, real: float
) -> None:
    """Before a run, by the dry run, and after a run that flushes `real` times as often."""
    flushed = flush_bytes(base)
    expected = expected_flushes(load, flushed)
    assert expected is not None
    run = {"flushes": floor(expected * real) + 1.0}
    if run["flushes"] >= FEWEST_FLUSHES:
        return
    enough = sufficient(load, flushed, run)
    before = sufficient(load, flushed)
    if enough is None or before is None:
        assert expected * 10**12 / load.num < FEWEST_FLUSHES * 2
        return
    key = "operations" if load.operations is not None else "num"
    for number, is_enough in ((enough, True), (before, real >= 1)):
        longer = Workload.model_validate({**load.model_dump(), key: number})
        check_expected_flushes(longer, flushed, WRITTEN)
        flushes = expected_flushes(longer, flushed)
        assert flushes is not None
        assert flushes >= FEWEST_FLUSHES
        if is_enough:
            check_flushes(longer, {"flushes": floor(flushes * real) + 1.0}, WRITTEN, flushed)


def test_a_store_without_write_amplification_needs_no_flushes() -> None:
    spec = StudySettings(engine="embedded", workload=SMALL, rocksdb="11.8.1")
    assert not study_must_flush(spec, ("disk_bytes",))
    check_before_run(spec, FULL, ("disk_bytes",))
    assert study_must_flush(StudySettings(workload=SMALL), ("live_sst_bytes",))
    with pytest.raises(UserError, match=r"^workload\.num: 5000 "):
        check_before_run(StudySettings(workload=SMALL), FULL, ("live_sst_bytes",))


@pytest.mark.usefixtures("own_host")
def test_a_load_that_surely_writes_too_little_is_refused_before_the_first_run(
    tmp_path: Path,
) -> None:
    engine = ScriptedEngine(lambda _: measured(flushes=1.0))
    mix = {"get": 0.994, "put": 0.006}
    load = Workload(name="mix", num=50_000, value_size=512, mix=Mix(**mix))
    balanced = StudySettings(study="b", workload=load, trials=1, base_runs=1)
    reading = StudySettings(
        study="r", workload=load, trials=1, base_runs=1, repeats=0, objective="throughput_ops_s",
        limits=("get_p999_us <= 1000",),
    )  # fmt: skip
    with Home(tmp_path / "home", create=True) as home:
        with (
            open_study(home, balanced, engine, lambda _: None) as study,
            pytest.raises(UserError, match=r"use \d+ or more, or .*objective = get_p99_us"),
        ):
            run_search(study)
        assert home.trials(home.study("b")) == []
        with open_study(home, reading, engine, lambda _: None) as study:
            run_search(study)
        assert len(home.trials(home.study("r"))) == 2


def test_on_tikv_a_load_that_also_reads_need_not_flush() -> None:
    reading = Workload(name="ycsb_b", num=5000)
    check_flushes(reading, {"flushes": 0}, ["throughput_ops_s"])
    with pytest.raises(UserError, match=r"^workload\.num: 5000 "):
        check_flushes(reading, {"flushes": 0}, ["throughput_ops_s", "write_amp"])
    with pytest.raises(UserError, match=r"^workload\.num: 5000 "):
        check_flushes(Workload(name="writeheavy", num=5000), {"flushes": 0}, ["throughput_ops_s"])


def test_the_parameter_that_the_user_gave_is_named() -> None:
    asked = Workload(name="overwrite", num=5000, operations=1000)
    with pytest.raises(UserError, match=r"^workload\.operations: 1000 "):
        check_flushes(asked, {"flushes": 2.0}, WRITTEN)


def test_flushes_are_estimated_before_a_run() -> None:
    assert expected_flushes(Workload(num=100_000), DEFAULTS) == pytest.approx(99, abs=1)
    half = Workload(name="mix", num=100_000, mix=Mix(get=0.5, put=0.5))
    assert expected_flushes(half, DEFAULTS) == pytest.approx(50, abs=1)
    assert expected_flushes(Workload(name="readwhilewriting"), DEFAULTS) is None
    tikv = per_flush("tikv", load("tikv").defaults(1))
    for name, share in (("ycsb_a", 0.5), ("ycsb_b", 0.05), ("writeheavy", 1 / 16)):
        bytes_written = share * 10_000_000 * Workload(name=name).record_bytes
        found = expected_flushes(Workload(name=name, num=10_000_000), tikv)
        assert found == pytest.approx(bytes_written / (128 << 20), rel=0.01)


@pytest.mark.usefixtures("own_host")
def test_tune_and_verify_refuse_and_keep_the_runs(tmp_path: Path) -> None:
    counts = iter([20.0, 20.0, 3.0, 3.0, 3.0, 3.0])
    engine = ScriptedEngine(lambda spec: measured(flushes=next(counts)))
    spec = StudySettings(study="s", base_runs=1, trials=1, repeats=0, workload=SMALL)
    with Home(tmp_path / "home", create=True) as home:
        with open_study(home, spec, engine, lambda _: None) as study:
            run_search(study)
            with pytest.raises(UserError, match="flushes"):
                verify(study, spec.scale, spec.workload, trial=1)
        fewer = spec.model_copy(update={"study": "t"})
        with (
            open_study(home, fewer, engine, lambda _: None) as study,
            pytest.raises(UserError, match="flushes"),
        ):
            run_search(study)
        assert len(home.trials(home.study("t"))) == 1


def test_runs_with_too_few_flushes_are_counted() -> None:
    assert too_few_flushes([{"flushes": 7.0}, {"flushes": 8.0}, {}]) == 1


@pytest.mark.parametrize("seed", range(20))
def test_memtables_of_searched_configs_hold_an_eighth_of_the_written_bytes(seed: int) -> None:
    spec = StudySettings(workload=Workload(num=20_000), memory="64MiB")
    space = knob_space(spec, Ground(load("rocksdb"), Base(options="", settings=FULL), 1024))
    rng = np.random.default_rng(seed)
    for config in (space.sample(rng), space.at(rng.random(len(space.knobs)).tolist())):
        assert memtable_bytes(space.settings(config)) <= 20_000 * 1040 / 8
    free = StudySettings(workload=Workload(num=20_000), memory="64MiB", knobs="jin2022")
    assert knob_space(
        free, Ground(load("rocksdb"), Base(options="", settings=FULL), 1024)
    ).memory == (MemoryLimit(64 << 20))
