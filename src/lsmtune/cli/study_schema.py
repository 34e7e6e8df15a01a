"""The JSON schema of study files: pydantic's, with what the checks in code allow, and in words."""

from typing import Any

from lsmtune.knobs.catalogue import load
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.spec import PROGRAMS, StudySpec
from lsmtune.workloads import PRESETS, Workload

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NO_DEFAULTS: tuple[Any, ...] = (None, "", [])
"""Where the user says nothing, these stand for what follows from other keys, or for none."""
_LIMIT = r"^\s*\w+\s*((<=|>=)\s*\d.*|<=\s*none\s*)$"

_STUDY_WORDS = {
    "study": "name of the study, and of its folders; made of the settings where none is given",
    "engine": "the system under test; that of the load where none is given",
    "program": "the db_bench, mariadbd, driver of the embedded stores or go-ycsb to run: a path, "
    "or a name on PATH",
    "base": "your own OPTIONS file (of MyRocks: my.cnf, of TiKV: tikv.toml), which tuning starts "
    "from; without it the engine's defaults, or what TiKV runs with",
    "family": "the column family of the base that is tuned",
    "cache": "size of the base's block cache, which no OPTIONS file tells, e.g. 64MiB",
    "workload": "the load: a name, or a table of its parameters",
    "scale": "size of the tree: 1 is full size, 1/64 a 64th of every size",
    "knobs": "the knobs to search: a preset, names separated by commas, or of a screening top:6 or "
    "lasso:6",
    "objective": "what to improve: a goal made of several metrics, a metric, or a list of metrics",
    "limits": "what must hold besides: METRIC <= NUMBER, or METRIC <= NUMBER * base (or >=), or "
    "METRIC <= none to lift a default limit",
    "memory": "most that memtables and block cache may take, e.g. 10MiB; by default as the base",
    "optimizer": "what decides which config to try next",
    "warm_start": "earlier studies of the same home, by name or all of them, from which the search "
    "begins",
    "trials": "configs to search with",
    "budget": "time to search for, e.g. 20m",
    "until": "ends the search when it is stable, that is when no gain beyond the noise of repeated "
    "runs is expected, or after so many trials in a row without one",
    "seed": "makes the search and the loads repeatable",
    "early_stop": "whether a trial that can no longer win is cut",
    "base_runs": "runs of the base before the search",
    "finalists": "how many of the best configs run again, so that no lucky run wins",
    "repeats": "how often each finalist runs again",
    "pairs": "fewest pairs of runs that verify the winner: 0 for none, or at least 6",
    "max_pairs": "most pairs of runs that verify the winner",
    "protocol": "how a trial is run",
    "screen": "makes the study a screening: `lsmtune screen` runs it, and nothing is searched",
    "sweep": "makes the study a controlled experiment: `lsmtune sweep` runs it",
    "online": "makes `lsmtune tune` change the options of a running engine, MyRocks",
    "tikv": "where your TiKV is, and how it is started with other options",
}
_WORKLOAD_WORDS = {
    "name": "which load",
    "num": "different keys; a load into an empty store writes as many records from each client",
    "key_size": "bytes of a key",
    "value_size": "bytes of a value",
    "threads": "clients that run the load",
    "compression_ratio": "size of the values once compressed, as a share",
    "operations": "measured operations of each client",
    "duration_s": "seconds after which the load ends, instead of a number of operations",
    "present": "share of the keys that have a record before the load",
    "direct_reads": "reads pass by the operating system's page cache",
    "scan_length": "records read behind each seek",
    "get_percent": "how many of a hundred operations are gets",
    "write_rate_bytes_s": "bytes a second that the writing thread overwrites",
    "tombstone_every": "writes between two range tombstones",
    "tombstone_width": "keys that a range tombstone covers",
    "tombstones": "most range tombstones that are written; as many as fit where not given",
    "mix": "shares of gets, puts and scans; they add up to 1",
    "skew": "some records are hotter: a chance falls as e^-(skew x rank / num)",
    "trace": "file of a trace that RocksDB recorded",
    "database": "your database, a copy of which the load runs on",
    "warehouses": "warehouses of TPC-C, of about 66 MB each",
    "families": "whether every table and index has a column family of its own",
    "tables": "tables of sysbench's load",
}
_PROTOCOL_WORDS = {
    "probe_reads": "gets that hit, as many that miss, and as many scans, once the tree has settled",
    "scan_length": "records that a scan of the probe reads",
    "quiet_s": "seconds without any work after which the tree counts as settled",
    "wall_limit_s": "seconds after which a trial is ended",
    "silence_limit_s": "seconds without a sign of life after which a trial is ended",
}
_SCREEN_WORDS = {
    "design": "how the configs are spread over the space",
    "batch": "a file of JSON lines whose configs run instead of a design's",
    "replicated": "how many of the configs run more than once, which tells the noise",
    "runs": "how often each of those runs",
}
_SWEEP_WORDS = {
    "factors": "what is varied: for each factor the values of a knob, or of several alike many",
    "labels": "for a factor what its levels are called, instead of by their values",
    "fixed": "settings that hold in every cell and in the base",
    "repeats": "blocks; each runs every cell once",
    "metrics": "metrics that the tables show",
}
_ONLINE_WORDS = {
    "window_s": "seconds of a window in which the running engine is watched",
    "windows": "windows before a change, under it, and after it was taken back",
}
_TIKV_WORDS = {
    "status": "address of TiKV's status server",
    "pd": "addresses of the placement drivers, separated by commas",
    "config": "the file that TiKV reads when it starts; it is put back in the end",
    "restart": "the command that stops and starts TiKV, as a list of arguments",
    "prepare": "a command that brings the data into its state before every trial",
    "api": "how go-ycsb stores records: raw, or in transactions",
    "start_s": "seconds that TiKV may take to start",
    "refresh_s": "seconds after which TiKV has counted anew what it tells",
}
_MIX_WORDS = {"get": "share of gets", "put": "share of puts", "scan": "share of scans"}
_WORDS = {"Workload": _WORKLOAD_WORDS, "Protocol": _PROTOCOL_WORDS, "Mix": _MIX_WORDS,
          "Screen": _SCREEN_WORDS, "Sweep": _SWEEP_WORDS, "Online": _ONLINE_WORDS,
          "Cluster": _TIKV_WORDS}  # fmt: skip


def study_schema() -> Schema:
    """The schema, a draft 2020-12 document: every key with its meaning, default and values."""
    schema = StudySpec.model_json_schema()
    tables = {
        name: _told(_plain(table), _WORDS.get(name, {}))
        for name, table in schema.pop("$defs", {}).items()
    }
    tables["Workload"]["properties"]["name"] |= {"enum": list(PRESETS)}
    top = _told(_plain(schema), _STUDY_WORDS)
    for name, values in _values().items():
        top["properties"][name] = _with_values(top["properties"][name], values)
    head = {"$schema": _DIALECT, "title": "lsmtune study"}
    return head | {key: part for key, part in top.items() if key != "title"} | {"$defs": tables}


def _values() -> dict[str, Schema]:
    """What the keys of a study allow beyond their types, which only the checks in code know."""
    metrics = [metric.name for metric in METRICS.values() if metric.better]
    several = {"type": "array", "items": {"enum": metrics}, "minItems": 1, "uniqueItems": True}
    named = (preset.name for engine in PROGRAMS for preset in load(engine).presets)
    presets = list(dict.fromkeys(named))
    return {
        "study": {"pattern": r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
        "workload": {
            "default": Workload().name,
            "anyOf": [{"enum": list(PRESETS)}, {"$ref": "#/$defs/Workload"}],
        },
        "scale": {"examples": ["1/64", "1/8", "1"]},
        "knobs": {
            "anyOf": [{"enum": list(dict.fromkeys(presets))}, {"type": "string", "minLength": 1}]
        },
        "objective": {"anyOf": [{"enum": [*COMPOSITES, *metrics]}, several]},
        "limits": {"items": {"type": "string", "pattern": _LIMIT}},
        "memory": {"examples": ["64MiB"]},
        "optimizer": {"enum": list(OPTIMIZERS)},
        "budget": {"examples": ["20m"]},
    }


def _with_values(key: Schema, values: Schema) -> Schema:
    """The key's schema with its values; a choice of forms stands in for its only form."""
    kept = ("description", "default") if "anyOf" in values else tuple(key)
    return {name: key[name] for name in kept if name in key} | values


def _told(table: Schema, words: dict[str, str]) -> Schema:
    """The table with a description at each key; the model's own wins."""
    for name, key in table["properties"].items():
        if name in words:
            key.setdefault("description", words[name])
    return table


def _plain(table: Schema) -> Schema:
    """The table without what means nothing in TOML: nulls, and titles that repeat the names."""
    properties = {name: _without_null(key) for name, key in table["properties"].items()}
    description = " ".join(table["description"].split())
    return {**table, "description": description, "properties": properties}


def _without_null(key: Schema) -> Schema:
    forms = [form for form in key.get("anyOf", []) if form.get("type") != "null"]
    rest = {name: value for name, value in key.items() if name not in ("anyOf", "title")}
    if rest.get("default", ...) in _NO_DEFAULTS:
        del rest["default"]
    if not forms:
        return rest
    return {**rest, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}
