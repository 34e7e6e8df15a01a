"""A few short runs that tell the simulator how fast this machine is."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from lsmtune.engines.base import Engine, Places, Watch
from lsmtune.errors import LsmtuneError
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Settings
from lsmtune.simulator import Machine, Measured, Probe, Run, fitted_constants
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings, without_load
from lsmtune.study.opening import describe
from lsmtune.system.host import describe_host
from lsmtune.system.lock import host_lock
from lsmtune.system.workdir import sweep_workdirs, workdir
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.workloads import Workload

_RECORDS = 100_000
_CODECS = ("none", "snappy", "lz4", "zlib", "zstd")
_NO_COMPACTIONS = {
    "level0_file_num_compaction_trigger": 1000,
    "level0_slowdown_writes_trigger": 1000,
    "level0_stop_writes_trigger": 1000,
}
"""What the writer takes is plain to see only where nothing holds it up."""
_PROTOCOL = Protocol(probe_reads=5000, wall_limit_s=120)
_PROBE = Probe(_PROTOCOL.probe_reads, _PROTOCOL.scan_length)


def calibrated(engine: Engine, folder: Path, tell: Callable[[str], None]) -> Machine:
    """This machine, as its runs tell: one with each codec that the engine has, and the first
    once more without compactions.

    LsmtuneError when a run fails, UserError when the engine cannot be used.
    """
    sweep_workdirs(folder)  # one that was killed has left its own
    spec = StudySettings(workload=Workload(num=_RECORDS), knobs="compression_type")
    facts, ground = describe(spec, engine, folder)
    measured: list[Measured] = []
    probes = list(_probes(knob_space(spec, ground)))
    for number, settings in enumerate(probes, start=1):
        tell(f"calibration: run {number} of {len(probes)}")
        trial = TrialSpec(
            settings=settings, workload=spec.workload, protocol=_PROTOCOL, seed=spec.seed
        )
        with host_lock(tell), workdir(folder, "calibrate") as directory:
            places = Places(directory, folder)
            result = engine.run(trial, ground.base, places, Watch(lambda phase: None)).result
        if not result.metrics:
            raise LsmtuneError(
                f"calibration: run {number} failed ({result.status.meaning}): {result.reason}"
            )
        run = Run(spec.workload, settings, spec.seed, _PROBE, facts.version)
        measured.append(Measured(run, result.metrics))
    host = describe_host()
    return Machine(
        cpu_model=host.cpu_model,
        logical_cpus=host.logical_cpus,
        calibrated_at=datetime.now(UTC).isoformat(timespec="seconds"),
        rocksdb=facts.version,
        constants=fitted_constants(measured, host.logical_cpus),
    )


def _probes(space: KnobSpace) -> Iterator[Settings]:
    (knob,) = space.knobs
    codecs = [codec for codec in _CODECS if knob.allows(codec)]
    for codec in codecs:
        yield without_load(space.settings(space.canonical({knob.name: codec})))
    first = without_load(space.settings(space.canonical({knob.name: codecs[0]})))
    yield {**first, **_NO_COMPACTIONS}
