"""Sentences and table of a simplification: what was taken back, and what each change brings."""

from collections.abc import Iterator
from math import log

from lsmtune.analysis.simplification import Needed, Simplification
from lsmtune.report.text.words import Ratio, counted, listed
from lsmtune.study.ranking import LEAST_KEPT_GAIN

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
        matter = "matters" if len(found.taken_back) == 1 else "matter"
        left = f" What is left keeps {kept}." if kept else ""
        yield (
            f"Trial {found.simple} is trial {found.raw} without {count} that {matter} little: "
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
    text = (
        f"With all of these changes, the objective was {Ratio(found.value)} the baseline in the "
        "runs of the simplification; below 1 is better. Each row is without one of them."
    )
    if not has_shares(found):
        return (
            f"{text} The gain in these runs is not larger than their noise, so no row has a share."
        )
    return (
        f"{text} A share is the part of the gain that is lost then. Shares need not add up to "
        "100 %, because changes can need or replace each other."
    )


def has_shares(found: Simplification) -> bool:
    """Return whether the gain in the runs is large enough for shares of it."""
    return any(part.share is not None for part in found.needed)


def shares(found: Simplification, part: Needed) -> tuple[float, float, float]:
    """Return the share of a change in percent, with the ends of its 95 % interval."""
    whole, values = log(found.value), (part.value.median, part.value.low, part.value.high)
    middle, *ends = (100 * (1 - log(value) / whole) for value in values)
    return middle, min(ends), max(ends)


def needed_lines(found: Simplification) -> list[str]:
    """Return a line per change: the objective with it and without it."""
    return [
        f"{', '.join(part.names)}: without it ({counted(part.runs, 'run')}): "
        f"{Ratio(found.value)} becomes {Ratio.of(part.value)}"
        + ("" if part.share is None else f", {100 * part.share:.0f} % of the gain")
        for part in found.needed
    ]
