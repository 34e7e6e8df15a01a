"""What a model expects of a point that has not been tried."""

import numpy as np
from scipy.stats import norm

from lsmtune.learning.factors import Floats

_LEAST_SD = 1e-12


def expected_improvement(best: float, mean: Floats, sd: Floats) -> Floats:
    """By how much each point is expected to lie below the best; where it lies above, by nothing.

    Mean and standard deviation are the model's at each point (Jones, Schonlau, Welch 1998).
    """
    wide = np.maximum(sd, _LEAST_SD)
    below = (best - mean) / wide
    return np.asarray(wide * (below * norm.cdf(below) + norm.pdf(below)))
