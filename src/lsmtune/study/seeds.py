"""The workload seed of each run of a study."""

from typing import Literal

Purpose = Literal["trial", "base", "repeat", "simplify", "screen", "block", "pair"]

_FIRST: dict[Purpose, int] = {
    "trial": 0, "base": 0, "repeat": 0, "simplify": 500, "screen": 1000, "block": 1000, "pair": -1,
}  # fmt: skip
_PER_ROUND: dict[Purpose, int] = {"screen": 1_000_000, "pair": 10_007}
"""Distance of the seeds of one round from those of the next; other purposes have one round."""


def workload_seed(study_seed: int, purpose: Purpose, number: int = 0, round_: int = 0) -> int:
    """Return the workload seed of a run.

    `number` counts the runs of the purpose: baseline runs, repeats of a finalist, runs of a config
    in a simplification, configs of a screening, blocks of an experiment, pairs of a verification.
    `round_` is how many times the config of a screening ran before, or the id of the verification
    (1 or more). All trials of the search have the same seed. Stored studies need the same seeds
    again when they continue.
    """
    return study_seed + _FIRST[purpose] + round_ * _PER_ROUND.get(purpose, 0) + number
