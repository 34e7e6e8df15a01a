"""The JSON schema of study files: pydantic's, with descriptions and more allowed values."""

from typing import Any

from lsmtune.knobs.catalogue import load
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.spec import StudySpec
from lsmtune.spec_defaults import PROGRAMS
from lsmtune.workloads import PRESETS, Workload

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NO_DEFAULTS: tuple[Any, ...] = (None, "", [])
"""Defaults that mean: derived from other keys, or nothing."""
_LIMIT = r"^\s*\w+\s*((<=|>=)\s*\d.*|<=\s*none\s*)$"

_STUDY_WORDS = {
    "study": "Name of the study and of the study's directories. By default lsmtune makes "
    "a name from the settings.",
    "engine": "Engine to tune. By default lsmtune uses the engine of the workload.",
    "program": "Program to run: db_bench, mariadbd or go-ycsb. Give a path, or a name on PATH. "
    "lsmdriver is lsmtune's own driver.",
    "rocksdb": "Installed version of RocksDB to run, e.g. 11.8.1. Set at most one of the keys "
    "`program`, `rocksdb` and `library`; without them, `lsmtune tune` chooses.",
    "library": "Your own librocksdb.so, to run instead of an installed version.",
    "libraries": "Your own libraries of LevelDB and LMDB, by the name of the store, for the engine "
    "embedded. By default lsmtune uses the libraries of the system.",
    "base": "Your OPTIONS file or options string (MyRocks: my.cnf, TiKV: tikv.toml), the baseline "
    "of the study. By default the baseline has the engine's defaults, or the running settings of "
    "TiKV.",
    "family": "Column family of the baseline that is tuned.",
    "cache": "Size of the baseline's block cache at full size, e.g. 512MiB; `scale` divides it "
    "like all other sizes. OPTIONS files do not contain this size. Without this key, the baseline "
    "has the default block cache of RocksDB.",
    "workload": "Workload: a name, or a table with its parameters.",
    "scale": "Scale of the tree: 1 is full size; 1/64 divides the sizes of memtables, caches, "
    "files and levels by 64, not the number of records. Without this key, the scale is 1/64, or "
    "the smallest one at which the baseline keeps exact sizes.",
    "knobs": "Knobs to tune: a preset, or names separated by commas. top:N chooses the N most "
    "important knobs of measured runs, e.g. of `lsmtune screen`. lasso:N does the same with a "
    "linear model (Lasso).",
    "objective": "Objective: a combination such as balanced, a metric, or a list of metrics.",
    "limits": "Limits: METRIC <= NUMBER, METRIC <= FACTOR * base, "
    "METRIC <= FACTOR * base + NUMBER, METRIC >= ..., or METRIC <= none to remove a default "
    "limit. `base` is the value of the baseline.",
    "memory": "Memory limit of the full-size store, e.g. 4GiB: for memtables, caches, and index "
    "and filter blocks outside the block cache. By default the limit is the memory of the "
    "baseline.",
    "deploy_cores": "CPU cores of the machine that you deploy to. They limit the numbers of "
    "threads that are searched. By default they are the usable cores of this machine.",
    "optimizer": "Algorithm that chooses the next config. Without this key, `lsmtune tune` uses "
    "`guided` if the simulator supports the workload, else `tpe`.",
    "warm_start": 'Earlier studies of the same home that the search uses: names, or "all".',
    "trials": "Maximum number of configs that the search tries. With `budget` or `until`, "
    "there is no maximum by default.",
    "budget": "Time limit of the search, e.g. 20m.",
    "until": 'Condition that ends the search early. "stable" ends the search '
    "when lsmtune expects no gain above the noise of repeated runs. A number N ends the search "
    "after N trials in a row without a gain.",
    "seed": "Seed of the search and of the workload.",
    "early_stop": "Whether lsmtune stops a trial that can no longer win.",
    "base_runs": "Number of runs of the baseline before the search.",
    "finalists": "Number of best configs that run again after the search, so that a single lucky "
    "run cannot win.",
    "repeats": "Number of additional runs after the search for each of the `finalists` best "
    "configs.",
    "simplify": "Whether lsmtune takes back changes of the winner that do not matter.",
    "pairs": "Minimum number of pairs of runs that verify the winner: 0 for none, or at least 6.",
    "max_pairs": "Maximum number of pairs of runs that verify the winner.",
    "protocol": "Settings of the steps of a trial.",
    "screen": "Table for `lsmtune screen`. The command measures many configs that cover the range "
    "of every knob (a screening). Keys of the search, e.g. `pairs`, have no effect.",
    "sweep": "Table for `lsmtune sweep`. The command measures every combination of the listed knob "
    "values (an experiment). Keys of the search, e.g. `pairs`, are not allowed.",
    "online": "With the table [online], `lsmtune tune` changes the options of a running engine. "
    "The engines rocksdb (not db_bench) and myrocks support the table. Keys that have no effect "
    "then, e.g. `pairs`, are not allowed.",
    "tikv": "Addresses of your TiKV, and the command that restarts TiKV with other options.",
}
_WORKLOAD_WORDS = {
    "name": "Name of the workload.",
    "num": "Number of different keys. On an empty store, each client writes this number of "
    "records.",
    "key_size": "Size of a key in bytes.",
    "value_size": "Size of a value in bytes.",
    "threads": "Number of clients.",
    "compression_ratio": "Compressed size of the values divided by their uncompressed size.",
    "operations": "Measured operations per client.",
    "duration_s": "Duration of the load in seconds, instead of a number of operations.",
    "present": "Share of the keys that have a record before the load.",
    "direct_reads": "Whether reads bypass the page cache of the operating system.",
    "scan_length": "Records per scan.",
    "get_percent": "Percentage of operations that are gets.",
    "write_rate_bytes_s": "Bytes per second that an additional thread overwrites while the clients "
    "read.",
    "tombstone_every": "Number of writes between two range deletions.",
    "tombstone_width": "Number of keys that a range deletion covers.",
    "tombstones": "Maximum number of range deletions. By default, range deletions continue until "
    "the load ends.",
    "mix": "Shares of gets, puts and scans. The shares add up to 1.",
    "skew": "Skew of the reads. With a larger skew, more reads go to few records. By default, "
    "the workload reads all records equally often. In the workload mix, the skew also applies to "
    "scans and, without `write_skew`, to puts.",
    "write_skew": "Skew of the writes: puts, overwrites, read-modify-writes and deletes. With a "
    "larger skew, more writes go to few records. With the natural logarithm of `num`, the "
    "probability falls as 1 / rank over all records, as in a Zipf distribution. By default, the "
    "workload writes all records equally often. db_bench cannot skew writes, but lsmtune's driver "
    "can: set `rocksdb` or `library`.",
    "trace": "File of a trace recorded by RocksDB.",
    "database": "Folder of your database. The workload runs on a copy of the database.",
    "warehouses": "Number of TPC-C warehouses, about 66 MB each.",
    "families": "Whether every table and index has its own column family.",
    "tables": "Number of tables of the sysbench workload.",
}
_PROTOCOL_WORDS = {
    "probe_reads": "Number of gets of existing keys, of gets of missing keys, and of scans. "
    "lsmtune runs these reads after a workload that only writes, when compaction has ended.",
    "scan_length": "Records per scan. lsmtune runs these scans after a workload that only writes, "
    "when compaction has ended.",
    "quiet_s": "Number of idle seconds after which lsmtune assumes that flushes and compactions "
    "have ended.",
    "wall_limit_s": "Maximum duration of a trial in seconds.",
    "silence_limit_s": "Number of seconds without activity of the engine after which lsmtune "
    "stops the trial.",
}
_SCREEN_WORDS = {
    "design": "Method that chooses the configs. `random` draws independent configs. `latin` and "
    "`sobol` spread the configs more evenly, as a Latin hypercube or a Sobol sequence.",
    "batch": "File of JSON lines with the configs to run. The key `design` then has no effect.",
    "replicated": "Number of configs that run several times, to measure the noise. Every other "
    "config runs once.",
    "runs": "Number of runs for each of the `replicated` configs.",
}
_SWEEP_WORDS = {
    "factors": "Knob values to combine. A factor has a name and lists the values of one knob. A "
    "factor may list several knobs, which then change together and need the same number of values. "
    "The name `rocksdb` lists installed versions of RocksDB instead of values of a knob. The key "
    "`rocksdb` of the study is the version of the baseline, by default the first in the list.",
    "labels": "Names for the values of a factor in the tables, in the order of the values. By "
    "default the tables show the values.",
    "fixed": "Knob values of all runs, including the runs of the baseline.",
    "repeats": "Number of runs of each combination. lsmtune runs all combinations and the baseline "
    "in random order, and then starts again with another workload seed.",
    "metrics": "Metrics in the tables of the result.",
}
_ONLINE_WORDS = {
    "window_s": "Length of one measurement of the running engine in seconds. The engine rocksdb "
    "uses whole seconds.",
    "windows": "Number of measurements before a change of an option. lsmtune measures the same "
    "number of times after the change, and again after it undoes a change that seems to be a "
    "gain.",
}
_TIKV_WORDS = {
    "status": "Address of TiKV's status server.",
    "pd": "Addresses of the placement drivers, separated by commas.",
    "config": "Configuration file that TiKV reads at its start. lsmtune restores the file "
    "at the end of the study.",
    "restart": "Command that stops and starts TiKV, as a list of arguments.",
    "prepare": "Command that brings the data into the same state before every trial.",
    "api": "API that go-ycsb uses: raw, or txn for transactions.",
    "max_failed_percent": 'With `api = "txn"`, a trial fails if more than this percentage of its '
    "operations fail, for example because of write conflicts. The default is 50.",
    "start_s": "Number of seconds that TiKV may take to start. After this time, the trial fails.",
    "refresh_s": "Interval in seconds at which TiKV updates its metrics.",
}
_MIX_WORDS = {"get": "Share of gets.", "put": "Share of puts.", "scan": "Share of scans."}
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
        "memory": {"examples": ["4GiB"]},
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
