"""The engine of a Python function: it gets a config and returns metrics."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path

from lsmtune.engines.attempt import MOST_CHARACTERS, attempted
from lsmtune.engines.base import EngineFacts, Outcome, OwnBase, Places, TrialFailedError, Watch
from lsmtune.engines.entry import EngineEntry
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, Preset
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.definitions import Metric, metric
from lsmtune.metrics.measurement import Measurement
from lsmtune.trials import Base, Status, TrialSpec
from lsmtune.workloads import Benchmark

Function = Callable[[Settings, int, str], Mapping[str, float]]
"""Gets the value of each knob, the seed of the run and an empty folder; returns metrics by name."""

_ALL = "all"
_BEFORE = "fillrandom"
"""The workload of studies that started before functions had one of their own."""


def function_engine(
    name: str,
    function: Function,
    *,
    knobs: Sequence[Knob],
    metrics: Sequence[str | Metric],
    summary: str = "a Python function",
    version: str = "0",
    times_matter: bool = True,
) -> EngineEntry:
    """Return the entry of an engine that calls a function for each run.

    The function returns the `metrics`: names of metrics of lsmtune, and metrics of its own, without
    those that have a formula. The first one is the default objective. Runs of other versions are
    not compared. If `times_matter` is False, a host may run several trials at a time. A function
    that raises is a failed trial. UserError for an unknown metric, without knobs or metrics, or if
    the first metric cannot be an objective.
    """
    if not knobs or not metrics:
        raise UserError(f"function_engine {name!r}: name at least one knob and one metric")
    where = f"function_engine {name!r}: metrics"
    returned = [metric(one, where) if isinstance(one, str) else one for one in metrics]
    computed = {one.name for one in metrics if isinstance(one, Metric) and one.formula is not None}
    if returned[0].better is None:
        raise UserError(f"{where}: {returned[0].name} is first, so it is the objective; set better")
    catalogue = Catalogue(
        engine=name,
        knobs=tuple(knob.model_copy(update={"flag": False}) for knob in knobs),
        presets=(Preset(name=_ALL, title="all knobs of the function"),),
    )
    return EngineEntry(
        name=name,
        summary=summary,
        program=name,
        workloads=(Benchmark, _BEFORE),
        catalogue=lambda: catalogue,
        defaults={"knobs": _ALL, "objective": returned[0].name},
        metrics=tuple(metric(one, where).name if isinstance(one, str) else one for one in metrics),
        runs_here=times_matter,
        make=lambda _: FunctionEngine(
            catalogue,
            function,
            [one.name for one in returned if one.name not in computed],
            version=version,
            times_matter=times_matter,
        ),
    )


class FunctionEngine:
    """The engine contract on a Python function."""

    def __init__(
        self,
        catalogue: Catalogue,
        function: Function,
        metrics: Sequence[str],
        *,
        version: str = "0",
        times_matter: bool = True,
    ) -> None:
        """Take the knobs of the function, and the metrics that it returns."""
        self.name = catalogue.engine
        self.times_matter = times_matter
        self.catalogue = catalogue
        self._function = function
        self._metrics = tuple(metrics)
        self._version = version

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the version that the caller gave."""
        return EngineFacts(self._version, self.name, False, "", None)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the defaults of the knobs; a function reads no file."""
        return Base(options="", settings=self.catalogue.defaults(1))

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Call the function. There is no evidence."""
        watch.phase("load")
        return Outcome(attempted(lambda: self._measured(spec, places.workdir)), {})

    def _measured(self, spec: TrialSpec, workdir: Path) -> Measurement:
        config = {k.name: spec.settings[k.name] for k in self.catalogue.knobs}
        try:
            found = dict(self._function(config, spec.seed, str(workdir)))
        except (TrialFailedError, UserError, OSError):
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:MOST_CHARACTERS]
            raise TrialFailedError(Status.CRASHED, reason) from error
        for name in self._metrics:
            value = found.get(name)
            if not isinstance(value, int | float) or not isfinite(value):
                reason = f"the function returned {name} = {value!r}, which is no finite number"
                raise TrialFailedError(Status.UNREADABLE, reason)
        return Measurement(
            metrics={name: float(found[name]) for name in self._metrics},
            levels=(),
            stalls={},
            engine_version=self._version,
            assertions_enabled=False,
            as_run={name: str(value) for name, value in spec.settings.items()},
        )
