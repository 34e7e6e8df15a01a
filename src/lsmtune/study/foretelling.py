"""What the simulator foretells of a study's configs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from math import log

import numpy as np

from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Value
from lsmtune.learning.factors import Floats
from lsmtune.limits import known_limits
from lsmtune.objective import Metrics, Objective, limit_penalty
from lsmtune.simulator import (
    UNMODELLED_KNOBS,
    Constants,
    Machine,
    Measured,
    Probe,
    Run,
    RunningStore,
    fitted_constants,
    is_installed,
    known_knobs,
    predict,
)
from lsmtune.spec import StudySettings, load_at, without_load
from lsmtune.system.host import describe_host
from lsmtune.trials import Protocol, Running, TrialSpec
from lsmtune.workloads import Workload

_STUCK = log(10)
"""What a run that never ends counts for."""
_LENGTHS = (0.97, 1.0, 1.03)
"""Whether the last large merge comes just before the end of a load or behind it is luck, in real
runs and in simulated ones: a search must not look for that. So loads a little shorter and longer
are foretold, and their mean counts."""
_WINDOWS = 2
"""How often the window of a running store is foretold; its mean over time varies little."""


class Simulated:
    """`Foretell` of the optimizer guided, by the simulator; each prediction is made once and kept.

    Limits on metrics that the simulator does not tell are left to the real runs.
    """

    def __init__(
        self,
        spec: StudySettings,
        space: KnobSpace,
        constants: Constants | None,
        running: Running | None = None,
    ) -> None:
        self._constants = constants
        self._spec = spec
        self._space = space
        self._running = running
        self._told: dict[Config, Floats] = {}
        self._probe: Probe | None = None
        (self._base,) = self._predict([space.default()])
        asked = spec.parsed_objective
        self._objective = _known(asked, self._base[0])
        if asked.missing(self._base[0]):
            without, self._probe = self._base, _probe(spec.protocol)
            (self._base,) = self._predict([space.default()])
            with_reads = _known(asked, self._base[0])
            known = set(with_reads.needed) & set(self._base[0])
            if known <= set(without[0]):  # reads are not asked for
                self._base, self._probe = without, None
            else:
                self._objective = with_reads
        self.knobs = known_knobs()

    @property
    def tells_enough(self) -> bool:
        """Whether it tells of all that the study asks for."""
        return all(name in self._base[0] for name in self._objective.metrics)

    def __call__(self, configs: Sequence[Config]) -> Floats:
        """The logarithms of their values against the base's (n, goals), broken limits counted."""
        new = [config for config in dict.fromkeys(configs) if config not in self._told]
        for config, runs in zip(new, self._predict(new), strict=True):
            judged = [self._judged(run, base) for run, base in zip(runs, self._base, strict=True)]
            self._told[config] = np.mean(judged, axis=0)
        return np.array([self._told[config] for config in configs])

    def _judged(self, run: Metrics, base: Metrics) -> Floats:
        """What exceeds a limit counts for less here than in a real run.

        How long the slowest reads take differs by a quarter from run to run of one config.
        """
        if not run:
            return np.full(len(self._objective.goals), _STUCK)
        values = self._objective.values(run, base)
        return np.log(values) + log(limit_penalty(self._objective.violation(run, base)))

    def _predict(self, configs: Sequence[Config]) -> list[list[Metrics]]:
        """Of each config the metrics of each of its runs, none of one that never ends."""
        runs = [list(self._runs(config)) for config in configs]
        told = iter(predict([run for own in runs for run in own], self._constants))
        return [[next(told).metrics for _ in own] for own in runs]

    def _runs(self, config: Config) -> Iterator[Run]:
        load, version = load_at(self._spec.workload, config), self._space.version
        loads = _of_lengths(load) if self._running is None else [load] * _WINDOWS
        settings, base = (
            without_load(self._space.settings(c)) for c in (config, self._space.default())
        )
        store = None if self._running is None else running_store(self._running, base, settings)
        for seed, one in enumerate(loads, start=1):
            yield Run(one, settings, seed, self._probe, version, store)


def _known(asked: Objective, known: Metrics) -> Objective:
    """The objective with the limits that the simulator can judge."""
    return replace(asked, limits=known_limits(asked.limits, known))


def _of_lengths(load: Workload) -> list[Workload]:
    told = {"num": load.num, "operations": load.operations}
    return [
        load.model_copy(update={n: round(length * v) for n, v in told.items() if v is not None})
        for length in _LENGTHS
    ]


def running_store(
    steps: Running, baseline: Mapping[str, Value], settings: Mapping[str, Value]
) -> RunningStore | None:
    """Return the running store of a trial with these settings; None for a trial without a rate."""
    if steps.rate is None:
        return None
    names = (field.name for field in fields(RunningStore) if field.name != "baseline")
    built_by = settings if steps.new_store else baseline
    return RunningStore(built_by, **{name: getattr(steps, name) for name in names})


def foretelling(
    spec: StudySettings,
    space: KnobSpace,
    machine: Machine | None = None,
    base: Sequence[tuple[TrialSpec, Metrics]] = (),
    running: Running | None = None,
) -> Simulated | None:
    """What the simulator foretells on that machine, of filled stores or of `running` ones.

    Where none is known, or another RocksDB ran there, on one as fast as the runs of the `base`
    tell. None where the simulator is not there, or does not know what the study asks for.
    """
    if ENGINES[spec.engine].predicted_by is None or not is_installed():
        return None
    if not UNMODELLED_KNOBS.isdisjoint(knob.name for knob in space.knobs):
        return None
    if machine is not None and machine.rocksdb != space.version:
        machine = None
    constants = None if machine is None else machine.constants
    simulated = Simulated(spec, space, constants, running)
    if not simulated.tells_enough:
        return None
    if machine is None and base:
        return Simulated(spec, space, _told_by(base, space.version), running)
    return simulated


def _told_by(runs: Sequence[tuple[TrialSpec, Metrics]], version: str) -> Constants:
    """The constants of a machine on which runs of the baseline came to that."""
    measured = [Measured(_run_of(run, version), metrics) for run, metrics in runs]
    return fitted_constants(measured, describe_host().logical_cpus)


def _run_of(spec: TrialSpec, version: str) -> Run:
    """Return a run of the baseline."""
    steps, settings = spec.running, spec.settings
    store = None if steps is None else running_store(steps, settings, settings)
    return Run(spec.workload, settings, spec.seed, _probe(spec.protocol), version, store)


def _probe(protocol: Protocol) -> Probe:
    return Probe(protocol.probe_reads, protocol.scan_length)
