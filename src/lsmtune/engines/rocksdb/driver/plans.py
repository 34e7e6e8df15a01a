"""Plans of the driver: the phases of each part of a trial, the options and the shared objects.

The fields are described in native/lsmdriver/README.md.
"""

from collections.abc import Iterator

from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.options import option_string
from lsmtune.knobs.types import Settings
from lsmtune.trials import Protocol
from lsmtune.workloads import Records, Workload
from lsmtune.workloads.key_values import UNIFORM, Json, group

LOAD, GETS, MISSING, SCANS = "load", "gets", "missing", "scans"
"""Names of phases in events."""

_CACHES = {"lru_cache": "lru", "hyper_clock_cache": "hyper_clock"}


def load_plan(part: Part, limits: Protocol) -> Json:
    """Return the phases of a part that loads or settles a database."""
    phases = list(_loading(part))
    existing = (part.workload.definition.prepared and part.name == "load") or part.name == "debt"
    return {
        "existing": existing,
        **store(part.options, part.settings),
        "phases": [*phases, {"do": "flush"}, settled(limits), {"do": "report"}],
    }


def endless_plan(part: Part) -> Json:
    """Return the plan of a load without an end, on an existing database."""
    groups = _clients(part.workload, part.seed)
    for one in groups:
        one.pop("operations", None)
    phases = [run(LOAD, part.workload, groups)]
    return {"existing": True, **store(part.options, part.settings), "phases": phases}


def probe_plan(part: Part, limits: Protocol) -> Json:
    """Return the phases of the read probe: gets of keys of the load, gets of other keys, scans."""
    reads = reads_after(part.workload, part.seed, limits)
    # A report after each phase, to count what the phase did.
    phases = [phase for read in reads for phase in (read, {"do": "report"})]
    return {"existing": True, **store(part.options, part.settings), "phases": phases}


def settled(limits: Protocol) -> Json:
    """Return the phase that waits until a store has settled."""
    return {"do": "settle", "quiet_s": limits.quiet_s, "limit_s": limits.wall_limit_s}


def reads_after(load: Workload, seed: int, limits: Protocol) -> list[Json]:
    """Return the phases that read after a load with this seed.

    The gets have the keys that the first client of the load wrote, in the same order. The scans
    start at the same keys, and the missing keys are next to them.
    """
    keys = load.definition_of(Records).written_keys()
    fields: Json = {"operations": load.probe_reads(limits.probe_reads), "keys": keys}
    found = group(seed, {"get": 1}, **fields)
    missing = group(seed, {"get": 1}, missing=True, **fields)
    scans = group(seed, {"scan": 1}, scan_length=limits.scan_length, **fields)
    return [run(GETS, load, [found]), run(MISSING, load, [missing]), run(SCANS, load, [scans])]


def measured(load: Workload, seed: int) -> Json:
    """Return the phase with the clients of a workload."""
    return run(LOAD, load, _clients(load, seed), seconds=load.duration_s)


def store(options: str, settings: Settings) -> Json:
    """Return the options of a plan, and the objects of the knobs that no OPTIONS text contains.

    The plan does not contain an object that is off, because an older library may not have it. Nor
    does it contain settings that the library cannot change (`Driver.cannot_set`): for these, the
    driver has the same defaults.
    """
    plan: Json = {"options": option_string(options)}
    if "cache_size" in settings:
        plan["block_cache"] = _block_cache(settings)
    if settings.get("row_cache_size"):
        plan["row_cache_bytes"] = settings["row_cache_size"]
    if settings.get("rate_limiter_bytes_per_sec"):
        plan["rate_limiter"] = {
            "bytes_per_second": settings["rate_limiter_bytes_per_sec"],
            "auto_tuned": settings.get("rate_limiter_auto_tuned", False),
        }
    if settings.get("num_bottom_pri_threads"):
        plan["bottom_priority_threads"] = settings["num_bottom_pri_threads"]
    return plan


def _block_cache(settings: Settings) -> Json:
    kind = str(settings.get("cache_type", "lru_cache"))
    cache: Json = {"kind": _CACHES[kind], "bytes": settings["cache_size"]}
    if settings["cache_numshardbits"] != -1:
        cache["shard_bits"] = settings["cache_numshardbits"]
    if kind == "lru_cache":
        cache["high_priority_ratio"] = settings["cache_high_pri_pool_ratio"]
        if settings.get("cache_low_pri_pool_ratio"):
            cache["low_priority_ratio"] = settings["cache_low_pri_pool_ratio"]
    return cache


def _loading(part: Part) -> Iterator[Json]:
    load = part.workload
    if part.name == "build":
        yield run(LOAD, load, [_build(load, part.seed)])
    elif part.name == "load":
        yield measured(load, part.seed)


def _build(load: Workload, seed: int) -> Json:
    """Return the client that writes the records of a store before a prepared load."""
    definition = load.definition_of(Records)
    deletions = definition.range_delete(load.build_writes) if load.kind == "read" else {}
    keys = {"kind": "unique"} if load.has_all_keys else UNIFORM
    return group(seed, {"put": 1}, operations=load.build_writes, keys=keys, **deletions)


def _clients(load: Workload, seed: int) -> list[Json]:
    return load.definition_of(Records).clients(seed)


def run(name: str, load: Workload, groups: list[Json], **fields: object) -> Json:
    """Return a phase with groups of clients on the records of a workload."""
    data = load.model_dump(include={"num", "key_size", "value_size", "compression_ratio"})
    return {"do": "run", "name": name, **data, **fields, "groups": groups}
