"""Embedded stores side by side: RocksDB, LevelDB and LMDB under one driver program of our own."""

import shutil
import sys
import time
from functools import cached_property
from pathlib import Path

from lsmtune.engines.attempt import attempted
from lsmtune.engines.base import (
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
)
from lsmtune.engines.embedded.driver import Driver, driver_argv
from lsmtune.engines.embedded.measure import measure
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import CpuMeter
from lsmtune.system.launch import from_here
from lsmtune.trials import Base, Protocol, TrialSpec
from lsmtune.workloads import Workload

__all__ = ["Embedded"]

_ONE_WRITE = Workload(num=1000, operations=100, value_size=100)
_ONE_READ = Protocol(probe_reads=100, quiet_s=0.05)


class Embedded:
    """The engine contract on the driver; `program` is a path of it or a name.

    A name is looked for beside the Python that runs lsmtune, where `make stores` puts it, then
    on PATH.
    """

    name = "embedded"

    def __init__(self, program: str) -> None:
        self._program = _found(program)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Which store, and the settings that stores have in common."""
        return load(self.name)

    def describe(self, workdir: Path) -> EngineFacts:
        """The version of each store; UserError when the driver cannot be used."""
        stores = self.catalogue.knob("store").values
        try:
            versions = [f"{store} {self._version(str(store), workdir)}" for store in stores]
        except TrialFailedError as failure:
            reason = (
                f"program {self._program}: lsmtune cannot run this program as the driver of the "
                f"embedded stores: {failure}"
            )
            raise UserError(reason) from failure
        return EngineFacts(
            ", ".join(versions),
            self._program,
            assertions_enabled=False,
            options="",
            codecs=None,
        )

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """The catalogue's defaults; UserError for a file of options, which no store here reads."""
        if own is not None:
            raise UserError(
                "base: the engine embedded does not read a file of options; remove the setting base"
            )
        return Base(options=facts.options, settings=self.catalogue.defaults(1))

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Load, settle, probe; what the driver and the store wrote is the evidence."""
        folder = places.workdir / "db"
        argv = driver_argv(self._program, spec, folder)
        driver = Driver(argv, folder, spec.protocol)
        result = attempted(lambda: self._measured(spec, driver, folder, watch))
        return Outcome(result, driver.evidence())

    def _measured(self, spec: TrialSpec, driver: Driver, folder: Path, watch: Watch) -> Measurement:
        meter, own_cpu_s = CpuMeter(), time.process_time()
        run = driver.run(watch)
        own_cpu_s = time.process_time() - own_cpu_s + run.exit.cpu_s
        return measure(spec, run, folder, meter.stop().others_cpu_percent(own_cpu_s))

    def _version(self, store: str, workdir: Path) -> str:
        settings = {**self.catalogue.defaults(1), "store": store}
        spec = TrialSpec(settings=settings, workload=_ONE_WRITE, protocol=_ONE_READ, seed=1)
        folder = workdir / f"describe-{store}" / "db"
        folder.parent.mkdir()
        argv = driver_argv(self._program, spec, folder)
        return Driver(argv, folder, spec.protocol).run(Watch(lambda phase: None)).version


def _found(program: str) -> str:
    own = Path(sys.executable).parent / program
    if own.name == program and own.is_file():
        return str(own)
    if own.name == program and shutil.which(program) is None:
        raise UserError(f"program {program}: not found; run `make stores` to build the driver")
    return from_here(program)
