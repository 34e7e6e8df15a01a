"""Defaults of a study's settings that depend on its other settings."""

from collections.abc import Mapping
from typing import Any

from lsmtune.tables import suited_knobs
from lsmtune.workloads import PRESETS, EngineName, Workload

PROGRAMS: dict[EngineName, str] = {
    "rocksdb": "db_bench", "myrocks": "mariadbd", "embedded": "lsmtune-stores", "tikv": "go-ycsb",
    "simulated": "lsmsim",
}  # fmt: skip
"""Default program of each engine."""

_ELSEWHERE: dict[str, dict[str, str]] = {
    "myrocks": {"knobs": "mixed"},
    "embedded": {"knobs": "all", "objective": "total_s", "scale": "1"},
}
"""Defaults for RocksDB's own workloads on another engine."""

_TIMED = "throughput_ops_s"
"""Default objective if a duration ends the load, and for a running engine."""


def with_defaults(given: Any) -> Any:
    """Return the settings with engine, program, knobs and objective that suit the workload.

    With a budget or `until`, the number of trials has no limit. Settings that are no table, or
    name an unknown workload, are returned unchanged: a later check refuses them.
    """
    load = given.get("workload", {}) if isinstance(given, Mapping) else None
    if isinstance(load, Workload):
        load = load.model_dump()
    table = load if isinstance(load, Mapping) else {"name": load}
    if "name" not in table and given.get("engine") == "tikv":
        table = {**table, "name": "ycsb_a"}
        given = {**given, "workload": table}
    name = table.get("name", "fillrandom")
    if not isinstance(name, str) or name not in PRESETS:
        return given
    preset = PRESETS[name]
    engine = given.get("engine") or preset.engine
    if engine not in preset.engines:
        engine = preset.engine  # refused below
    ours: dict[str, Any] = {"engine": engine, "program": PROGRAMS[engine]}
    asked = {
        "knobs": "families" if table.get("families") else preset.knobs,
        "objective": _TIMED if table.get("duration_s") else preset.objective,
    }
    if engine != preset.engine:
        asked |= _ELSEWHERE.get(engine, {})
    if engine == "tikv":
        asked |= {"scale": "1", "knobs": suited_knobs(given.get("tikv"))}
    if given.get("online") is not None:
        asked = {"knobs": "online", "objective": _TIMED}
    if given.get("until") is not None or given.get("budget") is not None:
        ours["trials"] = None
    return {**asked, **ours, **given}
