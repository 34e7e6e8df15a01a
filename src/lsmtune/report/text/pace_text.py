"""The rate of a running store in words."""

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.pace import Pace
from lsmtune.report.text.words import number
from lsmtune.units import format_duration

_HALF = (0.45, 0.55)
_LATE = 0.02
"""A median lateness above this share of the window breaks the rate."""


def rate_text(pace: Pace) -> str:
    """Return the rate in short: `24,000 operations/s`."""
    return f"{number(pace.ops_s)} operations/s"


def pace_text(pace: Pace) -> str:
    """Return the rate, its writes, and how much of the baseline's capacity it is."""
    text = f"{rate_text(pace)} ({number(pace.written_bytes_s / 1e6)} MB/s of writes)"
    if pace.share is not None:
        is_half = _HALF[0] <= pace.share <= _HALF[1]
        share = "half" if is_half else f"{100 * pace.share:.0f} %"
        text += f", {share} of what the baseline can take here"
    return text if pace.given else f"{text}; not your rate"


def pace_sentence(pace: Pace) -> str:
    """Return what all metrics of a running store are."""
    return (
        f"All metrics are of a window of {format_duration(pace.window_s)} of a store that runs at "
        f"{pace_text(pace)}. Sizes and sorted runs are means over the window. A p50 counts from "
        "the start of an operation, and a p99 from the time at which it was due."
    )


def overload_text(claim: Claim) -> str:
    """Return that a trial cannot keep the rate, and how far it is behind."""
    pace = claim.view.shown_pace
    rate = "the rate" if pace is None else rate_text(pace)
    behind = (row.winner for row in claim.all_rows if row.metric.name == "behind_s")
    late = next(behind, None) or 0.0
    if pace is not None and late > _LATE * pace.window_s:
        return f"cannot keep {rate}: at the end {late:.2g} s behind"
    return f"cannot keep {rate}: the work that compactions owe grows"
