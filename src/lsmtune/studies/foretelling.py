"""What the simulator foretells of a study's configs."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.outcomes import worsened
from lsmtune.simulator import (
    Machine,
    Prediction,
    Probe,
    Run,
    is_installed,
    known_knobs,
    predict,
)
from lsmtune.spec import StudySpec, without_load

_STUCK = log(10)
"""What a run that never ends counts for."""


class Simulated:
    """`lsmtune.optimizers.guided.Foretell`, by the simulator; what was told once is kept.

    Limits on metrics that the simulator does not tell are left to the real runs.
    """

    def __init__(self, spec: StudySpec, space: KnobSpace, machine: Machine | None) -> None:
        self._constants = None if machine is None else machine.constants
        self._spec = spec
        self._space = space
        self._told: dict[Config, tuple[list[float], float]] = {}
        self._probe: Probe | None = None
        (self._base,) = self._predict([space.default()])
        asked = spec.parsed_objective
        if asked.missing(self._base.metrics):
            self._probe = Probe(spec.protocol.probe_reads, spec.protocol.scan_length)
            (self._base,) = self._predict([space.default()])
        known = self._base.metrics
        limits = tuple(limit for limit in asked.limits if limit.metric in known)
        self._objective = replace(asked, limits=limits)
        self.knobs = known_knobs()

    @property
    def tells_enough(self) -> bool:
        """Whether it tells of all that the study asks for."""
        return all(name in self._base.metrics for name in self._objective.metrics)

    def __call__(self, configs: Sequence[Config]) -> Floats:
        """The logarithms of their values against the base's (n, goals), broken limits counted."""
        new = [config for config in dict.fromkeys(configs) if config not in self._told]
        for config, told in zip(new, self._predict(new), strict=True):
            self._told[config] = self._judged(told.metrics)
        logs, over = zip(*(self._told[config] for config in configs), strict=True)
        return worsened(np.array(logs), np.array(over))

    def _judged(self, metrics: dict[str, float]) -> tuple[list[float], float]:
        if not metrics:
            return [_STUCK] * len(self._objective.goals), 0.0
        base = self._base.metrics
        values = self._objective.values(metrics, base)
        return [log(value) for value in values], self._objective.violation(metrics, base)

    def _predict(self, configs: Sequence[Config]) -> list[Prediction]:
        spec, space = self._spec, self._space
        runs = [
            Run(spec.load_at(config), without_load(space.settings(config)), probe=self._probe)
            for config in configs
        ]
        return predict(runs, self._constants)


def foretelling(
    spec: StudySpec, space: KnobSpace, machine: Machine | None = None
) -> Simulated | None:
    """What the simulator foretells on that machine (None: on one as it is guessed).

    None where the simulator is not there, or does not know what the study asks for.
    """
    if spec.engine != "rocksdb" or not is_installed():
        return None
    simulated = Simulated(spec, space, machine)
    return simulated if simulated.tells_enough else None
