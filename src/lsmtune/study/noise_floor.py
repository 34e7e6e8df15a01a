"""Noise of the baseline against itself (A/A), known before a search starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

from lsmtune.objective import Metrics, log_deviation
from lsmtune.spec import MIN_PAIRS
from lsmtune.stats import half_width
from lsmtune.study.session import Session

_ALWAYS = "throughput_ops_s"


@dataclass(frozen=True, slots=True)
class Floor:
    """How much one metric differs between runs of the baseline.

    `low` and `high` are its smallest and largest value in `runs` runs. `factor` is how far the
    ratio of the baseline to itself may be off after `pairs` pairs of runs (95 % interval): 1.08
    means that no gain below 8 % can be proven. It is None if a single run tells no noise.
    """

    metric: str
    runs: int
    low: float
    high: float
    pairs: int
    factor: float | None


def noise_floor(study: Session) -> list[Floor]:
    """Return the floor of the metrics of the objective and of the throughput.

    The baseline must have been measured. `pairs` is the maximum of the study's verification, and
    6, the least of any verification, if the study verifies nothing.
    """
    runs = study.history.base_runs
    pairs = max(study.spec.pairs, study.spec.max_pairs) if study.spec.pairs else MIN_PAIRS
    names = dict.fromkeys((*study.objective.metrics, _ALWAYS))
    return [_floor(name, runs, pairs) for name in names if all(name in run for run in runs)]


def _floor(name: str, runs: Sequence[Metrics], pairs: int) -> Floor:
    values = [run[name] for run in runs]
    deviation = log_deviation(name, [runs])
    # A pair has the noise of two runs.
    factor = None if deviation is None else exp(half_width(sqrt(2) * deviation, pairs))
    return Floor(name, len(runs), min(values), max(values), pairs, factor)
