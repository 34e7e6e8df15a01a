"""Synthetic runs with known effects, of knobs that do nothing among others that do."""

import numpy as np

from lsmtune.learning.factors import Cell, Design, Factor, Floats

STRONG, WEAK, NAMES, CURVED = "strong", "weak", "names", "curved"
PLANTED = (STRONG, NAMES, CURVED, WEAK)
"""In the order of their shares of the variance."""
USELESS = ("many values", "few values", "useless names", "useless log")
NOISE = 0.3


def planted(runs: int, seed: int) -> tuple[Design, Floats]:
    """A design and an outcome in which the useless factors have no part."""
    rng = np.random.default_rng(seed)
    strong, weak, curved = rng.random(runs), rng.random(runs), rng.random(runs)
    names = rng.choice(["none", "fast", "slow"], runs)
    shift = {"none": 0.0, "fast": 1.0, "slow": 2.0}
    outcome = (
        10 + 6 * strong + np.array([shift[str(name)] for name in names])
        + 8 * (curved - 0.5) ** 2 + 1.0 * weak + rng.normal(0, NOISE, runs)
    )  # fmt: skip
    factors = (
        Factor(USELESS[0], cells(rng.random(runs)), ordered=True),
        Factor(STRONG, cells(strong), ordered=True),
        Factor(USELESS[1], tuple(int(x) for x in rng.integers(2, 6, runs)), ordered=True),
        Factor(NAMES, tuple(str(name) for name in names), ordered=False),
        Factor(USELESS[2], tuple(str(x) for x in rng.choice(["a", "b", "c", "d"], runs)), False),
        Factor(CURVED, cells(curved), ordered=True),
        Factor(USELESS[3], cells(10 ** rng.uniform(3, 6, runs)), ordered=True, log=True),
        Factor(WEAK, cells(weak), ordered=True),
    )
    return Design(factors), outcome


def cells(values: Floats) -> tuple[Cell, ...]:
    return tuple(float(value) for value in values)
