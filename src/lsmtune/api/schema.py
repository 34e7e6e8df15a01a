"""The JSON schema of study files: pydantic's, with more allowed values."""

from collections.abc import Iterator
from typing import Any

from lsmtune.engine_traits import ENGINES, offered_workloads
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.spec import OWN_TABLE, StudySettings, own_tables
from lsmtune.tables import EngineSettings

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NO_DEFAULTS: tuple[Any, ...] = (None, "", [])
"""Defaults that mean: derived from other keys, or nothing."""
_LIMIT = r"^\s*\w+\s*((<=|>=)\s*\d.*|<=\s*none\s*)$"


def study_schema() -> Schema:
    """The schema, a draft 2020-12 document: every key with its meaning, default and values."""
    schema = StudySettings.model_json_schema()
    tables = {name: _plain(table) for name, table in schema.pop("$defs", {}).items()}
    del schema["properties"][OWN_TABLE], tables[EngineSettings.__name__]
    offered = offered_workloads()
    tables["Workload"]["properties"]["name"] |= {"enum": list(offered)}
    for own in (one.own for one in offered.values() if one.own is not None):
        tables["Workload"]["properties"] |= _plain(own.model_json_schema())["properties"]
    top = _plain(schema)
    for engine, table, others in _own_tables():
        name = table["title"] if table["title"] not in tables else engine
        tables |= {key: one for key, one in others.items() if key not in tables}
        tables[name] = {"description": f"Settings of the engine {engine}."} | table
        top["properties"][engine] = {
            "description": tables[name]["description"], "$ref": f"#/$defs/{name}",
        }  # fmt: skip
    for name, values in _values().items():
        top["properties"][name] = _with_values(top["properties"][name], values)
    head = {"$schema": _DIALECT, "title": "lsmtune study"}
    return (
        head
        | {key: part for key, part in top.items() if key != "title"}
        | {"$defs": dict(sorted(tables.items()))}
    )


def _own_tables() -> Iterator[tuple[str, Schema, dict[str, Schema]]]:
    """Yield the engines with a table of their own: name, table, and what the table refers to."""
    for engine, settings in own_tables().items():
        table = settings.model_json_schema()
        others = {name: _plain(one) for name, one in table.pop("$defs", {}).items()}
        yield engine, _plain(table), others


def _values() -> dict[str, Schema]:
    """What the keys of a study allow beyond their types, which only the checks in code know."""
    metrics = [metric.name for metric in METRICS.values() if metric.better]
    several = {"type": "array", "items": {"enum": metrics}, "minItems": 1, "uniqueItems": True}
    named = (preset.name for entry in ENGINES.usable() for preset in entry.catalogue().presets)
    presets = list(dict.fromkeys(named))
    return {
        "study": {"pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
        "workload": {
            "default": StudySettings.model_fields["workload"].default.name,
            "anyOf": [{"enum": list(offered_workloads())}, {"$ref": "#/$defs/Workload"}],
        },
        "engine": {"enum": list(ENGINES)},
        "scale": {"examples": ["1/64", "1/8", "1"]},
        "knobs": {
            "anyOf": [{"enum": list(dict.fromkeys(presets))}, {"type": "string", "minLength": 1}]
        },
        "objective": {"anyOf": [{"enum": [*COMPOSITES, *metrics]}, several]},
        "limits": {"items": {"type": "string", "pattern": _LIMIT}},
        "memory": {"examples": ["4GiB"]},
        "optimizer": {"enum": sorted(OPTIMIZERS)},
        "budget": {"examples": ["20m"]},
    }


def _with_values(key: Schema, values: Schema) -> Schema:
    """The key's schema with its values; a choice of forms stands in for its only form."""
    kept = ("description", "default") if "anyOf" in values else tuple(key)
    return {name: key[name] for name in kept if name in key} | values


def _plain(table: Schema) -> Schema:
    """The table without what means nothing in TOML: nulls, and titles that repeat the names."""
    properties = {name: _without_null(key) for name, key in table["properties"].items()}
    words = " ".join(table.get("description", "").split())
    return {**table, **({"description": words} if words else {}), "properties": properties}


def _without_null(key: Schema) -> Schema:
    forms = [form for form in key.get("anyOf", []) if form.get("type") != "null"]
    rest = {name: value for name, value in key.items() if name not in ("anyOf", "title")}
    if rest.get("default", ...) in _NO_DEFAULTS:
        del rest["default"]
    if not forms:
        return rest
    return {**rest, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}
