"""The engine of a Python function: it gets a config and returns metrics."""

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from errno import ENOSPC
from math import isfinite, nan
from pathlib import Path
from typing import Any

from lsmtune.engines.base import (
    MOST_CHARACTERS,
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
    attempted,
)
from lsmtune.engines.entry import EngineEntry
from lsmtune.entries import one_line
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, Preset
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.definitions import Metric, metric
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import CpuMeter
from lsmtune.trials import Base, Status, TrialSpec
from lsmtune.workloads import Benchmark

Function = Callable[[Settings, int, str], Mapping[str, float]]
"""Gets the value of each knob, the seed of the run and an empty folder; returns metrics by name."""

_ALL = "all"
_TRACEBACK = "traceback.txt"
"""Evidence of a run whose function raised an exception."""


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
    that raises is a failed trial. UserError for arguments that cannot be used, for instance if the
    first metric cannot be an objective.
    """
    _check_arguments(name, function, knobs, metrics, version)
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
        workloads=(Benchmark,),
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


def _check_arguments(
    name: object,
    function: object,
    knobs: Sequence[object],
    metrics: Sequence[object],
    version: object,
) -> None:
    """Raise UserError for arguments of the wrong type."""
    where = f"function_engine {name!r}"
    if not callable(function):
        raise UserError(f"{where}: function = {function!r}: must be a function")
    if not isinstance(version, str):
        raise UserError(f"{where}: version = {version!r}: must be a text")
    if not knobs or not metrics:
        raise UserError(f"{where}: name at least one knob and one metric")
    for word, kind, things in (("knobs", Knob, knobs), ("metrics", (str, Metric), metrics)):
        if stray := [one for one in things if not isinstance(one, kind)]:
            raise UserError(f"{where}: {word}: {stray[0]!r} is not a {word[:-1].capitalize()}")


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
        """Call the function. If it raises an exception, the evidence has the traceback."""
        watch.phase("load")
        result = attempted(lambda: self._measured(spec, places.workdir))
        file = places.workdir / _TRACEBACK
        return Outcome(result, {_TRACEBACK: file} if file.is_file() else {})

    def _measured(self, spec: TrialSpec, workdir: Path) -> Measurement:
        config = {k.name: spec.settings[k.name] for k in self.catalogue.knobs}
        meter, children_s = CpuMeter(), _children_s()
        try:
            found = dict(self._function(config, spec.seed, str(workdir)))
        except (TrialFailedError, UserError):
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, OSError) and error.errno == ENOSPC:
                raise
            _keep_traceback(error, workdir)
            raise TrialFailedError(Status.CRASHED, one_line(error)[:MOST_CHARACTERS]) from error
        metrics = {name: self._number(found, name) for name in self._metrics}
        if self.times_matter:
            metrics["others_cpu_percent"] = meter.others_percent(_children_s() - children_s)
        return Measurement(
            metrics=metrics,
            levels=(),
            stalls={},
            engine_version=self._version,
            assertions_enabled=False,
            as_run={name: str(value) for name, value in spec.settings.items()},
        )

    def _number(self, found: Mapping[str, object], name: str) -> float:
        """Return a metric that the function returned; numbers of other libraries are allowed."""
        if name not in found:
            raise TrialFailedError(Status.UNREADABLE, f"the function returned no {name}")
        value: Any = found[name]
        try:
            number = nan if isinstance(value, str | bytes) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = nan
        if not isfinite(number) or number < 0:
            reason = f"the function returned {name} = {value!r}; a metric is a finite number >= 0"
            raise TrialFailedError(Status.UNREADABLE, reason)
        return number


def _children_s() -> float:
    """Return the CPU time of the processes that this one has started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _keep_traceback(error: BaseException, workdir: Path) -> None:
    """Write the traceback, and what a failed command printed, into the folder of the run."""
    said = [text for key in ("stdout", "stderr") if (text := getattr(error, key, None))]
    printed = (text.decode(errors="replace") if isinstance(text, bytes) else text for text in said)
    lines = ["".join(traceback.format_exception(error)), *map(str, printed)]
    with suppress(OSError):  # the reason of the failure is kept in any case
        (workdir / _TRACEBACK).write_text("\n".join(lines), encoding="utf-8")
