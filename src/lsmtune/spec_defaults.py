"""Defaults of a study's settings that depend on its other settings."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lsmtune.engine_traits import ENGINES, EngineTraits, engines_of, runs, usual_engine
from lsmtune.errors import UserError
from lsmtune.experiment import Sweep
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.knobs.types import Settings
from lsmtune.metrics.definitions import METRICS, RUNNING, canonical
from lsmtune.objective import Objective
from lsmtune.study_keys import DEFAULT_ENGINE, VERSION
from lsmtune.trials import LatencyLimit
from lsmtune.units import format_bytes, is_version, parse_size
from lsmtune.workloads import WORKLOADS, EngineName, Workload

if TYPE_CHECKING:
    from lsmtune.spec import StudySettings

DRIVER = "lsmdriver"
"""lsmtune's own driver: the program of a study that names a version or a library of RocksDB, and
of the embedded stores."""

DB_BENCH = "db_bench"
"""RocksDB's own program: that of a study that names no version or library."""

SYSTEM_KEYS = ("program", VERSION, "library")
"""Settings that name the RocksDB to run; a study has one of them."""

_NOT_ONLINE = {
    "limits": "checks no limits",
    "base_runs": "measures the baseline in windows",
    "measure": "measures a running engine in windows",
    "rate": "runs as fast as the engine can",
    "early_stop": "prunes no trial",
    "finalists": "repeats no config",
    "repeats": "repeats no config",
    "simplify": "has no winner to simplify",
    "pairs": "measures no pairs of runs",
    "max_pairs": "measures no pairs of runs",
    "protocol.probe_reads": "has no reads after the workload",
    "protocol.scan_length": "has no reads after the workload",
    "workload.operations": "runs the workload without end",
    "workload.duration_s": "runs the workload without end",
}
"""Settings that have no effect on online tuning, each with the reason."""

WITHOUT_SEARCH: dict[str, Any] = {"early_stop": False, "repeats": 0, "pairs": 0}
"""Settings of a study that only measures: no trial is pruned or repeated, nothing is verified."""

NO_MEMORY_LIMIT = "1024TiB"
"""Memory limit of such a study: its configs run unchanged."""

CACHE = "cache_size"
"""Knob whose value for the baseline is the key `cache` of a study."""

BYTES_PER_SYNC = "bytes_per_sync"
"""Option that DBImpl::SetDBOptions turns from 0 into 1 MiB, whatever option it sets."""

_TIMED = "throughput_ops_s"
"""Default objective for a running engine."""

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


def with_defaults(given: Any) -> Any:
    """Return the settings with engine, program, knobs and objective that suit the workload.

    With a budget or `until`, the number of trials has no limit. Settings that are no table, or
    name an unknown workload, are returned unchanged: a later check refuses them.
    """
    load = given.get("workload", {}) if isinstance(given, Mapping) else None
    if isinstance(load, Workload):
        load = load.model_dump()
    table = load if isinstance(load, Mapping) else {"name": load}
    if "name" not in table and isinstance(given, Mapping):
        asked_engine = _known(given) or DEFAULT_ENGINE
        table = {**table, "name": ENGINES[asked_engine].workload_names[0]}
        given = {**given, "workload": table}
    name = table.get("name")
    if not isinstance(name, str) or name not in WORKLOADS:
        return given
    engine, usual = _known(given), usual_engine(name)
    if usual is None and engine is None and given.get("engine") is not None:
        return given
    if usual is None:
        raise UserError(f"workload: no installed engine runs {name}; choose another workload")
    if engine is None and usual not in ENGINES.built_in and len(able := engines_of(name)) > 1:
        raise UserError(
            f"engine: several engines run the workload {name}: {', '.join(able)}; name one"
        )
    given = with_first_version(given)
    definition = WORKLOADS[name]
    if engine is None or not runs(engine, name):
        engine = usual  # another one is refused below
    entry = ENGINES[engine]
    own = {"knobs": definition.knobs_for(table), "objective": definition.objective_for(table)}
    asked: dict[str, Any] = {key: value for key, value in own.items() if value is not None}
    asked = {**entry.defaults, **asked} if engine == usual else {**asked, **entry.defaults}
    asked |= {"engine": engine, "program": entry.program}
    if entry.full_size:
        asked["scale"] = "1"
    asked |= entry.complete({**given, "workload": {**table, "name": name}})
    if given.get("online") is not None:
        asked |= {"knobs": "online", "objective": _TIMED}
    if given.get("until") is not None or given.get("budget") is not None:
        asked["trials"] = None
    asked |= measure_defaults(entry, {**asked, **given}, table)
    return {**asked, **given}


def _known(given: Mapping[str, Any]) -> EngineName | None:
    """Return the engine that the settings name; None if they name none that lsmtune knows."""
    name = given.get("engine")
    return name if isinstance(name, str) and name in ENGINES else None


def with_first_version(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings; an experiment that lists versions gets the first one as its baseline.

    Settings that name a RocksDB, or are no list of versions, are returned unchanged.
    """
    table = given.get("sweep")
    if isinstance(table, Sweep):
        table = table.model_dump()
    factors = table.get("factors") if isinstance(table, Mapping) else None
    knobs = factors.values() if isinstance(factors, Mapping) else ()
    lists = (one[VERSION] for one in knobs if isinstance(one, Mapping) and VERSION in one)
    first = next((one[0] for one in lists if isinstance(one, list | tuple) and one), None)
    is_named = any(given.get(key) is not None for key in SYSTEM_KEYS)
    if is_named or not (isinstance(first, str) and is_version(first)):
        return {**given}
    return {**given, VERSION: first}


def engine_problems(spec: "StudySettings") -> Iterator[str]:
    """Yield what does not fit the engine of a study."""
    entry = ENGINES[spec.engine]
    found = list(entry.check(spec))
    yield from found
    if spec.versions and not entry.has_versions:
        able = ", ".join(one.name for one in ENGINES.usable() if one.has_versions)
        yield (
            f"sweep: {VERSION}: engine {spec.engine} cannot compare versions of RocksDB; use the "
            f"engine {able}"
        )
    if spec.online is not None:
        yield from _online_problems(spec, entry)
    named = {problem.partition(":")[0] for problem in found}
    yield from (text for key, text in _unused(spec, entry) if key not in named)


def _unused(spec: "StudySettings", entry: EngineTraits) -> Iterator[tuple[str, str]]:
    """Yield the keys that the engine does not use, with a message each."""
    given = {
        VERSION: spec.rocksdb,
        "library": spec.library,
        "libraries": spec.libraries,
        "program": None if spec.program == entry.program else spec.program,
        "base": spec.base,
        "family": None if spec.family == DEFAULT_FAMILY else spec.family,
        "cache": spec.cache,
    }
    for key, value in given.items():
        if value is not None and key not in entry.uses:
            yield key, f"{key}: not used by engine {entry.name}; remove {key}"
    if spec.memory not in (None, NO_MEMORY_LIMIT) and not entry.catalogue().has_memory:
        yield "memory", f"memory: not used by engine {entry.name}; remove memory"
    if entry.full_size and spec.scale_value != 1:
        yield "scale", f"scale: {spec.scale} is not possible with the engine {entry.name}; use 1"


def _online_problems(spec: "StudySettings", entry: EngineTraits) -> Iterator[str]:
    """Yield why online tuning is impossible with the settings of a study."""
    if entry.online is None:
        able = ", ".join(one.name for one in ENGINES.usable() if one.online is not None)
        yield f"online: not supported by engine {entry.name}; supported: {able}"
        return
    if not spec.workload.definition.can_be_endless:
        endless = (name for name in entry.workload_names if WORKLOADS[name].can_be_endless)
        yield (
            f"online: the workload {spec.workload.name} cannot run for an unlimited time; use one "
            f"of these workloads: {', '.join(endless)}"
        )
    for key, value in (("until", spec.until), ("budget", spec.budget)):
        if value is not None:
            yield f"{key}: not allowed with [online]; set trials instead"
    yield from entry.online.check(spec)


def compared_versions(sweep: Sweep | None, rocksdb: str | None) -> tuple[str, ...]:
    """Return the versions that an experiment compares, the baseline's first; else empty."""
    listed = sweep.versions if sweep else ()
    baseline = [rocksdb] if rocksdb and listed else []
    return tuple(dict.fromkeys((*baseline, *listed)))


def check_measured(engine: EngineName, objective: Objective) -> None:
    """Raise UserError if the engine does not measure a metric of the objective or of a limit."""
    measured = ENGINES[engine].measured
    for metric in objective.needed:
        if measured is not None and metric not in measured:
            key = "objective" if metric in objective.metrics else "limits"
            raise UserError(
                f"{key}: engine {engine} does not measure {metric}; measured: "
                f"{', '.join(sorted(measured))}"
            )


def unused_online(given: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the first setting that has no effect on online tuning, if any."""
    for key, reason in _NOT_ONLINE.items():
        table, _, name = key.rpartition(".")
        values = given.get(table) if table else given
        if isinstance(values, Mapping) and values.get(name) is not None:
            return f"{key}: not allowed with [online], because online tuning {reason}; remove it"
    return None


def check_cache(text: str | None, engine: EngineName) -> None:
    """Raise UserError if no block cache of the engine can be as small."""
    if text is None:
        return
    knobs = ENGINES[engine].catalogue().knobs
    least = next((knob.least for knob in knobs if knob.name == CACHE), None)
    size = parse_size(text, "cache")
    if least is not None and size < least:
        number = text.strip()
        advice = f"; write the unit, such as {number}MiB" if number.isdigit() else ""
        raise UserError(
            f"cache: invalid size {text!r}: the smallest block cache is {format_bytes(least)}, not "
            f"{format_bytes(size)}{advice}"
        )


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
