"""What a store that was told not to compact still has to do, in the metrics of its trial."""

import pytest

from lsmtune.engines.debt import Debt, charged, debt_of, owing, paying
from lsmtune.metrics.definitions import with_formulas
from lsmtune.metrics.log_jobs import Job

MEASURED = {
    "write_amp": 0.5, "wal_inclusive_write_amp": 1.5, "flush_write_bytes": 500.0,
    "compact_write_bytes": 0.0, "load_s": 10.0, "settle_s": 1.0,
    "throughput_ops_s": 100.0, "build_s": 3.0,
}  # fmt: skip
DEBT = Debt(seconds=4.0, write_bytes=1500, read_bytes=1600, jobs=3, jobs_s=5.0)


def job(kind: str, started_s: float, finished_s: float) -> Job:
    micros = (round(started_s * 1e6), round(finished_s * 1e6))
    return Job(kind, "default", None, *micros, read_bytes=30, table_bytes=20)  # type: ignore[arg-type]


def test_the_debt_is_that_of_the_compactions_from_the_first_to_the_last() -> None:
    jobs = [job("flush", 1, 20), job("compaction", 2, 5), job("compaction", 4, 9)]
    assert debt_of(jobs) == Debt(7.0, write_bytes=40, read_bytes=60, jobs=2, jobs_s=8.0)
    assert debt_of([]) == Debt(0.0, 0, 0, 0, 0.0)


def test_writes_are_charged_with_it_but_were_as_fast_as_they_were() -> None:
    found = charged(MEASURED, DEBT, to_build=False)
    assert found["write_amp"] == pytest.approx(2.0)
    assert found["wal_inclusive_write_amp"] == pytest.approx(3.0)
    assert found["compact_write_bytes"] == 1500
    assert found["settle_s"] == 5.0
    assert with_formulas(found)["sustained_ops_s"] == pytest.approx(1000 / 15)
    unchanged = ("throughput_ops_s", "load_s", "build_s", "flush_write_bytes")
    assert {n: found[n] for n in unchanged} == {n: MEASURED[n] for n in unchanged}
    assert found.keys() == MEASURED.keys()


def test_of_reads_it_is_the_buildings() -> None:
    found = charged(MEASURED, DEBT, to_build=True)
    assert found["write_amp"] == pytest.approx(2.0)
    assert found["build_s"] == 7.0
    assert found["settle_s"] == MEASURED["settle_s"]


def test_a_store_owes_in_each_family_that_does_not_compact() -> None:
    settings = {"a.disable_auto_compactions": True, "b.disable_auto_compactions": False, "c": True}
    assert owing(settings) == {"a.disable_auto_compactions"}
    assert paying(settings) == {**settings, "a.disable_auto_compactions": False}
    assert not owing({"disable_auto_compactions": False})


def test_who_owes_nothing_is_charged_nothing() -> None:
    """As most loads that only read, those whose building flushed nothing among them."""
    unwritten = {**MEASURED, "write_amp": 0.0, "flush_write_bytes": 0.0}
    for metrics in (MEASURED, unwritten, {"get_mean_us": 5.0}):
        assert charged(metrics, debt_of([job("flush", 1, 2)]), to_build=True) == metrics


def test_without_any_write_before_it_debt_is_charged_but_amplifies_nothing() -> None:
    unwritten = {**MEASURED, "write_amp": 0.0, "flush_write_bytes": 0.0}
    found = charged(unwritten, DEBT, to_build=False)
    assert found["write_amp"] == 0.0
    assert (found["compact_write_bytes"], found["settle_s"]) == (1500, 5.0)
