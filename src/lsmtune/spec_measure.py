"""How the trials of a study measure: a running store at a fixed rate, or a filled store."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lsmtune.engine_traits import EngineTraits
from lsmtune.errors import UserError
from lsmtune.knobs.types import Settings
from lsmtune.metrics.definitions import METRICS, RUNNING, canonical
from lsmtune.study_keys import VERSION
from lsmtune.trials import LatencyLimit
from lsmtune.workloads import WORKLOADS, Workload

if TYPE_CHECKING:
    from lsmtune.spec import StudySettings

USUAL_RATE = "50%"
"""Rate of a study without one: above it, a merge that comes at a bad time decides what is measured.
It is not the rate of the user."""

_OF_RUNNING: Mapping[str, Any] = {
    "rate": USUAL_RATE, "early_stop": False, "finalists": 2, "repeats": 1,
}  # fmt: skip
"""Defaults of a running study. A trial takes the same time whatever it shows, so none is pruned; it
varies less than one that fills a store, so fewer configs run again."""

_WRITE_RATE = "write_rate_bytes_s"
_NUMBER = re.compile(r"\s*\d{1,12}(?:\.\d{1,6})?\s*")
_STYLE, _FIFO = "compaction_style", 2
_BY_AGE = ("ttl_seconds", "periodic_compaction_seconds")


def measure_defaults(
    entry: EngineTraits, settings: Mapping[str, Any], load: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return how a study measures by default, and the defaults that follow from it.

    `settings` has the keys of the study and their other defaults, `load` those of its workload;
    both are not checked yet.
    """
    measure = settings.get("measure")
    if measure is None:
        measure = "filled" if why_filled(entry, settings, load) else "running"
    return {"measure": measure, **(_OF_RUNNING if measure == "running" else {})}


def why_filled(
    entry: EngineTraits, settings: Mapping[str, Any], load: Mapping[str, Any]
) -> str | None:
    """Return why a study cannot measure a running store; None if it can."""
    return next(_reasons_to_fill(entry, settings, load), None)


def _reasons_to_fill(
    entry: EngineTraits, settings: Mapping[str, Any], load: Mapping[str, Any]
) -> Iterator[str]:
    """Yield why a study cannot measure a running store."""
    name, knobs = load["name"], settings.get("knobs")
    if not entry.has_versions:
        yield f"the engine {entry.name} does not run at a rate"
    if settings.get(VERSION) is None and settings.get("library") is None:
        yield "db_bench does not run at a rate; a RocksDB named by rocksdb or library does"
    if settings.get("online") is not None:
        yield "online tuning measures a running engine in windows of its own"
    if not WORKLOADS[name].runs_at_rate:
        able = [one for one in entry.workload_names if WORKLOADS[one].runs_at_rate]
        yield f"the workload {name} does not run at a rate; these do: {', '.join(able)}"
    if ends := [key for key in ("operations", "duration_s") if load.get(key) is not None]:
        yield f"workload.{ends[0]} ends the load"
    if isinstance(knobs, str) and entry.catalogue().is_published(knobs):
        yield f"the preset {knobs} is that of a published study"
    objective = settings.get("objective")
    if isinstance(objective, str | list | tuple) and "jin2022" in objective:
        yield "the objective jin2022 judges the load and its end"


def reason_filled(spec: "StudySettings", entry: EngineTraits, base: Settings) -> str | None:
    """Return why a study with these checked settings and this baseline fills its stores.

    None if it could measure a running store.
    """
    if base.get(_STYLE) == _FIFO:
        return "the baseline has FIFO compaction, which deletes keys that later operations need"
    return why_filled(entry, vars(spec), vars(spec.workload))


def with_fitting_measure(
    spec: "StudySettings", base: Settings
) -> tuple["StudySettings", str | None]:
    """Return the settings with a way of measuring that fits the baseline, and a remark if changed.

    A store with FIFO compaction loses keys, so it cannot run at a rate.
    """
    if spec.measure == "filled" or base.get(_STYLE) != _FIFO:
        return spec, None
    found = spec.model_copy(update={"measure": "filled", "rate": None})
    return found, "trials fill a store (measure = filled), because the baseline has FIFO compaction"


def without_effect(spec: "StudySettings", base: Settings, usual: Settings) -> list[str]:
    """Return the options of a baseline that do not act within the seconds of a running trial.

    `usual` has the values of RocksDB, which nobody chose.
    """
    if spec.measure == "filled":
        return []
    set_ages = [name for name in _BY_AGE if base.get(name) not in (0, None, usual.get(name))]
    return [f"{name} = {base[name]}" for name in set_ages]


def check_measure(spec: "StudySettings", entry: EngineTraits) -> None:
    """Raise UserError for settings that do not fit the way of measuring."""
    if spec.measure == "running":
        if (reason := reason_filled(spec, entry, {})) is not None:
            raise UserError(f'measure: "running" is not possible, use "filled": {reason}')
        _check_writer(spec)
        return
    for key in ("rate", "capacity"):
        if getattr(spec, key) is not None:
            raise UserError(
                f'{key}: only a running store has a {key}; remove {key}, or set measure = "running"'
            )
    _check_names(spec)


def latency_limit(text: str, load: Workload) -> LatencyLimit:
    """Return the latency that a capacity keeps: `write_p99_us <= 2000`.

    UserError if it is no latency of an operation of the workload, or no number.
    """
    kinds = load.definition.measured_kinds
    names = [f"{kind}_{rank}_us" for kind in kinds for rank in ("p50", "p99", "p999", "p9999")]
    name, relation, number = text.partition("<=")
    name = canonical(name.strip())
    if not relation or name not in names or not _NUMBER.fullmatch(number) or not float(number):
        raise UserError(
            f"capacity: {text!r} is not allowed; use METRIC <= NUMBER of microseconds, with one of "
            f"these metrics: {', '.join(names)}"
        )
    return LatencyLimit(metric=name, most_us=float(number))


def _check_writer(spec: "StudySettings") -> None:
    """Raise UserError if the user gave two rates for the writer of readwhilewriting."""
    usual = spec.workload.definition.parameters.get(_WRITE_RATE)
    if spec.rate not in (None, USUAL_RATE) and getattr(spec.workload, _WRITE_RATE) != usual:
        raise UserError(f"rate: not allowed with workload.{_WRITE_RATE}; remove one of them")


def _check_names(spec: "StudySettings") -> None:
    """Raise UserError if the user names a metric of a running store in a study without one."""
    limited = (text.replace(">", "<").partition("<")[0].strip() for text in spec.limits)
    for key, names in (("objective", spec.objective), ("limits", limited)):
        for name in map(canonical, names):
            found = METRICS.built_in.get(name)
            if found is not None and found.group == RUNNING:
                raise UserError(
                    f'{key}: only a running store has {name}; remove it, or set measure = "running"'
                )
