"""Defaults of a study's settings that depend on its other settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from lsmtune.engine_traits import ENGINES, runs, usual_engine
from lsmtune.errors import UserError
from lsmtune.experiment import VERSION, Sweep
from lsmtune.knobs.catalogue import load as load_catalogue
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.knobs.types import Knob, Settings
from lsmtune.objective import Objective
from lsmtune.tables import suited_knobs
from lsmtune.trials import Base
from lsmtune.units import MIB, format_bytes, is_version, parse_size
from lsmtune.workloads import WORKLOADS, EngineName, Workload

DRIVER = "lsmdriver"
"""lsmtune's own driver: the program of a study that names a version or a library of RocksDB, and
of the embedded stores."""

DB_BENCH = "db_bench"
"""RocksDB's own program: that of a study that names no version or library."""

SYSTEM_KEYS = ("program", "rocksdb", "library")
"""Settings that name the RocksDB to run; a study has one of them."""

_LIVE: tuple[EngineName, ...] = ("rocksdb", "myrocks")
"""Engines whose options lsmtune changes while they run."""

_NOT_ONLINE = {
    "limits": "checks no limits",
    "base_runs": "measures the baseline in windows",
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

BYTES_PER_SYNC = "bytes_per_sync"
"""Option that DBImpl::SetDBOptions turns from 0 into 1 MiB, whatever option it sets."""

_TIMED = "throughput_ops_s"
"""Default objective for a running engine."""


def with_defaults(given: Any) -> Any:
    """Return the settings with engine, program, knobs and objective that suit the workload.

    With a budget or `until`, the number of trials has no limit. Settings that are no table, or
    name an unknown workload, are returned unchanged: a later check refuses them.
    """
    load = given.get("workload", {}) if isinstance(given, Mapping) else None
    if isinstance(load, Workload):
        load = load.model_dump()
    table = load if isinstance(load, Mapping) else {"name": load}
    if "name" not in table and (asked_engine := _known(given)) is not None:
        table = {**table, "name": ENGINES[asked_engine].workload_names[0]}
        given = {**given, "workload": table}
    name = table.get("name", "fillrandom")
    if not isinstance(name, str) or name not in WORKLOADS:
        return given
    engine, usual = _known(given), usual_engine(name)
    if usual is None and engine is None and given.get("engine") is not None:
        return given
    if usual is None:
        raise UserError(f"workload: no installed engine runs {name}; choose another workload")
    given = with_first_version(given)
    definition = WORKLOADS[name]
    if engine is None or not runs(engine, name):
        engine = usual  # another one is refused below
    is_driven = any(given.get(key) is not None for key in ("rocksdb", "library"))
    program = DRIVER if engine == "rocksdb" and is_driven else ENGINES[engine].program
    ours: dict[str, Any] = {"engine": engine, "program": program}
    own = {"knobs": definition.knobs_for(table), "objective": definition.objective_for(table)}
    asked: dict[str, Any] = {key: value for key, value in own.items() if value is not None}
    of_engine = ENGINES[engine].defaults
    asked = {**of_engine, **asked} if engine == usual else {**asked, **of_engine}
    if engine == "tikv":
        asked |= {"scale": "1", "knobs": suited_knobs(given.get("tikv"))}
    if given.get("online") is not None:
        asked = {"knobs": "online", "objective": _TIMED}
    if given.get("until") is not None or given.get("budget") is not None:
        ours["trials"] = None
    return {**asked, **ours, **given}


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


def check_system(
    engine: EngineName, load: Workload, program: str, rocksdb: str | None, library: str | None
) -> None:
    """Raise UserError if the settings do not name one RocksDB that runs the workload."""
    if load.write_skew is not None and engine == "rocksdb" and program != DRIVER:
        raise UserError(
            "workload.write_skew: db_bench cannot write some records more often, but lsmtune's "
            "driver can: set rocksdb to an installed version, such as from `lsmtune engines "
            "install rocksdb`, or library to your librocksdb.so"
        )
    named = [key for key, value in (("rocksdb", rocksdb), ("library", library)) if value]
    if not named:
        if engine == "rocksdb" and program == DRIVER:
            raise UserError(f"program: {DRIVER} needs a RocksDB; add rocksdb or library")
        return
    key = named[0]
    if engine not in ("rocksdb", "embedded"):
        raise UserError(f"{key}: not used by engine {engine}; remove it")
    if others := [*named[1:], *(["program"] if program != DRIVER else [])]:
        raise UserError(f"{key}: not allowed with {others[0]}; remove one of them")
    if load.definition.needs_db_bench:
        raise UserError(
            f"{key}: only db_bench runs the workload {load.name}; remove it, or choose another "
            "workload"
        )


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


def check_versions(engine: EngineName, versions: Sequence[str], rocksdb: str | None) -> None:
    """Raise UserError if the engine cannot compare versions, or the baseline runs no version."""
    if versions and engine != "rocksdb":
        raise UserError(
            f"sweep: {VERSION}: engine {engine} cannot compare versions of RocksDB; use the engine "
            "rocksdb"
        )
    if versions and rocksdb is None:
        raise UserError(
            "sweep: a factor lists versions of RocksDB, so the baseline must run a version too; "
            "remove program and library, or use rocksdb instead"
        )


def check_online(
    engine: EngineName, load: Workload, program: str, knobs: str, ends: Mapping[str, object]
) -> None:
    """Raise UserError if online tuning is impossible with these settings.

    `ends` are the settings that would end a search, None if they are not given.
    """
    if engine not in _LIVE:
        raise UserError(f"online: not supported by engine {engine}; supported: {', '.join(_LIVE)}")
    if not load.definition.can_be_endless:
        names = ENGINES[engine].workload_names
        raise UserError(
            f"online: the workload {load.name} cannot run for an unlimited time; use one of these "
            f"workloads: {', '.join(n for n in names if WORKLOADS[n].can_be_endless)}"
        )
    if (end := next((key for key, value in ends.items() if value is not None), None)) is not None:
        raise UserError(f"{end}: not allowed with [online]; set trials instead")
    if engine == "rocksdb":
        _check_online_rocksdb(load, program, knobs)


def unused_online(given: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the first setting that has no effect on online tuning, if any."""
    for key, reason in _NOT_ONLINE.items():
        table, _, name = key.rpartition(".")
        values = given.get(table) if table else given
        if isinstance(values, Mapping) and values.get(name) is not None:
            return f"{key}: not allowed with [online], because online tuning {reason}; remove it"
    return None


def _check_online_rocksdb(load: Workload, program: str, knobs: str) -> None:
    if program != DRIVER:
        raise UserError(
            "online: db_bench cannot change options while it runs; install RocksDB with "
            "`lsmtune engines install rocksdb`, and set rocksdb or library"
        )
    if load.kind != "read" and not load.has_all_keys:
        raise UserError(
            f"workload.present: {load.present:g} is not possible with [online], because the writes "
            "would make the store larger; use 1"
        )
    restart = (k.name for k in load_catalogue("rocksdb").select(knobs) if k.apply == "restart")
    if (name := next(restart, None)) is not None:
        raise UserError(
            f"knobs: RocksDB cannot change {name} while it runs; with [online], use the preset "
            "online, or a list of knobs that `lsmtune knobs rocksdb` marks as online"
        )


def for_online(
    knobs: Sequence[Knob], settings: Settings, base: Base
) -> tuple[list[Knob], Settings]:
    """Return the knobs that this RocksDB can change while it runs, and the baseline for them.

    Any change of an option of the database turns bytes_per_sync = 0 into 1 MiB, and nothing turns
    it back (DBImpl::SetDBOptions). So the baseline has 1 MiB from the beginning. UserError if no
    knob is left.
    """
    kept = [_without_zero(knob) for knob in knobs if knob.name not in base.fixed_online]
    if not kept:
        raise UserError(
            f"knobs: this RocksDB can set {', '.join(k.name for k in knobs)} only when it opens "
            "the store; use the preset online"
        )
    changes_database = any(k.option and k.option.section == DATABASE_SECTION for k in kept)
    is_changed = changes_database and settings.get(BYTES_PER_SYNC) == 0
    return kept, {**settings, BYTES_PER_SYNC: MIB} if is_changed else settings


def _without_zero(knob: Knob) -> Knob:
    """Return bytes_per_sync without the value 0, which cannot be set online, and other knobs."""
    if knob.name != BYTES_PER_SYNC:
        return knob
    return knob.model_copy(update={"special": tuple(s for s in knob.special if s.value != 0)})


def check_cache(text: str | None) -> None:
    """Raise UserError if no block cache can be as small."""
    if text is None:
        return
    size, least = parse_size(text, "cache"), least_cache_bytes()
    if size < least:
        number = text.strip()
        advice = f"; write the unit, such as {number}MiB" if number.isdigit() else ""
        raise UserError(
            f"cache: invalid size {text!r}: the smallest block cache is {format_bytes(least)}, not "
            f"{format_bytes(size)}{advice}"
        )


def least_cache_bytes() -> int:
    """Return the size of the smallest block cache that a trial can have."""
    return round(load_catalogue("rocksdb").knob("cache_size").least or 0)
