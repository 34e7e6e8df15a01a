"""One trial of a running store: a copy of the baseline's store, opened with the config, in use."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsmtune.engines.base import Places, Watch
from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.driver.running_metrics import Files, measure
from lsmtune.engines.rocksdb.driver.running_plan import rate_plan, running_plan
from lsmtune.engines.rocksdb.options import read_back
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.engines.templates import MOST_RUNNING, Template, link_database
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import CpuMeter
from lsmtune.system.workdir import workdir
from lsmtune.trials import RATES_TRIED, Base, LatencyLimit, Running, TrialSpec

if TYPE_CHECKING:
    from lsmtune.engines.rocksdb.driver import Driver


class RunningTrial(Trial):
    """One trial; `measure` runs it, `evidence` returns its files.

    In the store that it copies, every key was written and then overwritten once. There are two such
    stores, so that a gain does not depend on one tree. The config writes every key before anything
    is measured. With `Running.new_store`, it builds the store itself.
    """

    trees = 2
    templates = MOST_RUNNING

    def __init__(
        self, driver: "Driver", catalogue: Catalogue, spec: TrialSpec, base: Base, places: Places
    ) -> None:
        super().__init__(driver, catalogue, spec, base, places)
        self._driver = driver
        self._steps = spec.running or Running(rate=None)

    def measure(self, watch: Watch) -> Measurement:
        """Carry out all steps; TrialFailedError if one fails."""
        self._prepare(watch)
        files = Files.before(self._database)
        spec, meter = self._spec, CpuMeter()
        part = self._part("running", spec.settings, spec.seed, self._database)
        plan = running_plan(part, self._steps, spec.protocol, self._tree())
        output = self._driver.run(part, plan, spec.protocol, watch)
        others = meter.others_percent(output.exit.cpu_s)
        # Jobs that the end of the process stopped have no end in the LOG.
        log = read_log(read_lines(self._database / "LOG", []))
        as_run = read_back(self._catalogue, spec.settings, output.options, log.options)
        measurement = measure(spec.workload, output, log, files, as_run)
        metrics = {**measurement.metrics, "others_cpu_percent": others}
        if self._steps.within is not None:
            most = metrics["capacity_ops_s"]
            metrics["capacity_ops_s"] = self._highest_rate(part, self._steps.within, most, watch)
        return measurement.model_copy(update={"metrics": metrics})

    def _highest_rate(self, part: Part, limit: LatencyLimit, most: float, watch: Watch) -> float:
        """Return the highest rate below `most` at which the limit held; 0 if it held at none.

        It is a bisection: each rate that is tried halves the range that is left.
        """
        low, high, protocol = 0.0, most, self._spec.protocol
        for _ in range(RATES_TRIED):
            rate = (low + high) / 2
            plan = rate_plan(part, self._steps, rate, protocol, self._tree())
            output = self._driver.run(part, plan, protocol, watch)
            if output.latency_us(limit.metric) <= limit.most_us:
                low = rate
            else:
                high = rate
        return low

    def leave_store(self, watch: Watch) -> None:
        """Leave a copy of the store that trials begin with."""
        self._prepare(watch)

    def _prepare(self, watch: Watch) -> Template:
        if not self._steps.new_store:
            return super()._prepare(watch)
        watch.phase("build")
        with workdir(self._places.workdir, "built") as folder:
            template = self._build(folder / "db")
            link_database(folder / "db", self._database)
        return template

    def _data(self) -> dict[str, Any]:
        return {**super()._data(), "overwritten": 1}

    def _build_settings(self) -> Settings:
        return self._spec.settings if self._steps.new_store else self._spec.base_settings

    def _build(self, database: Path) -> Template:
        part = self._part("template", self._build_settings(), self._tree(), database)
        self._driver.build(part, self._spec.protocol)
        return Template(metrics={})
