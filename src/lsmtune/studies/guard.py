"""The guard of online tuning: whether a change to a running store may stay.

Judged by equal windows of time: some before the change, some under it, some after it was taken
back. Only a change that beats both sides stays, so that a load which speeds up by itself does
not pass for a gain.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import exp, fsum, log, sqrt

import numpy as np
from scipy.stats import t as student

from lsmtune.engines.base import Window
from lsmtune.learning.factors import Floats
from lsmtune.objective import gain_ratio
from lsmtune.stats import Interval

LOSS = 1.05
"""A change whose interval shows a loss of as much is taken back at once."""
FEWEST = 3
"""Windows on either side from which a loss is told."""
_SHIFT = 1.25
"""A trait of the load that changes by more than this factor is another load."""
_CONFIDENCE = 0.95


class Judgement(StrEnum):
    """What becomes of a change."""

    KEPT = "kept"
    LOST = "taken back: it lost"
    NOT_SHOWN = "taken back: no gain was shown"
    SHIFTED = "taken back: the load has shifted"
    REFUSED = "refused by the store"


def cost_ratio(metric: str, after: Sequence[Window], before: Sequence[Window]) -> Interval:
    """The metric after / before, turned so that below 1 is better: Welch's interval on the logs.

    Both have at least two windows.
    """
    later, earlier = (
        np.array([log(gain_ratio(metric, window.metrics[metric], 1.0)) for window in windows])
        for windows in (after, before)
    )
    return _difference(later, earlier)


def _difference(after: Floats, before: Floats) -> Interval:
    parts = [float(values.var(ddof=1)) / len(values) for values in (after, before)]
    error = sqrt(fsum(parts))
    centre = float(after.mean() - before.mean())
    if error == 0:
        return Interval(exp(centre), exp(centre), exp(centre))
    freedom = fsum(parts) ** 2 / fsum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (after, before), strict=True)
    )
    half = float(student.ppf((1 + _CONFIDENCE) / 2, freedom)) * error
    return Interval(exp(centre), exp(centre - half), exp(centre + half))


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
        ratio = _difference(np.log(later), np.log(earlier))
        if ratio.low > _SHIFT or ratio.high < 1 / _SHIFT:
            return f"{name.replace('_', ' ')} is {ratio.median:.2f} x what it was"
    return None
