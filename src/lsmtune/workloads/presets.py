"""The loads by name: what each does, and which parameters it has besides those of every load."""

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["write", "read", "mixed"]
EngineName = Literal["rocksdb", "myrocks", "embedded", "tikv", "simulated"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A load by name.

    `kind` tells what is measured of it: the writes, followed by a probe of reads; the reads; or
    both at once. `prepared` loads run on a database that has been built and has settled before.
    `parameters` are those that only some loads have, with their defaults; a load has no others.
    `also_on` are the engines that run it besides its own. A load of SQL, or of go-ycsb, has none
    of the parameters of records either, but for those in `of_all`, which has its defaults of the
    parameters that every load has.
    """

    what: str
    kind: Kind
    prepared: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    engine: EngineName = "rocksdb"
    of_all: dict[str, Any] = field(default_factory=dict)
    also_on: tuple[EngineName, ...] = ()

    @property
    def engines(self) -> tuple[EngineName, ...]:
        """The engines that run it, its own first."""
        return (self.engine, *self.also_on)

    @property
    def objective(self) -> str:
        """What is asked for under this load unless the user says otherwise."""
        timed = self.kind == "read" or self.engine == "tikv"
        return "throughput_ops_s" if timed else "balanced"

    @property
    def knobs(self) -> str:
        """The preset of knobs that is searched unless the user says otherwise."""
        if self.engine == "myrocks" and self.kind == "read":
            return "families"
        if self.engine == "tikv":
            return "core"
        return {"write": "core", "read": "reads", "mixed": "mixed"}[self.kind]

    def untold(self, engine: EngineName) -> tuple[str, ...]:
        """The metrics with a limit of their own that the engine does not tell under the load."""
        return ("get_missing_p99_us", "write_amp") if self.engine == "tikv" else ()

    def has(self, parameter: str) -> bool:
        """Whether the load has a parameter of those that RocksDB's own loads all have."""
        return self.engine == "rocksdb" or parameter in self.of_all


_OPERATIONS: dict[str, Any] = {"operations": None}
_TOMBSTONES: dict[str, Any] = {
    "tombstone_every": None, "tombstone_width": None, "tombstones": None
}  # fmt: skip
"""Range deletions among the writes into an empty store."""
_STORED: dict[str, Any] = {**_OPERATIONS, "present": 1.0, "direct_reads": True}
_GETS: dict[str, Any] = {**_STORED, "skew": None}
_SCANS: dict[str, Any] = {**_STORED, "scan_length": 10}
_SQL: dict[str, Any] = {**_OPERATIONS, "duration_s": None, "direct_reads": True}
_TABLES: dict[str, Any] = {**_SQL, "tables": 4}
_YCSB = {"num": 1_000_000, "value_size": 1000, "threads": 64}
_FEWER = {"readrandom": 2, "readhalfmissing": 2, "lookup": 2, "scanshort": 4, "scanlong": 50,
          "writeheavy": 16, "pntlookup80": 16, "smallpntlookup": 20, "shortscan": 400,
          "longscan": 4000}  # fmt: skip
"""Reads of the device take longer than writes: so many times fewer are run by default.

Those of AutoTiKV's loads are what it published, as a share of the records.
"""
_TRANSACTIONS = 2000
"""Of each client of a load of SQL."""


def _ycsb(what: str, kind: Kind, scan_length: int | None = None) -> Preset:
    """A load that go-ycsb runs on TiKV, over records that were loaded before."""
    scans = {} if scan_length is None else {"scan_length": scan_length}
    return Preset(what, kind, True, {**_OPERATIONS, **scans}, "tikv", _YCSB)


TPCC_FAMILIES = (
    "cf_warehouse", "cf_district", "cf_customer", "cf_customer_name", "cf_history", "cf_new_order",
    "cf_orders", "cf_orders_customer", "cf_order_line", "cf_item", "cf_stock",
)  # fmt: skip
"""The column families of the load tpcc, where it has its own: one a table, one an index."""

LOOKUP_FAMILIES = ("writecf", "defaultcf")
"""The column families of the load lookup, in the order in which it asks them."""

PRESETS: dict[str, Preset] = {
    "fillrandom": Preset(
        "random writes over the whole key range into an empty store: write-heavy",
        "write",
        parameters={"operations": None, **_TOMBSTONES},
        also_on=("myrocks", "embedded", "simulated"),
    ),
    "fillseq": Preset(
        "writes in the order of the keys into an empty store",
        "write",
        also_on=("embedded", "simulated"),
    ),
    "overwrite": Preset(
        "random overwrites of the records of a settled store",
        "write",
        True,
        _OPERATIONS,
        also_on=("simulated",),
    ),
    "updaterandom": Preset(
        "read-modify-write of random records of a settled store", "mixed", True, _STORED
    ),
    "deleterandom": Preset(
        "deletes of random records of a settled store", "write", True, _OPERATIONS
    ),
    "rangedelete": Preset(
        "random overwrites with a range tombstone after every `tombstone_every` of them, over "
        "`tombstone_width` keys",
        "write",
        True,
        {**_OPERATIONS, "tombstone_every": 1000, "tombstone_width": 100},
    ),
    "readrandom": Preset(
        "gets of random records that exist", "read", True, {**_GETS, **_TOMBSTONES}
    ),
    "readhalfmissing": Preset(
        "gets of which half find no record, though its key lies among those that exist",
        "read",
        True,
        {**_GETS, "present": 0.5},
    ),
    "scanshort": Preset("seeks with 10 records read behind each", "read", True, _SCANS),
    "scanlong": Preset(
        "seeks with 1,000 records read behind each",
        "read",
        True,
        {**_SCANS, "scan_length": 1000},
    ),
    "readwhilewriting": Preset(
        "gets while one more thread overwrites `write_rate_bytes_s` a second",
        "mixed",
        True,
        {**_GETS, "write_rate_bytes_s": 4 << 20},
    ),
    "readrandomwriterandom": Preset(
        "gets and overwrites of random records in turn; `get_percent` of the operations are gets",
        "mixed",
        True,
        {**_STORED, "duration_s": None, "get_percent": 50},
    ),
    "mix": Preset(
        "gets, puts and scans in shares of your own",
        "mixed",
        True,
        {**_GETS, "scan_length": 10, "mix": {"get": 0.5, "put": 0.5, "scan": 0.0}},
    ),
    "mixgraph": Preset(
        "gets, puts and scans as in Facebook's ZippyDB: hot ranges of keys, hot keys, varying "
        "lengths of values and scans",
        "mixed",
        True,
        _STORED,
    ),
    "trace": Preset(
        "your own trace, as RocksDB records it, replayed as fast as it goes on a copy of your "
        "`database`, or on a built one",
        "mixed",
        True,
        {"direct_reads": True, "present": 1.0, "trace": None, "database": None},
    ),
    "tpcc": Preset(
        "the five transactions of TPC-C on `warehouses`; with `families` every table and index "
        "has a column family of its own",
        "mixed",
        True,
        {**_SQL, "warehouses": 2, "families": False},
        "myrocks",
        {"threads": 8},
    ),
    "oltp_read_write": Preset(
        "sysbench's transactions of 18 queries, 4 of which write, on `tables` of `num` rows",
        "mixed",
        True,
        _TABLES,
        "myrocks",
        {"threads": 8, "num": 50_000},
    ),
    "oltp_write_only": Preset(
        "sysbench's transactions of 4 writes on `tables` of `num` rows",
        "mixed",
        True,
        _TABLES,
        "myrocks",
        {"threads": 8, "num": 50_000},
    ),
    "lookup": Preset(
        "gets by SQL in two column families as TiKV has them: a get that finds no key in writecf "
        "does not ask defaultcf for the value; `present` of the keys have one",
        "read",
        True,
        {**_OPERATIONS, "present": 0.5, "direct_reads": True, "skew": None},
        "myrocks",
        {"num": 200_000, "key_size": 16, "value_size": 1024, "compression_ratio": 0.5,
         "threads": 1},
    ),
    "writeheavy": _ycsb("AutoTiKV: updates of records, zipfian", "write"),
    "pntlookup80": _ycsb(
        "AutoTiKV: reads out of twice as many keys as have a record, zipfian", "read"
    ),
    "smallpntlookup": _ycsb("AutoTiKV: reads of few records, zipfian", "read"),
    "shortscan": _ycsb("AutoTiKV: scans of 100 records, uniform", "read", 100),
    "longscan": _ycsb("AutoTiKV: scans of 100,000 records, uniform", "read", 100_000),
    "ycsb_a": _ycsb("YCSB A: half reads, half updates, zipfian", "mixed"),
    "ycsb_b": _ycsb("YCSB B: 95 % reads, 5 % updates, zipfian", "mixed"),
    "ycsb_c": _ycsb("YCSB C: reads, zipfian", "read"),
    "ycsb_d": _ycsb("YCSB D: 95 % reads of the latest records, 5 % inserts", "mixed"),
    "ycsb_e": _ycsb(
        "YCSB E: 95 % scans of up to `scan_length` records, zipfian, 5 % inserts", "mixed", 100
    ),
    "ycsb_f": _ycsb("YCSB F: half reads, half read-modify-writes, zipfian", "mixed"),
}  # fmt: skip
"""The workloads by name."""

OPTIONAL = frozenset(name for preset in PRESETS.values() for name in preset.parameters)
"""The parameters that only some loads have."""


def default_operations(name: str, num: int, threads: int = 1) -> int:
    """Operations of each client where the user names none: as many as records, or fewer reads.

    Those of a load of SQL that writes are transactions. On TiKV the clients do so many together.
    """
    if PRESETS[name].engine == "myrocks" and name not in _FEWER:
        return _TRANSACTIONS
    together = num // _FEWER.get(name, 1)
    return max(1, together // threads if PRESETS[name].engine == "tikv" else together)
