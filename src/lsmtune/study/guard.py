"""The guard of online tuning: whether a change to a running store may stay.

Judged by equal windows of time: some before the change, some under it, some after it was taken
back. Only a change that beats both sides stays, so that a load which speeds up by itself does
not pass for a gain.
"""

from collections.abc import Sequence

from lsmtune.engines.base import Window
from lsmtune.objective import gain_ratio
from lsmtune.stats import Interval, unpaired_ratio_interval

LOSS = 1.05
"""A change whose interval shows a loss of as much is taken back at once."""
FEWEST = 3
"""Windows on either side from which a loss is told."""
_SHIFT = 1.25
"""A trait of the load that changes by more than this factor is another load."""


def cost_ratio(metric: str, after: Sequence[Window], before: Sequence[Window]) -> Interval:
    """The metric after / before, turned so that below 1 is better; two windows a side at least."""
    later, earlier = (
        [gain_ratio(metric, window.metrics[metric], 1.0) for window in windows]
        for windows in (after, before)
    )
    return unpaired_ratio_interval(later, earlier)


def loses(metric: str, after: Sequence[Window], before: Sequence[Window]) -> bool:
    """Whether the windows show already that the change loses."""
    if min(len(after), len(before)) < FEWEST:
        return False
    return cost_ratio(metric, after, before).low >= LOSS


def gains(metric: str, under: Sequence[Window], around: Sequence[Window]) -> bool:
    """Whether the windows under the change beat those around it."""
    return cost_ratio(metric, under, around).high < 1


def shifted(after: Sequence[Window], before: Sequence[Window]) -> str | None:
    """The trait by which the load is another one than before, in words; None while it is not."""
    for name in before[0].traits:
        later, earlier = ([w.traits[name] for w in windows if w.traits.get(name)]
                          for windows in (after, before))  # fmt: skip
        if min(len(later), len(earlier)) < FEWEST:
            continue
        ratio = unpaired_ratio_interval(later, earlier)
        if ratio.low > _SHIFT or ratio.high < 1 / _SHIFT:
            times = f"{ratio.median:.2f} ×"  # noqa: RUF001 - the usual sign
            return (
                f"the load has changed: the number of {name} is {times} the number before lsmtune "
                "changed the options"
            )
    return None
