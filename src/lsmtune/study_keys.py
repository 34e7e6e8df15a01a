"""Descriptions of the keys of a study file: for the settings, the JSON schema and `--help`.

This module imports nothing, so that `--help` does not import the settings. The last sentence of a
text is `Default: …` if the value without the key depends on something else.
"""

DEFAULT_ENGINE = "rocksdb"
"""The engine of a study whose settings name none. Lines of batches name none either."""

VERSION = "rocksdb"
"""Key of a study and of a line of a batch that has a version of RocksDB. It also names the knob of
an experiment whose values are versions."""

STUDY_KEYS = {
    "study": "Name of the study and of the study's directories. Default: a name from the settings.",
    "engine": "Engine to tune: rocksdb, myrocks, embedded, tikv, simulated, or an engine of an "
    "installed package. Default: the engine of the workload.",
    "program": "Program to run: db_bench, mariadbd or go-ycsb. Give a path, or a name on PATH. "
    "lsmdriver is lsmtune's own driver.",
    VERSION: "Installed version of RocksDB to run, e.g. 11.8.1, instead of a library or program. "
    "Default: the version of the baseline file, else the default of `lsmtune engines`, else "
    "db_bench.",
    "library": "Your own librocksdb.so, to run instead of an installed version or program.",
    "libraries": "Your own libraries of LevelDB and LMDB, by the name of the store, for the engine "
    "embedded. Default: the libraries of the system.",
    "base": "Baseline of the study: your OPTIONS file or options string, my.cnf of MyRocks, or "
    "tikv.toml of TiKV. Default: the defaults of the engine, or the running settings of TiKV.",
    "family": "Column family of the baseline that is tuned.",
    "cache": "Size of the baseline's block cache at full size, e.g. 512MiB; the scale divides it "
    "like all other sizes. OPTIONS files do not contain this size. Default: the default block "
    "cache of RocksDB.",
    "workload": "Workload of the trials: a name of `lsmtune workloads`, or in a study file a table "
    "with its parameters.",
    "measure": "How a trial measures. `running` opens a copy of an existing store with the config, "
    "overwrites each key, and measures at a fixed rate of operations. `filled` fills a store, "
    "waits until compaction has ended, and reads. Default: running if RocksDB's library runs a "
    "workload that writes into an existing store, else filled.",
    "rate": "Rate of the operations on a running store: a share of what the baseline can take, "
    "e.g. 50%, or a number of operations per second. Default: 50%.",
    "capacity": 'Latency that the capacity of a running store keeps, e.g. "write_p99_us <= 999". '
    "The capacity is then the highest rate at which this holds. Each trial tries five rates. "
    "Default: the capacity is the speed without a limit.",
    "scale": "Scale of the tree: 1 is full size; 1/64 divides the sizes of memtables, caches, "
    "files and levels by 64, not the number of records. Default: 1/64, or the smallest scale at "
    "which the baseline keeps exact sizes.",
    "knobs": "Knobs to tune: presets and names, separated by commas. top:N chooses the N most "
    "important knobs of measured runs, e.g. of `lsmtune screen`. lasso:N does the same with a "
    "linear model (Lasso). Default: presets that suit the workload.",
    "objective": "What to improve: balanced, jin2022, a metric, or several metrics. Default: the "
    "objective that suits the workload.",
    "limits": 'Limits that the winner must keep, e.g. "live_sst_bytes <= 1.1 * base". The word '
    "`base` is the value of the baseline. Forms: METRIC <= NUMBER, METRIC <= FACTOR * base, METRIC "
    "<= FACTOR * base + NUMBER, METRIC >= ..., or METRIC <= none to remove a default limit.",
    "memory": "Memory limit of the full-size store, e.g. 4GiB: for memtables, caches, and index "
    "and filter blocks outside the block cache. Default: the memory of the baseline.",
    "deploy_cores": "CPU cores of the machine that you deploy to. They limit the numbers of "
    "threads that are searched. Default: the usable cores of this machine.",
    "optimizer": "Algorithm that chooses the next config, see `lsmtune optimizers`. Default: "
    "guided if the simulator supports the workload, else tpe.",
    "warm_start": "Earlier studies of the same home that the search uses: names, or `all`.",
    "trials": "Maximum number of configs that the search tries. Default: 16, or no maximum with "
    "`budget` or `until`.",
    "budget": "Time limit of the search, e.g. 90s, 20m or 1.5h.",
    "until": "Condition that ends the search early. `stable` ends it when lsmtune expects no gain "
    "above the noise of repeated runs. A number N ends it after N trials in a row without a gain.",
    "seed": "Seed of the search and of the workload, at least 1.",
    "early_stop": "Whether lsmtune stops (prunes) a trial that can no longer win.",
    "base_runs": "Number of runs of the baseline before the search.",
    "finalists": "Number of best configs that run again after the search, so that a single lucky "
    "run cannot win.",
    "repeats": "Number of additional runs after the search for each of the `finalists` best "
    "configs.",
    "new_store": "Tune for a new store: also try values that a store which exists refuses.",
    "one_way": "Also try values that need a migration of the store, or that cannot be undone.",
    "simplify": "Take back changes of the winner that do not matter, or keep all changes.",
    "pairs": "Minimum number of pairs of runs that verify the winner: 0 for no verification, else "
    "at least 6.",
    "max_pairs": "Maximum number of pairs of runs that verify the winner.",
    "protocol": "Settings of the steps of a trial.",
    "screen": "Table for `lsmtune screen`. The command measures many configs that cover the range "
    "of every knob (a screening). Keys of the search, e.g. `pairs`, have no effect.",
    "sweep": "Table for `lsmtune sweep`. The command measures every combination of the listed knob "
    "values (an experiment). Keys of the search, e.g. `pairs`, are not allowed.",
    "online": "Online tuning: `lsmtune tune` changes the options of a running engine, rocksdb (not "
    "db_bench) or myrocks. Settings that have no effect then, e.g. `pairs`, are not allowed.",
}
"""Keys at the top of a study file, without the tables of engines."""

WORKLOAD_KEYS = {
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
    "direct_reads": "Whether reads bypass the page cache of the operating system, so that only the "
    "store's own caches help.",
    "scan_length": "Records per scan.",
    "get_percent": "Percentage of operations that are gets.",
    "write_rate_bytes_s": "Bytes per second that an additional thread overwrites while the clients "
    "read.",
    "tombstone_every": "Number of writes between two range deletions. Workloads that only read use "
    "a store that was built with these deletions.",
    "tombstone_width": "Number of keys that a range deletion covers, from a random key on.",
    "tombstones": "Maximum number of range deletions. Default: no maximum, so range deletions "
    "continue until the load ends.",
    "mix": "Shares of gets, puts, scans and gets of missing keys. The shares add up to 1.",
    "skew": "Skew of the reads. The probability falls as 1 / rank, from rank num x e^-skew on. "
    "With a larger skew, more reads go to few records. In the workload mix, the skew also applies "
    "to scans and, without `write_skew`, to puts. Default: no skew, so all records are read "
    "equally often.",
    "write_skew": "Skew of the writes: puts, overwrites, read-modify-writes and deletes. With a "
    "larger skew, more writes go to few records. With the natural logarithm of `num`, the "
    "probability falls as 1 / rank over all records, as in a Zipf distribution. The ranks are "
    "those of `skew`. db_bench cannot skew writes, but lsmtune's driver can: set `rocksdb` or "
    "`library`. Default: no skew, so all records are written equally often.",
    "trace": "File of a trace recorded by RocksDB.",
    "database": "Folder of your database. The workload runs on a copy of the database.",
    "warehouses": "Number of TPC-C warehouses, about 66 MB each.",
    "families": "Whether every table and index has its own column family.",
    "tables": "Number of tables of the sysbench workload.",
    "transactions_s": "Transactions that arrive per second, whatever the store does. Latencies "
    "then count from the arrival. Default: a client sends its next transaction when the last has "
    "ended.",
}
"""Keys of the table [workload]."""

MIX_KEYS = {
    "get": "Share of gets.",
    "put": "Share of puts.",
    "scan": "Share of scans.",
    "get_missing": "Share of gets of keys inside the key range that never exist. db_bench cannot "
    "send them, but lsmtune's driver can: set `rocksdb` or `library`.",
}
"""Keys of the table [workload.mix]."""

PROTOCOL_KEYS = {
    "probe_reads": "Number of gets of existing keys, of gets of missing keys, and of scans. "
    "lsmtune runs these reads after a workload that only writes, when compaction has ended.",
    "scan_length": "Records per scan. lsmtune runs these scans after a workload that only writes, "
    "when compaction has ended.",
    "quiet_s": "Number of idle seconds after which lsmtune assumes that flushes and compactions "
    "have ended.",
    "wall_limit_s": "Maximum duration of a trial in seconds.",
    "silence_limit_s": "Number of seconds without activity of the engine after which lsmtune "
    "stops the trial.",
    "window_s": "Duration of the measurement of a running store in seconds. Default: 6.",
}
"""Keys of the table [protocol]."""

SCREEN_KEYS = {
    "design": "Method that chooses the configs. `random` draws independent configs. `latin` and "
    "`sobol` spread the configs more evenly, as a Latin hypercube or a Sobol sequence.",
    "batch": "File of JSON lines with the configs to run; `design` then has no effect.",
    "replicated": "Number of configs that run several times, to measure the noise. Every other "
    "config runs once.",
    "runs": "Number of runs for each of the `replicated` configs.",
}
"""Keys of the table [screen]."""

SWEEP_KEYS = {
    "factors": "Knob values to combine. A factor has a name and lists the values of one knob. A "
    "factor may list several knobs, which then change together and need the same number of values. "
    "The name `rocksdb` lists installed versions of RocksDB instead of values of a knob. The key "
    "`rocksdb` of the study is the version of the baseline, by default the first in the list.",
    "labels": "Names for the values of a factor in the tables, in the order of the values. "
    "Default: the values.",
    "fixed": "Knob values of all runs, including the runs of the baseline.",
    "repeats": "Number of runs of each combination. lsmtune runs all combinations and the baseline "
    "in random order, and then starts again with another workload seed.",
    "metrics": "Metrics in the tables of the result. Default: metrics that suit the workload.",
}
"""Keys of the table [sweep]."""

ONLINE_KEYS = {
    "window_s": "Length of one measurement of the running engine in seconds. The engine rocksdb "
    "uses whole seconds.",
    "windows": "Number of measurements before a change of an option. lsmtune measures the same "
    "number of times after the change, and again after it undoes a change that seems to be a "
    "gain.",
}
"""Keys of the table [online]."""

_DEFAULT = " Default: "


def split_default(description: str) -> tuple[str, str]:
    """Return the description of a key without its default, and the default; "" if it has none."""
    meaning, _, default = description.partition(_DEFAULT)
    return meaning, default.removesuffix(".")


def flag_help(description: str, more: str = "", default: str = "") -> str:
    """Return the help of the flag that sets a key: the description, its default in brackets.

    `more` is a sentence about the flag alone. `default` is that of the flag, if the description has
    none or another one.
    """
    meaning, usual = split_default(description)
    text = f"{meaning} {more}".rstrip()
    shown = default or usual
    return f"{text.removesuffix('.')} [{shown}]." if shown else text
