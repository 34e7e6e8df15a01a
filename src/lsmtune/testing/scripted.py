"""An engine whose results are computed instead of measured: the twin that drives the real loop.

Tests and rehearsals use it to say what each trial shall give, failures included, while the
studies, the store and the reports around it are the real ones.
"""

from collections.abc import Callable
from pathlib import Path

from lsmtune.engines.base import EngineFacts, Outcome, OwnBase, Places, Watch
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.metrics.definitions import METRICS
from lsmtune.metrics.measurement import Measurement
from lsmtune.trials import Base, Status, TrialResult, TrialSpec

Script = Callable[[TrialSpec], TrialResult]
"""Tells what a trial gives; it may also raise, as Ctrl-C would."""


class ScriptedEngine:
    """The engine contract on a script, with the knobs of the engine that it stands for."""

    def __init__(self, script: Script, name: str = "rocksdb", options: str = "") -> None:
        self._script = script
        self._options = options
        self.name = name
        self.times_matter = True

    @property
    def catalogue(self) -> Catalogue:
        """The knobs of that engine."""
        return load(self.name)

    def describe(self, workdir: Path) -> EngineFacts:
        """A version that no RocksDB has."""
        return EngineFacts("0.0.0", "scripted", False, self._options, None)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """The catalogue's defaults."""
        return Base(options=facts.options, settings=self.catalogue.defaults(1))

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """What the script says, with one file as evidence."""
        watch.phase("load")
        result = self._script(spec)
        transcript = places.workdir / "script.txt"
        transcript.write_text(result.status)
        return Outcome(result, {"script.txt": transcript})


SCRIPTED = tuple(name for name in METRICS if name != "table_readers_bytes")
"""Metrics of a script. The memory of tables follows from the config, so it is estimated."""


_QUIET = {"others_cpu_percent": 0.0, "wakeup_p99_us": 0.0, "flushes": 100.0}


def measured(**metrics: float) -> TrialResult:
    """A complete result in which every metric is 1 except those given."""
    values = dict.fromkeys(SCRIPTED, 1.0) | _QUIET | metrics
    return TrialResult(
        status=Status.COMPLETE,
        measurement=Measurement(
            metrics=values,
            levels=(),
            stalls={},
            engine_version="0.0.0",
            assertions_enabled=False,
            as_run={},
        ),
    )
