"""Sentences and table of a simplification: what was taken back, and what each change brings."""

from collections.abc import Iterator
from math import log

from lsmtune.analysis.simplification import Needed, Simplification
from lsmtune.report.text.metric_words import Ratio, label
from lsmtune.report.text.words import counted, listed
from lsmtune.study.ranking import LEAST_KEPT_GAIN

NEEDED_TITLE = "What changes bring"


def simplification_sentences(found: Simplification) -> Iterator[str]:
    """Yield which changes were taken back, how much of the gain is left, and why others stay."""
    if found.simple is not None:
        yield _taken_back_sentence(found)
    yield from _tested_sentences(found)
    if found.ended_early:
        then = f" `{found.command}` continues it." if found.command else ""
        yield f"The simplification ended early, because other programs disturbed the runs.{then}"


def _taken_back_sentence(found: Simplification) -> str:
    count = counted(len(found.taken_back), "change")
    loses = found.kept is not None and found.kept.median < LEAST_KEPT_GAIN
    kept = "" if found.kept is None else f"{Ratio.of(found.kept)} of its gain"
    if found.used:
        matter = "matters" if len(found.taken_back) == 1 else "matter"
        left = f" What is left keeps {kept}." if kept else ""
        return (
            f"Trial {found.simple} is trial {found.raw} without {count} that {matter} little: "
            f"{listed(list(found.taken_back))}.{left}"
        )
    return (
        f"lsmtune also verified trial {found.simple}, which is trial {found.raw} without "
        f"{count}. It is not the winner: "
        + (f"it keeps only {kept}." if loses and kept else "its gain is not proven.")
    )


def _tested_sentences(found: Simplification) -> Iterator[str]:
    """Yield how many of the changes that are left were tested alone, and why these stay."""
    tested = sum(len(part.names) for part in found.needed)
    tied = any(len(part.names) > 1 for part in found.needed)
    alone = "alone, or with those that depend on them" if tied else "alone"
    trial = found.raw if found.simple is None else found.simple
    count = counted(tested + len(found.untested), "change")
    if tested:
        yield f"lsmtune tested {tested} of the {count} of trial {trial} {alone}."
    if found.untested:
        which = counted(len(found.untested), "change") + ("" if tested else f" of trial {trial}")
        stay = "stays" if len(found.untested) == 1 else "stay"
        yield f"{which} {stay} without a complete test."
    if names := [name for part in found.needed if part.loses for name in part.names]:
        yield f"Too much of the gain is lost without {listed(names, 'or')}."
    kept: dict[tuple[str, ...], list[str]] = {}
    for part in found.needed:
        if not part.loses:
            kept.setdefault(part.limits, []).append(", ".join(part.names))
    for limits, units in kept.items():
        which = f": {listed([label(name) for name in limits])}" if limits else ""
        yield (
            f"Without {listed(units, 'or')}, the objective is about the same or better, but a "
            f"limit may break{which}."
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
