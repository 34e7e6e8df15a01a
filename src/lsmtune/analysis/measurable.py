"""Whether runs can be trusted: enough data for write amplification, and a quiet machine."""

from collections.abc import Iterable

from lsmtune.knobs.memory import FEWEST_FLUSHES
from lsmtune.objective import Metrics


def flushes_too_seldom(run: Metrics) -> bool:
    """Return whether the run wrote, but flushed its memtables fewer than 8 times."""
    return run.get("flushes", FEWEST_FLUSHES) < FEWEST_FLUSHES


def too_few_flushes(runs: Iterable[Metrics]) -> int:
    """Return the number of runs whose write amplification cannot be measured."""
    return sum(map(flushes_too_seldom, runs))


def flushes_text(few: int, runs: int, *, is_needed: bool = True) -> str:
    """Return the warning about runs with too few flushes.

    Without `is_needed`, no objective and no limit of the study needs the flushes.
    """
    todo = (
        "Use more records."
        if is_needed
        else "Nothing to do: objective and limits do not contain write amplification."
    )
    return (
        f"Write amplification is not measurable in {few} of {runs} runs: these runs flushed their "
        f"memtables fewer than {FEWEST_FLUSHES} times. {todo}"
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
