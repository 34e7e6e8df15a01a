"""The engine batches: SQLite, with a workload that has a parameter."""

import sqlite3

from lsmtune_sqlite import KNOBS, METRICS, benchmark
from pydantic import Field

from lsmtune.engines.base import EngineFacts, Outcome, TrialFailedError, attempted
from lsmtune.engines.entry import EngineEntry
from lsmtune.knobs.catalogue import Catalogue, Preset
from lsmtune.metrics.measurement import Measurement
from lsmtune.trials import Base, Status
from lsmtune.workloads import Definition, Parameters

VERSION = sqlite3.sqlite_version
CATALOGUE = Catalogue("batches", tuple(KNOBS), presets=(Preset(name="all", title="all knobs"),))


class BatchParameters(Parameters):
    """Parameters that the workloads of lsmtune do not have."""

    batch: int = Field(default=200, ge=1, description="Records per transaction.")


class BatchWrites(Definition):
    """Writes in batches of any size."""

    name = "batchwrites"
    what = "writes in random order, `batch` of them per transaction"
    own = BatchParameters


class Batches:
    """The engine: it gets the workload, and returns a result for each run."""

    name, catalogue, times_matter = "batches", CATALOGUE, True

    def describe(self, workdir):
        """Return the version; UserError if the store cannot be used."""
        return EngineFacts(VERSION, "batches", assertions_enabled=False, options="", codecs=None)

    def base(self, facts, own, workdir):
        """Return the baseline: the defaults of the knobs."""
        return Base(options="", settings=CATALOGUE.defaults(1))

    def run(self, spec, base, places, watch):
        """Run one trial; an error of the store is a failed trial."""
        watch.phase("load")
        return Outcome(attempted(lambda: self.measure(spec, places.workdir)), {})

    def measure(self, spec, workdir):
        """Return the metrics of the benchmark, with the parameter of the workload."""
        try:
            metrics = benchmark(spec.settings, spec.seed, workdir, spec.workload.own.batch)
        except sqlite3.Error as error:
            raise TrialFailedError(Status.CRASHED, str(error)) from error
        return Measurement(
            metrics=metrics,
            levels=(),
            stalls={},
            engine_version=VERSION,
            assertions_enabled=False,
            as_run={},
        )


BATCHES = EngineEntry(
    name="batches", summary="SQLite with batches of any size", program="batches",
    workloads=(BatchWrites,), catalogue=lambda: CATALOGUE, metrics=tuple(METRICS),
    defaults={"knobs": "all", "objective": "throughput_ops_s"}, make=lambda _: Batches(),
)  # fmt: skip
