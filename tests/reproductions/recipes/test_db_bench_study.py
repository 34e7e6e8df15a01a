"""Tests of the recipe db-bench-study on scripted engines with planted rates."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.studies import opener
from lsmtune.metrics.measurement import Level
from lsmtune.store.home import Home
from lsmtune.testing.scripted import measured
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune_reproductions.recipes.base import Asked
from lsmtune_reproductions.recipes.db_bench_study.numbers import (
    OTHERS,
    claims,
    of_rocksdb,
    too_small,
)
from lsmtune_reproductions.recipes.db_bench_study.recipe import answer, render_db_bench_study
from lsmtune_reproductions.recipes.db_bench_study.study import (
    COMMANDS,
    COMPRESSION,
    OPTION_NAMES,
    TREE,
    Results,
    paper,
    run,
    specs,
)

pytestmark = pytest.mark.slow

MIB = 1 << 20
SPEED = {"rocksdb": 200e3, "leveldb": 400e3, "lmdb": 100e3}
"""Planted records per second; 20,000 for MyRocks."""
RATE = {"fillseq": 500e3, "fillrandom": 100e3, "readrandom": 150e3}


def level(number: int, mib: float) -> Level:
    size = round(mib * MIB)
    return Level(
        level=f"L{number}", files=1, size_bytes=size, read_bytes=size, write_bytes=2 * size,
        w_amp_table=1.5,
    )  # fmt: skip


def planted(trial: TrialSpec) -> TrialResult:
    noise = 1 + 0.002 * (trial.seed % 5)
    store = trial.settings.get("store")
    if store is not None:
        result = measured(
            throughput_ops_s=SPEED[str(store)] * noise, get_p50_us=2.0 * noise,
            disk_bytes=(60 if store == "lmdb" else 30) * MIB * noise,
        )  # fmt: skip
        levels = () if store == "lmdb" else (level(0, 1), level(1, 20))
    elif "default.write_buffer_size" in trial.settings:
        result = measured(throughput_ops_s=20e3 * noise, get_p50_us=30.0 * noise)
        levels = (level(1, 20),)
    else:
        zlib = trial.settings["compression_type"] == "zlib"
        rate = RATE[trial.workload.name] * (0.5 if zlib else 1.0) * noise
        result = measured(throughput_ops_s=rate, get_found=0.5)
        levels = (level(1, 5), level(3 if zlib else 2, 30))
    assert result.measurement is not None
    measurement = result.measurement.model_copy(update={"levels": levels})
    return result.model_copy(update={"measurement": measurement})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("db-bench")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield run(Asked(), home, opener(home, planted))


def test_stores_are_compared_with_rocksdb(results: Results) -> None:
    wanted = {"LevelDB": 2.0, "LMDB": 0.5, "MyRocks": 0.1}
    for store in OTHERS:
        ratio = of_rocksdb(results, store, "throughput_ops_s")
        assert ratio is not None
        assert ratio.median == pytest.approx(wanted[store], rel=1e-6)


def test_expectations_are_judged_per_store(results: Results) -> None:
    slower_fill, slower_read, *expected = (claim.finding for claim in claims(results))
    assert (slower_fill, slower_read) == ("confirmed", "contradicted")
    level_db, lmdb, my_rocks = (expected[place : place + 4] for place in (0, 4, 8))
    assert level_db[0] == "contradicted"
    assert (lmdb[0], lmdb[2]) == ("confirmed", "confirmed")
    assert (my_rocks[0], my_rocks[1]) == ("confirmed", "confirmed")


def test_effects_of_both_option_groups_are_separated(results: Results) -> None:
    for name in COMMANDS:
        swept = results.parts[name].swept
        assert list(swept.factors) == [TREE, COMPRESSION]
        assert set(swept.factors.values()) == {OPTION_NAMES}
        fit = swept.metrics[0].fit
        assert fit is not None
        by_factor = dict(zip(swept.factors, fit.factors, strict=True))
        assert by_factor[COMPRESSION].contrasts[0].change.median == pytest.approx(0.5, rel=0.01)
        assert by_factor[TREE].contrasts[0].change.median == pytest.approx(1.0, rel=0.01)


def test_page_shows_the_published_output(results: Results) -> None:
    page = render_db_bench_study(results).replace("<wbr>", "").replace("\xa0", " ")
    assert answer(results)[1:] in page
    for told in ("114,478", "37,126", "6,466", "43%", "50%", "LevelDB", "LMDB", "MyRocks"):
        assert told in page
    for flag in ("writes_per_range_tombstone=5000", "threads=32", "./db_bench"):
        assert flag in page


def test_tombstones_cover_the_published_share_of_the_keys(results: Results) -> None:
    theirs = paper()
    wanted = theirs["range_tombstone_width"] / theirs["records"]
    for name in ("fillrandom", "readrandom"):
        load = specs(Asked())[name].workload
        assert load.tombstone_width is not None
        assert load.tombstone_width / load.num == pytest.approx(wanted, rel=0.01)
        assert load.tombstones == theirs["max_num_range_tombstones"]


def test_num_of_the_paper_gives_the_published_size() -> None:
    wanted = specs(Asked(num=paper()["records"]))
    assert wanted["fillrandom"].scale == "1"
    assert wanted["fillrandom"].workload.tombstone_every == 5000
    assert wanted["readrandom"].workload.operations == 1_000_000
    assert wanted["fillseq"].workload.num == 1_000_000


def test_fillseq_runs_at_its_published_size() -> None:
    assert specs(Asked())["fillseq"].workload.num == 1_000_000


def test_stores_and_myrocks_have_the_same_workload() -> None:
    wanted = specs(Asked())
    assert wanted["stores"].workload == wanted["myrocks"].workload
    assert wanted["stores"].seed == wanted["myrocks"].seed
    assert [wanted[name].engine for name in ("stores", "myrocks")] == ["embedded", "myrocks"]
    sweep = wanted["stores"].sweep
    assert sweep is not None
    assert sweep.factors["store"]["store"] == ("rocksdb", "leveldb", "lmdb")


def test_small_runs_get_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Home(tmp_path / "home", create=True) as home:
        poor = run(
            Asked(num=1000),
            home,
            opener(home, planted),
        )
    assert {claim.finding for claim in claims(poor)} == {"not judged"}
    reason = too_small(poor)
    assert reason is not None
    assert reason[1:] in render_db_bench_study(poor)
