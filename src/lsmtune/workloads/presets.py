"""Workloads by name, with a description and their own parameters."""

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["write", "read", "mixed"]
EngineName = str
"""Name of an engine: of lsmtune, or of an installed package."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A named workload.

    `kind` is what is measured: writes (followed by a probe of reads), reads, or both at once. A
    `prepared` workload runs on a database that was built and has settled before. A workload that
    `can_be_endless` can run until it is stopped, as online tuning needs it: the store keeps its
    size. `parameters` are its own parameters with their defaults. `engine` runs it, and so do the
    engines in `also_on`; entries of engines name further workloads. SQL and go-ycsb workloads have
    only those parameters of records that are in `of_all`, with these defaults. On the engine
    rocksdb, only the program db_bench runs a workload that `needs_db_bench`. The engine measures
    the latency of the kinds of operations in `measured`, named as the prefix of their metrics.
    `write_share` is the share of the operations that write, if workload and parameters do not tell
    it. By default, a client does one operation per `records_per_operation` records: reads from the
    disk take longer than writes.
    """

    what: str
    kind: Kind
    prepared: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    engine: EngineName = "rocksdb"
    of_all: dict[str, Any] = field(default_factory=dict)
    also_on: tuple[EngineName, ...] = ()
    needs_db_bench: bool = False
    can_be_endless: bool = False
    measured: tuple[str, ...] = ("write",)
    write_share: float | None = None
    records_per_operation: int = 1

    @property
    def engines(self) -> tuple[EngineName, ...]:
        """Engines that run it, its own first, apart from those whose entries name it."""
        return (self.engine, *self.also_on)

    @property
    def objective(self) -> str:
        """Default objective."""
        timed = self.kind == "read" or self.engine == "tikv"
        return "throughput_ops_s" if timed else "balanced"

    @property
    def knobs(self) -> str:
        """Default preset of knobs."""
        if self.engine == "myrocks" and self.kind == "read":
            return "families"
        if self.engine == "tikv":
            return "core"
        return {"write": "core", "read": "reads", "mixed": "mixed"}[self.kind]

    def has(self, parameter: str) -> bool:
        """Return whether the workload has a parameter that all workloads of RocksDB have."""
        return self.engine == "rocksdb" or parameter in self.of_all


_OPERATIONS: dict[str, Any] = {"operations": None}
_SKEWED: dict[str, Any] = {"write_skew": None}
_TOMBSTONES: dict[str, Any] = {
    "tombstone_every": None, "tombstone_width": None, "tombstones": None
}  # fmt: skip
"""Range deletions between the writes into an empty store."""
_STORED: dict[str, Any] = {**_OPERATIONS, "present": 1.0, "direct_reads": True}
_GETS: dict[str, Any] = {**_STORED, "skew": None}
_SCANS: dict[str, Any] = {**_STORED, "scan_length": 10}
_SQL: dict[str, Any] = {**_OPERATIONS, "duration_s": None, "direct_reads": True}
_TABLES: dict[str, Any] = {**_SQL, "tables": 4}
_YCSB = {"num": 1_000_000, "value_size": 1000, "threads": 64}
_TRANSACTIONS = 2000
"""Default number of transactions per client of an SQL workload."""


def _ycsb(
    what: str, kind: Kind, *measured: str, scan_length: int | None = None,
    write_share: float | None = None, records_per_operation: int = 1,
) -> Preset:  # fmt: skip
    """Return a workload that go-ycsb runs on TiKV, over records loaded before.

    For AutoTiKV's workloads, `records_per_operation` gives the published number of operations.
    """
    scans = {} if scan_length is None else {"scan_length": scan_length}
    return Preset(
        what, kind, True, {**_OPERATIONS, **scans}, "tikv", _YCSB, measured=measured,
        write_share=write_share, records_per_operation=records_per_operation,
    )  # fmt: skip


TPCC_FAMILIES = (
    "cf_warehouse", "cf_district", "cf_customer", "cf_customer_name", "cf_history", "cf_new_order",
    "cf_orders", "cf_orders_customer", "cf_order_line", "cf_item", "cf_stock",
)  # fmt: skip
"""Column families of tpcc with `families`: one per table, one per index."""

LOOKUP_FAMILIES = ("writecf", "defaultcf")
"""Column families of the workload lookup, in the order in which it reads them."""

PRESETS: dict[str, Preset] = {
    "fillrandom": Preset(
        "random writes over the whole key range into an empty store", "write",
        parameters={**_OPERATIONS, **_TOMBSTONES, **_SKEWED},
        also_on=("myrocks", "embedded")),
    "fillseq": Preset(
        "writes in key order into an empty store", "write", also_on=("embedded",)),
    "overwrite": Preset(
        "overwrites of random records in a store that was filled before",
        "write", True, {**_OPERATIONS, **_SKEWED}, can_be_endless=True),
    "updaterandom": Preset(
        "read-modify-writes of random records in a store that was filled before",
        "mixed", True, {**_STORED, **_SKEWED}, can_be_endless=True),
    "deleterandom": Preset(
        "deletes of random records in a store that was filled before",
        "write", True, {**_OPERATIONS, **_SKEWED}),
    "rangedelete": Preset(
        "overwrites of random records; after every `tombstone_every` overwrites, a range deletion "
        "of `tombstone_width` keys",
        "write", True,
        {**_OPERATIONS, "tombstone_every": 1000, "tombstone_width": 100, **_SKEWED}),
    "readrandom": Preset(
        "gets of random records that exist",
        "read", True, {**_GETS, **_TOMBSTONES}, can_be_endless=True,
        measured=("get",), records_per_operation=2),
    "readhalfmissing": Preset(
        "gets of random keys in the range of existing keys; half of the keys have no record",
        "read", True, {**_GETS, "present": 0.5}, can_be_endless=True,
        measured=("get",), records_per_operation=2),
    "scanshort": Preset(
        "scans of 10 records, each from a random key",
        "read", True, _SCANS, can_be_endless=True, measured=("scan",), records_per_operation=4),
    "scanlong": Preset(
        "scans of 1,000 records, each from a random key",
        "read", True, {**_SCANS, "scan_length": 1000}, can_be_endless=True,
        measured=("scan",), records_per_operation=50),
    "readwhilewriting": Preset(
        "gets, while one more thread overwrites `write_rate_bytes_s` bytes per second",
        "mixed", True, {**_GETS, "write_rate_bytes_s": 4 << 20, **_SKEWED}, can_be_endless=True,
        measured=("get",)),
    "readrandomwriterandom": Preset(
        "gets and overwrites of random records; `get_percent` % of the operations are gets",
        "mixed", True, {**_STORED, "duration_s": None, "get_percent": 50, **_SKEWED},
        can_be_endless=True, measured=("get", "write")),
    "mix": Preset(
        "gets, puts and scans in the shares that you choose",
        "mixed", True,
        {**_GETS, "scan_length": 10, "mix": {"get": 0.5, "put": 0.5, "scan": 0.0}, **_SKEWED},
        can_be_endless=True),
    "mixgraph": Preset(
        "gets, puts and scans as in Facebook's ZippyDB: hot key ranges, hot keys, varying sizes "
        "of values and scans",
        "mixed", True, _STORED, needs_db_bench=True, measured=("get", "write", "scan")),
    "trace": Preset(
        "replay of a trace recorded by RocksDB, at full speed, on a copy of your `database` or on "
        "a generated database",
        "mixed", True, {"direct_reads": True, "present": 1.0, "trace": None, "database": None},
        needs_db_bench=True, measured=()),
    "tpcc": Preset(
        "the five transactions of TPC-C on a number of `warehouses`; with `families`, every table "
        "and index has its own column family",
        "mixed", True, {**_SQL, "warehouses": 2, "families": False}, "myrocks", {"threads": 8},
        can_be_endless=True,
        measured=("new_order", "payment", "order_status", "delivery", "stock_level")),
    "oltp_read_write": Preset(
        "sysbench transactions of 14 reads and 4 writes; each of the `tables` has `num` rows",
        "mixed", True, _TABLES, "myrocks", {"threads": 8, "num": 50_000},
        can_be_endless=True, measured=("transaction",)),
    "oltp_write_only": Preset(
        "sysbench transactions of 4 writes; each of the `tables` has `num` rows",
        "mixed", True, _TABLES, "myrocks", {"threads": 8, "num": 50_000},
        can_be_endless=True, measured=("transaction",)),
    "lookup": Preset(
        "SQL gets in the column family writecf, as in TiKV; if the key exists, also a get in "
        "defaultcf. `present` is the share of keys that have a record",
        "read", True, {**_OPERATIONS, "present": 0.5, "direct_reads": True, "skew": None},
        "myrocks", {"num": 200_000, "key_size": 16, "value_size": 1024, "compression_ratio": 0.5,
                    "threads": 1}, measured=("get",), records_per_operation=2),
    "writeheavy": _ycsb(
        "AutoTiKV: updates of records (zipfian)", "write", "write", records_per_operation=16),
    "pntlookup80": _ycsb(
        "AutoTiKV: reads of keys; half of the keys have a record (zipfian)", "read", "get",
        records_per_operation=16),
    "smallpntlookup": _ycsb(
        "AutoTiKV: reads of a small number of records (zipfian)", "read", "get",
        records_per_operation=20),
    "shortscan": _ycsb(
        "AutoTiKV: scans of 100 records from random keys", "read", "scan",
        scan_length=100, records_per_operation=400),
    "longscan": _ycsb(
        "AutoTiKV: scans of 100,000 records from random keys", "read", "scan",
        scan_length=100_000, records_per_operation=4000),
    "ycsb_a": _ycsb(
        "YCSB A: 50 % reads, 50 % updates (zipfian)", "mixed", "get", "write", write_share=0.5),
    "ycsb_b": _ycsb(
        "YCSB B: 95 % reads, 5 % updates (zipfian)", "mixed", "get", "write", write_share=0.05),
    "ycsb_c": _ycsb("YCSB C: only reads (zipfian)", "read", "get"),
    "ycsb_d": _ycsb(
        "YCSB D: 95 % reads of the latest records, 5 % inserts", "mixed", "get", "write",
        write_share=0.05),
    "ycsb_e": _ycsb(
        "YCSB E: 95 % scans of up to `scan_length` records (zipfian), 5 % inserts", "mixed",
        "scan", "write", scan_length=100, write_share=0.05),
    "ycsb_f": _ycsb(
        "YCSB F: 50 % reads, 50 % read-modify-writes (zipfian)", "mixed", "get", "write",
        write_share=0.5),
}  # fmt: skip
"""The workloads by name."""

OPTIONAL = frozenset(name for preset in PRESETS.values() for name in preset.parameters)
"""Parameters that only some workloads have."""


def default_operations(name: str, num: int, threads: int = 1) -> int:
    """Return the default operations per client: as many as records, or fewer for reads.

    For an SQL workload that writes, it is a number of transactions. On TiKV, the clients share the
    operations.
    """
    preset = PRESETS[name]
    if preset.engine == "myrocks" and preset.kind != "read":
        return _TRANSACTIONS
    together = num // preset.records_per_operation
    return max(1, together // threads if preset.engine == "tikv" else together)


def workloads_of(engine: EngineName) -> tuple[str, ...]:
    """Return the names of the workloads that an engine of lsmtune runs."""
    return tuple(name for name, preset in PRESETS.items() if engine in preset.engines)


def endless_workloads(engine: EngineName) -> str:
    """Return the names of the workloads that can run for an unlimited time on an engine."""
    found = (n for n, p in PRESETS.items() if p.can_be_endless and engine in p.engines)
    return ", ".join(found)
