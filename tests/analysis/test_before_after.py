"""BEFORE and AFTER: what got better, and when two LOGs cannot be compared."""

from dataclasses import replace
from pathlib import Path

from lsmtune.analysis.inspect.before_after import compare, compared_document
from lsmtune.analysis.inspect.read import inspect_path

PLANTED = Path(__file__).parents[1] / "data" / "planted"
HEALTHY = inspect_path(PLANTED / "healthy.LOG.gz")


def test_a_log_and_itself_are_unchanged() -> None:
    found = compare(HEALTHY, HEALTHY)
    assert found.comparable
    assert not found.options
    assert {judged.verdict for judged in found.metrics.values()} == {"unchanged"}


def test_less_write_amplification_is_better_and_more_is_worse() -> None:
    steady = replace(HEALTHY, dumps=())
    amplification = HEALTHY.totals.write_amp or 0
    higher = replace(steady, totals=replace(steady.totals, write_amp=2 * amplification))
    assert compare(higher, steady).metrics["write_amp"].verdict == "better"
    assert compare(steady, higher).metrics["write_amp"].verdict == "worse"
    # Between its dumps, the write amplification of this short LOG changed more than that.
    noisy = replace(higher, dumps=HEALTHY.dumps)
    assert compare(noisy, HEALTHY).metrics["write_amp"].verdict == "unchanged"


def test_another_workload_is_not_compared() -> None:
    other = inspect_path(PLANTED / "memtable.LOG.gz")
    found = compare(other, HEALTHY)
    assert not found.comparable
    assert any("reads" in reason for reason in found.why)
    assert {judged.verdict for judged in found.metrics.values()} == {"not_comparable"}
    assert "write_buffer_size" in found.options
    assert compared_document(found)["comparable"] is False
