"""What an earlier study measured, as a search can use it."""

from dataclasses import dataclass

from lsmtune.optimizers.base import Observation

FEWEST = 5
"""Measured runs without which an earlier study tells nothing."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier study's runs in the knobs of the space that is searched now, its base first.

    The values are of the objective that is asked for now, against that study's own base.
    """

    study: str
    observations: tuple[Observation, ...]
