"""One trial of a running store: a copy of the baseline's store, opened with the config, in use."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsmtune.engines.base import Places, Watch
from lsmtune.engines.rocksdb.driver.running_metrics import Files, measure
from lsmtune.engines.rocksdb.read_back import read_back
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.engines.templates import MOST_RUNNING, Template, link_database
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import CpuMeter
from lsmtune.trials import Base, Running, TrialSpec

if TYPE_CHECKING:
    from lsmtune.engines.rocksdb.driver import Driver


class RunningTrial(Trial):
    """One trial; `measure` runs it, `evidence` returns its files.

    In the store that it copies, every key was written and then overwritten once.
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
        output = self._driver.run(part, self._steps, self._tree(), spec.protocol, watch)
        others = meter.others_percent(output.exit.cpu_s)
        # Jobs that the end of the process stopped have no end in the LOG.
        log = read_log(read_lines(self._database / "LOG", []))
        as_run = read_back(self._catalogue, spec.settings, output.options, log.options)
        measurement = measure(spec.workload, output, log, files, as_run)
        metrics = {**measurement.metrics, "others_cpu_percent": others}
        return measurement.model_copy(update={"metrics": metrics})

    def leave_store(self, watch: Watch) -> None:
        """Leave a copy of the store that trials begin with."""
        self._prepare(watch)

    def _prepare(self, watch: Watch) -> Template:
        if not self._steps.new_store:
            return super()._prepare(watch)
        watch.phase("build")
        own = self._places.workdir / "built"
        template = self._build(own)
        link_database(own, self._database)
        shutil.rmtree(own)
        return template

    def _data(self) -> dict[str, Any]:
        return {**super()._data(), "overwritten": 1}

    def _build_settings(self) -> Settings:
        return self._spec.settings if self._steps.new_store else self._spec.base_settings

    def _build(self, database: Path) -> Template:
        part = self._part("template", self._build_settings(), self._tree(), database)
        self._driver.build(part, self._spec.protocol)
        return Template(metrics={})
