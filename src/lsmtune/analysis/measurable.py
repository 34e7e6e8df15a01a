"""Whether runs can be trusted: enough data for write amplification, and a quiet machine."""

from collections.abc import Iterable

from lsmtune.knobs.memory import FEWEST_FLUSHES
from lsmtune.objective import Metrics

NEED_FLUSHES = frozenset({
    "write_amp", "wal_inclusive_write_amp", "w_amp_table", "disk_write_amp",
    "compact_write_bytes", "compact_read_bytes",
})  # fmt: skip
"""Metrics that depend on how many compactions ran, which is chance after a few flushes."""


def flushes_too_seldom(run: Metrics) -> bool:
    """Return whether the run wrote, but flushed its memtables fewer than 8 times."""
    return run.get("flushes", FEWEST_FLUSHES) < FEWEST_FLUSHES


def too_few_flushes(runs: Iterable[Metrics]) -> int:
    """Return the number of runs whose write amplification cannot be measured."""
    return sum(map(flushes_too_seldom, runs))


def flushes_text(few: int, runs: int) -> str:
    """Return the warning about runs with too few flushes."""
    return (
        f"Write amplification is not measurable in {few} of {runs} runs: these runs flushed their "
        f"memtables fewer than {FEWEST_FLUSHES} times. Use more records."
    )


def disturbed_text(runs: int) -> str:
    """Return the warning about runs that were disturbed and kept all the same; "" for none."""
    if not runs:
        return ""
    were = "1 run was" if runs == 1 else f"{runs} runs were"
    return (
        f"DISTURBED: {were} disturbed, by other processes or a change of the clock, and kept all "
        "the same. The times of these runs may be wrong. Stop other programs and measure again."
    )
