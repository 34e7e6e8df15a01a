"""BEFORE and AFTER: what got better, and when two LOGs cannot be compared."""

from dataclasses import replace
from pathlib import Path

from lsmtune.analysis.inspect.before_after import Judgement, compare, compared_document
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.cli.before_after import compared_lines

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


def rates(ratio: float, stalls: float) -> Judgement:
    """Return the verdict on writes; `ratio` is their rate after / before, the stalls are in %."""
    before = replace(HEALTHY, dumps=(), totals=replace(HEALTHY.totals, stall_percent=10.0))
    load = replace(before.load, writes_s=ratio * (before.load.writes_s or 0))
    after = replace(before, load=load, totals=replace(before.totals, stall_percent=stalls))
    return compare(before, after).metrics["writes_s"].verdict


def test_a_rate_of_writes_is_judged_if_stalls_agree() -> None:
    assert rates(0.7, 30.0) == "worse"
    assert rates(1.5, 2.0) == "better"
    assert rates(0.95, 30.0) == "unchanged"
    assert rates(3.0, 2.0) == "not_comparable"


def test_a_program_may_have_written_less_or_more() -> None:
    assert rates(0.7, 10.0) == "depends_on_program"
    assert rates(0.7, 2.0) == "depends_on_program"
    assert rates(1.5, 30.0) == "depends_on_program"


def test_options_of_one_version_only_are_counted_and_not_listed() -> None:
    """Each of the two versions has options that the other does not have."""
    old, new = (
        inspect_path(PLANTED.parent / "captured" / f"rocksdb-{version}-level" / "LOG.gz")
        for version in ("7.8.3", "11.8.1")
    )
    found = compare(old, new)
    one_sided = [name for name, texts in found.options.items() if None in texts]
    assert sum(found.one_sided) == len(one_sided) > 0
    assert found.one_sided == tuple(reversed(compare(new, old).one_sided))
    text = "\n".join(compared_lines(found))
    listed = {line.split()[0] for line in text.splitlines() if line.startswith("  ")}
    assert listed - {"option"} == set(found.options) - set(one_sided)
    assert all(f"{count} option" in text for count in found.one_sided)
    assert len(compared_document(found)["options"]) == len(found.options)
