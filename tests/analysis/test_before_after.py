"""BEFORE and AFTER: what got better, and when two LOGs cannot be compared."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsmtune.analysis.inspect.before_after import (
    Judgement,
    compare,
    compare_sides,
    compared_document,
)
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.cli.before_after_lines import compared_lines

PLANTED = Path(__file__).parents[1] / "data" / "planted"
HEALTHY = inspect_path(PLANTED / "healthy.LOG.gz")


def with_write_amp(times: float) -> Inspection:
    """Return the LOG with this multiple of its write amplification."""
    amplification = times * (HEALTHY.totals.write_amp or 0)
    return replace(HEALTHY, totals=replace(HEALTHY.totals, write_amp=amplification))


def test_a_log_and_itself_have_no_change() -> None:
    found = compare(HEALTHY, HEALTHY)
    assert found.comparable
    assert not found.options
    assert {judged.verdict for judged in found.metrics.values()} == {"one_run_each"}
    assert not any(judged.direction(name) for name, judged in found.metrics.items())


@pytest.mark.parametrize(
    ("times", "direction"), [(2.0, "worse"), (0.5, "better"), (1.05, None), (0.95, None)]
)
def test_one_log_each_proves_nothing_but_has_a_direction(
    times: float, direction: Judgement | None
) -> None:
    """Two runs of one store differ too, in ways that the dumps of one LOG do not show."""
    judged = compare(HEALTHY, with_write_amp(times)).metrics["write_amp"]
    assert judged.verdict == "one_run_each"
    assert judged.direction("write_amp") == direction


def test_several_logs_per_side_have_a_verdict() -> None:
    low, high = ([with_write_amp(times + at / 100) for at in range(3)] for times in (1.0, 2.0))
    assert compare_sides(high, low).metrics["write_amp"].verdict == "better"
    assert compare_sides(low, high).metrics["write_amp"].verdict == "worse"
    assert compare_sides(low, low).metrics["write_amp"].verdict == "unchanged"


def test_the_first_line_names_what_changed_and_how_sure_that_is() -> None:
    first = next(compared_lines(compare(HEALTHY, with_write_amp(2.0))))
    assert "write_amp" in first
    assert "one run each" in first
    assert "stall_percent" not in first
    several = [with_write_amp(1.0 + at / 100) for at in range(3)]
    worse = [with_write_amp(2.0 + at / 100) for at in range(3)]
    assert "worse: write_amp" in next(compared_lines(compare_sides(several, worse)))


def test_tickers_without_a_time_are_compared_per_byte_with_a_note(tmp_path: Path) -> None:
    text = "rocksdb.bytes.written COUNT : 1000000000\n"
    text += "rocksdb.flush.write.bytes COUNT : 1000000000\n"
    text += "rocksdb.number.keys.written COUNT : 9000000\nrocksdb.compact.write.bytes COUNT : {}\n"
    logs = []
    for name, written in (("before", 4_000_000_000), ("after", 1_000_000_000)):
        (tmp_path / name).write_text(text.format(written))
        logs.append(inspect_path(tmp_path / name))
    found = compare(*logs)
    assert found.comparable
    assert found.metrics["write_amp"].values.ratio == pytest.approx(0.4)
    assert found.metrics["write_amp"].verdict == "one_run_each"
    assert any("rate of writes" in note for note in found.notes)
    timed = compare(logs[0], HEALTHY)
    assert any("one side" in why for why in timed.why)


def test_another_workload_is_not_compared() -> None:
    other = inspect_path(PLANTED / "memtable.LOG.gz")
    found = compare(other, HEALTHY)
    assert not found.comparable
    assert any("reads" in reason for reason in found.why)
    assert {judged.verdict for judged in found.metrics.values()} == {"not_comparable"}
    assert "write_buffer_size" in found.options
    assert compared_document(found)["comparable"] is False


def rates(ratio: float, stalls: float) -> tuple[Judgement, Judgement | None]:
    """Return the verdict on writes and its direction.

    `ratio` is their rate after / before, the stalls are in %.
    """
    before = replace(HEALTHY, dumps=(), totals=replace(HEALTHY.totals, stall_percent=10.0))
    load = replace(before.load, writes_s=ratio * (before.load.writes_s or 0))
    after = replace(before, load=load, totals=replace(before.totals, stall_percent=stalls))
    judged = compare(before, after).metrics["writes_s"]
    return judged.verdict, judged.direction("writes_s")


def test_a_rate_of_writes_is_judged_if_stalls_agree() -> None:
    assert rates(0.7, 30.0) == ("one_run_each", "worse")
    assert rates(1.5, 2.0) == ("one_run_each", "better")
    assert rates(0.95, 30.0) == ("one_run_each", None)
    assert rates(3.0, 2.0) == ("not_comparable", None)


def test_a_program_may_have_written_less_or_more() -> None:
    assert rates(0.7, 10.0) == ("depends_on_program", None)
    assert rates(0.7, 2.0) == ("depends_on_program", None)
    assert rates(1.5, 30.0) == ("depends_on_program", None)


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
