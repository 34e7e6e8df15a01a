"""What a model expects of a point that has not been tried."""

import numpy as np
from scipy.special import ndtr

from lsmtune.learning.factors import Floats

_LEAST_SD = 1e-12


def expected_improvement(best: float, mean: Floats, sd: Floats) -> Floats:
    """By how much each point is expected to lie below the best; where it lies above, by nothing.

    Mean and standard deviation are the model's at each point (Jones, Schonlau, Welch 1998).
    """
    wide = np.maximum(sd, _LEAST_SD)
    below = (best - mean) / wide
    density = np.exp(-(below**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(wide * (below * ndtr(below) + density))
