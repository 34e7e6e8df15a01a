"""Whether runs wrote enough data to measure write amplification."""

from collections.abc import Iterable

from lsmtune.knobs.constraints import FEWEST_FLUSHES
from lsmtune.objective import Metrics


def too_few_flushes(runs: Iterable[Metrics]) -> int:
    """Return the number of runs whose write amplification cannot be measured.

    These runs wrote, but flushed their memtables fewer than 8 times.
    """
    return sum(run.get("flushes", FEWEST_FLUSHES) < FEWEST_FLUSHES for run in runs)


def flushes_text(few: int, runs: int) -> str:
    """Return the warning about runs with too few flushes."""
    return (
        f"Write amplification is not measurable in {few} of {runs} runs: these runs flushed their "
        f"memtables fewer than {FEWEST_FLUSHES} times. Use more records."
    )
