"""Designs for screenings: points spread over a whole knob space."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config

DesignName = Literal["random", "latin", "sobol"]


def design_configs(space: KnobSpace, name: DesignName, count: int, seed: int) -> list[Config]:
    """Return `count` legal configs of the space, spread by the design.

    random   independent points
    latin    Latin hypercube: `count` equal slices per knob, one point in each
    sobol    scrambled Sobol sequence: evenly spread; more points extend fewer

    If rules between knobs forbid a point, the nearest legal config replaces it.
    """
    return [space.at(point) for point in _points(len(space.knobs), name, count, seed)]


def _points(dimensions: int, name: DesignName, count: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    if name == "random":
        return rng.random((count, dimensions))
    from scipy.stats import qmc  # noqa: PLC0415 - every command would wait a second for it

    if name == "latin":
        return qmc.LatinHypercube(dimensions, rng=rng).random(count)
    # Sobol points keep their balance in powers of two; drawn so, fewer are a beginning of more.
    exponent = max(0, count - 1).bit_length()
    return qmc.Sobol(dimensions, rng=rng).random_base2(exponent)[:count]
