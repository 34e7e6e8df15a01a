"""Expected number of different keys that skewed writes touch."""

from math import exp, expm1, log, log1p

_SLICES = 1000
"""Number of groups of keys with similar probability. The error is then far below 1 %."""


def skewed_keys(num: int, writes: int, skew: float) -> float:
    """Return the expected number of different keys among the writes to `num` keys.

    A write goes to the key with the rank num x e^-r, with r uniform from 0 to `skew`.
    """
    last = min(skew, log(num))
    width = last / _SLICES
    ranks = (num * exp(-(place + 0.5) * width) for place in range(_SLICES))
    found = sum(rank * width * _touched(1 / (skew * rank), writes) for rank in ranks)
    # All ranks below 1 are one key.
    return found + (_touched(1 - last / skew, writes) if skew > last else 0.0)


def _touched(probability: float, writes: int) -> float:
    """Return the probability that at least one of the writes goes to a key."""
    if probability >= 1:
        return 1.0
    return -expm1(writes * log1p(-probability))
