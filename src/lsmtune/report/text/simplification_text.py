"""Sentences and table of a simplification: what was taken back, and what each change brings."""

from collections.abc import Iterator
from math import log

from lsmtune.analysis.simplification import Needed, Simplification
from lsmtune.report.text.words import Ratio, counted, listed
from lsmtune.store.winner import LEAST_KEPT_GAIN

NEEDED_TITLE = "What each change brings"


def simplification_sentences(found: Simplification) -> Iterator[str]:
    """Yield which changes were taken back, and how much of the gain is left."""
    if found.simple is None:
        yield (
            f"lsmtune took back {counted(len(found.needed), 'change')} of trial {found.raw}, one "
            "at a time. None could go without a loss that matters."
        )
        return
    count = counted(len(found.taken_back), "change")
    loses = found.kept is not None and found.kept.median < LEAST_KEPT_GAIN
    kept = "" if found.kept is None else f"{Ratio.of(found.kept)} of its gain"
    if found.used:
        left = f" What is left keeps {kept}." if kept else ""
        yield (
            f"Trial {found.simple} is trial {found.raw} without {count} that matter little: "
            f"{listed(list(found.taken_back))}.{left}"
        )
    else:
        yield (
            f"lsmtune also verified trial {found.simple}, which is trial {found.raw} without "
            f"{count}. It is not the winner: "
            + (f"it keeps only {kept}." if loses and kept else "its gain is not proven.")
        )


def needed_sentence(found: Simplification) -> str:
    """Return how to read the table of the changes that are left."""
    return (
        f"With all of these changes, the objective was {Ratio(found.value)} the baseline in the "
        "runs of the simplification; below 1 is better. Each row is without one of them. A share "
        "is the part of the gain that is lost then. Shares need not add up to 100 %, because "
        "changes can need or replace each other."
    )


def shares(found: Simplification, part: Needed) -> tuple[float, float, float]:
    """Return the share of a change in percent, with the ends of its 95 % interval."""
    whole = log(found.value)
    ends = sorted(100 * (1 - log(value) / whole) for value in (part.value.low, part.value.high))
    return 100 * part.share, ends[0], ends[1]


def needed_lines(found: Simplification) -> list[str]:
    """Return a line per change: the objective with it and without it."""
    return [
        f"{', '.join(part.names)}: without it ({counted(part.runs, 'run')}): "
        f"{Ratio(found.value)} becomes {Ratio.of(part.value)}, "
        f"{100 * part.share:.0f} % of the gain"
        for part in found.needed
    ]
