"""Plans of the driver: the phases of each part of a trial, the options and the shared objects.

The fields are described in native/lsmdriver/README.md.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.driver.option_string import option_string
from lsmtune.knobs.types import Settings
from lsmtune.trials import Protocol
from lsmtune.workloads import Workload

Json = dict[str, Any]

LOAD, GETS, MISSING, SCANS = "load", "gets", "missing", "scans"
"""Names of phases in events."""

_WRITER_SEED = 1_000
"""Added to the seed, for a writer next to readers. Its keys are then not those of a reader."""
_SHARES = 1_000_000
"""Weights of a mix are integers."""
_UNIFORM: Json = {"kind": "uniform"}
_CACHES = {"lru_cache": "lru", "hyper_clock_cache": "hyper_clock"}
_MIXES: dict[str, Json] = {
    "fillrandom": {"put": 1}, "fillseq": {"put": 1}, "overwrite": {"put": 1},
    "rangedelete": {"put": 1}, "updaterandom": {"read_modify_write": 1},
    "deleterandom": {"delete": 1}, "readrandom": {"get": 1}, "readhalfmissing": {"get": 1},
    "readwhilewriting": {"get": 1}, "scanshort": {"scan": 1}, "scanlong": {"scan": 1},
}  # fmt: skip
"""Operations of the clients of a workload, with their weights."""


def load_plan(part: Part, limits: Protocol) -> Json:
    """Return the phases of a part that loads or settles a database."""
    phases = list(_loading(part))
    existing = (part.workload.preset.prepared and part.name == "load") or part.name == "debt"
    return {
        "existing": existing,
        **store(part.options, part.settings),
        "phases": [*phases, {"do": "flush"}, settled(limits), {"do": "report"}],
    }


def endless_plan(part: Part) -> Json:
    """Return the plan of a load without an end, on an existing database."""
    groups = list(_clients(part.workload, part.seed))
    for group in groups:
        group.pop("operations", None)
    phases = [_run(LOAD, part.workload, groups)]
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
    fields: Json = {"operations": load.probe_reads(limits.probe_reads), "keys": _written(load)}
    found = _group(load, seed, {"get": 1}, **fields)
    missing = _group(load, seed, {"get": 1}, missing=True, **fields)
    scans = _group(load, seed, {"scan": 1}, scan_length=limits.scan_length, **fields)
    return [_run(GETS, load, [found]), _run(MISSING, load, [missing]), _run(SCANS, load, [scans])]


def measured(load: Workload, seed: int) -> Json:
    """Return the phase with the clients of a workload."""
    return _run(LOAD, load, list(_clients(load, seed)), seconds=load.duration_s)


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
        yield _run(LOAD, load, [_build(load, part.seed)])
    elif part.name == "load":
        yield measured(load, part.seed)


def _build(load: Workload, seed: int) -> Json:
    """Return the client that writes the records of a store before a prepared load."""
    deletions = _range_delete(load, load.build_writes) if load.kind == "read" else {}
    keys = {"kind": "unique"} if load.has_all_keys else _UNIFORM
    return _group(load, seed, {"put": 1}, operations=load.build_writes, keys=keys, **deletions)


def _clients(load: Workload, seed: int) -> Iterator[Json]:
    fields: Json = {"clients": load.threads, **_keys(load)}
    if load.client_operations is not None:
        fields["operations"] = load.client_operations
    if load.scan_length is not None:
        fields["scan_length"] = load.scan_length
    if load.kind != "read":
        fields |= _range_delete(load, load.client_operations)
    yield _group(load, seed, _mix(load), **fields)
    if load.write_rate_bytes_s is not None:
        # It writes until the readers have ended.
        rate = {"bytes_per_second": load.write_rate_bytes_s}
        yield _group(load, seed + _WRITER_SEED, {"put": 1}, keys=_written(load), **rate)


def _keys(load: Workload) -> Json:
    """Return the fields that choose the keys of the clients, and of their writes if these differ.

    The writes of `write_rate_bytes_s` are those of another client.
    """
    if load.name == "fillseq":
        return {"keys": {"kind": "sequential"}}
    if load.kind == "write" or load.name == "updaterandom":
        return {"keys": _written(load)}
    keys = {"keys": _skewed(load.skew)}
    if load.write_skew is None or load.write_rate_bytes_s is not None:
        return keys
    return {**keys, "write_keys": _written(load)}


def _written(load: Workload) -> Json:
    return _skewed(load.write_skew)


def _skewed(skew: float | None) -> Json:
    return _UNIFORM if skew is None else {"kind": "exponential", "range": skew}


def _mix(load: Workload) -> Json:
    if load.mix is not None:
        shares = {"get": load.mix.get, "put": load.mix.put, "scan": load.mix.scan}
        return {kind: round(share * _SHARES) for kind, share in shares.items()}
    if load.get_percent is not None:
        return {"get": load.get_percent, "put": 100 - load.get_percent}
    return _MIXES[load.name]


def _range_delete(load: Workload, writes: int | None) -> Json:
    count = load.range_deletions(writes)
    if count is None:
        return {}
    every, width = load.tombstone_every, load.tombstone_width
    return {"range_delete": {"every": every, "width": width, "at_most": count}}


def _group(load: Workload, seed: int, mix: Mapping[str, int], **fields: Any) -> Json:
    return {"seed": seed, "mix": dict(mix), "keys": _UNIFORM, **fields}


def _run(name: str, load: Workload, groups: list[Json], **fields: Any) -> Json:
    data = load.model_dump(include={"num", "key_size", "value_size", "compression_ratio"})
    return {"do": "run", "name": name, **data, **fields, "groups": groups}
