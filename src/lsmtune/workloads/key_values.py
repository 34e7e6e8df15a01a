"""Bases of the workloads of keys and values: their data, and the clients that run them."""

from collections.abc import Iterator, Mapping
from math import exp, expm1, log, log1p
from typing import Any, ClassVar

from lsmtune.workloads.definition import OF_RECORDS, PROBED, TIMED, Definition, defaults

Json = dict[str, Any]

UNIFORM: Json = {"kind": "uniform"}
"""Choice of keys in a plan of the driver: all with the same probability."""
_WRITER_SEED = 1_000
"""Added to the seed, for a writer next to readers. Its keys are then not those of a reader."""
_SLICES = 1000
"""Number of groups of keys with similar probability. The error is then far below 1 %."""

OPERATIONS = defaults(operations=None)
SKEWED_WRITES = defaults(write_skew=None)
TOMBSTONES = defaults(tombstone_every=None, tombstone_width=None, tombstones=None)
"""Range deletions between the writes into an empty store."""
STORED = defaults(OPERATIONS, present=1.0, direct_reads=True)


class KeyValues(Definition):
    """A workload of keys and values.

    By default, a client does one operation per `records_per_operation` records: reads from the
    disk take longer than writes.
    """

    of_records = defaults(dict.fromkeys(OF_RECORDS))
    stores_all = True
    records_per_operation: ClassVar[int] = 1

    @property
    def default_operations(self) -> int | None:
        """As many operations as records, or fewer for reads."""
        return max(1, self.load.num // self.records_per_operation)

    @property
    def size(self) -> tuple[str, int] | None:
        """Duration or operations if they are given, else the number of records."""
        if self.load.duration_s is not None:
            return "workload.duration_s", self.load.duration_s
        if self.load.operations is not None:
            return "workload.operations", self.load.operations
        return "workload.num", self.load.num

    @property
    def write_share(self) -> float | None:
        """Share of the operations that write, if it is known."""
        return 1.0 if self.kind == "write" else None

    @property
    def bytes_per_write(self) -> int:
        """Key and value bytes of an operation that writes."""
        return self.load.record_bytes

    @property
    def written_bytes(self) -> int | None:
        """Key and value bytes that the clients write, if operations and shares are known."""
        if self.client_operations is None or self.write_share is None:
            return None
        operations = self.client_operations * self.load.threads
        return round(self.write_share * operations * self.bytes_per_write)

    @property
    def user_bytes(self) -> int:
        """Key and value bytes that the clients write, including the build of the database.

        If their number is unknown, the bytes of all records: overwrites do not make a store larger.
        """
        built = self.load.build_writes if self.prepared else 0
        each = self.load.num if self.client_operations is None else self.client_operations
        writes = each * self.load.threads if self.kind != "read" else 0
        return (built + writes) * self.load.record_bytes


class Records(KeyValues):
    """A workload of db_bench and of lsmtune's driver.

    benchmark   the benchmark of db_bench; "": that of the same name
    count_flag  the flag of db_bench with the number of operations
    operations  operations of a client of the driver, with their weights
    keeps_all   whether every key that was written has a record after the workload
    overwrites  whether it writes again to keys that have a record
    """

    benchmark: ClassVar[str] = ""
    count_flag: ClassVar[str] = "reads"
    operations: ClassVar[Mapping[str, int]] = {}
    keeps_all: ClassVar[bool] = False
    overwrites: ClassVar[bool] = True

    def problems(self) -> Iterator[str]:
        """Yield also which keys of range deletions are missing."""
        yield from super().problems()
        if (self.load.tombstone_every is None) != (self.load.tombstone_width is None):
            yield "set both keys tombstone_every and tombstone_width, or neither key"
        if self.load.tombstones is not None and self.load.tombstone_every is None:
            yield "tombstones: also set the keys tombstone_every and tombstone_width"

    @property
    def untouched(self) -> float:
        """Expected share of the keys to which the clients do not write."""
        writes = (self.client_operations or 0) * self.load.threads
        if self.load.write_skew is not None:
            return 1 - skewed_keys(self.load.num, writes, self.load.write_skew) / self.load.num
        return float((1 - 1 / self.load.num) ** writes)

    @property
    def shares(self) -> Mapping[str, float]:
        """Share of each kind of operation, as the driver names it; without range deletions."""
        weights = self.weights()
        return {kind: weight / sum(weights.values()) for kind, weight in weights.items() if weight}

    @property
    def read_shares(self) -> Mapping[str, float]:
        """Shares of gets, gets of missing keys and scans; a read-modify-write is a write."""
        return {kind: share for kind, share in self.shares.items() if kind in PROBED}

    def rates(self, rate: float) -> Mapping[str, float]:
        """Return the operations per second of each kind if the workload runs at a rate."""
        return {kind: share * rate for kind, share in self.shares.items()}

    def written_bytes_s(self, rate: float) -> float:
        """Return the key and value bytes that the workload writes per second at a rate."""
        rates = self.rates(rate).items()
        return self.load.record_bytes * sum(each for kind, each in rates if kind not in PROBED)

    # What db_bench needs.

    def flags(self) -> tuple[str, ...]:
        """Return the flags of the benchmark that is measured."""
        skew = self.load.skew
        skewed = () if skew is None else (f"--read_random_exp_range={skew}",)
        return (*self.count_flags(), *skewed, *self.own_flags())

    def count_flags(self) -> tuple[str, ...]:
        """Return the flag that ends the benchmark."""
        if self.client_operations is None:
            return (f"--duration={self.load.duration_s}",)
        return (f"--{self.count_flag}={self.client_operations}",)

    def own_flags(self) -> tuple[str, ...]:
        """Return the flags of the parameters that not every workload has."""
        given = {
            "seek_nexts": self.load.scan_length,
            "readwritepercent": self.load.get_percent,
            "benchmark_write_rate_limit": self.load.write_rate_bytes_s,
        }
        found = tuple(f"--{name}={value}" for name, value in given.items() if value is not None)
        if self.kind == "read":
            return found
        return (*found, *self.tombstone_flags(self.client_operations))

    def tombstone_flags(self, writes: int | None) -> tuple[str, ...]:
        """Return the flags for range tombstones during a number of writes.

        The number of tombstones is always given. db_bench adds it to the number of keys.
        """
        if (count := self.load.range_deletions(writes)) is None:
            return ()
        return (
            f"--writes_per_range_tombstone={self.load.tombstone_every}",
            f"--range_tombstone_width={self.load.tombstone_width}",
            f"--max_num_range_tombstones={count}",
        )

    # What the driver needs. native/lsmdriver/README.md describes the fields.

    def clients(self, seed: int) -> list[Json]:
        """Return the groups of clients that are measured."""
        fields: Json = {"clients": self.load.threads, **self.keys()}
        if self.client_operations is not None:
            fields["operations"] = self.client_operations
        if self.load.scan_length is not None:
            fields["scan_length"] = self.load.scan_length
        if self.kind != "read":
            fields |= self.range_delete(self.client_operations)
        return [group(seed, self.weights(), **fields)]

    def weights(self) -> Mapping[str, int]:
        """Return the operations of a client, with their weights."""
        return self.operations

    def keys(self) -> Json:
        """Return the fields that choose the keys, and those of the writes if they differ."""
        keys = {"keys": _exponential(self.load.skew)}
        if self.load.write_skew is None:
            return keys
        return {**keys, "write_keys": self.written_keys()}

    def written_keys(self) -> Json:
        """Return the choice of the keys that are written."""
        return _exponential(self.load.write_skew)

    def keys_of(self, kind: str) -> Json:
        """Return the fields that choose the keys of clients with operations of one kind."""
        return self.keys()

    def range_delete(self, writes: int | None) -> Json:
        """Return the field of the plan with the range deletions between this many writes."""
        count = self.load.range_deletions(writes)
        if count is None:
            return {}
        every, width = self.load.tombstone_every, self.load.tombstone_width
        return {"range_delete": {"every": every, "width": width, "at_most": count}}

    def writer(self, seed: int) -> Json:
        """Return a client that writes at `write_rate_bytes_s`, until the readers have ended."""
        rate = {"bytes_per_second": self.load.write_rate_bytes_s}
        return group(seed + _WRITER_SEED, {"put": 1}, keys=self.written_keys(), **rate)


class Writes(Records):
    """A workload that only writes. A probe of reads follows."""

    kind = "write"
    objective = "balanced"
    knobs = "core"
    measured = ("write",)
    count_flag = "writes"
    operations: ClassVar[Mapping[str, int]] = {"put": 1}

    def keys(self) -> Json:
        """Return the choice of the keys, which are all written."""
        return {"keys": self.written_keys()}


class Fills(Writes):
    """A workload that writes into an empty store."""

    keeps_all = True

    def count_flags(self) -> tuple[str, ...]:
        """Return the number of writes; without it, db_bench writes as many as there are records."""
        operations = self.load.operations
        return () if operations is None else (f"--writes={operations}",)


class Reads(Records):
    """A workload that only reads, from a store that was filled before."""

    kind = "read"
    objective = TIMED
    knobs = "reads"
    prepared = True
    can_be_endless = True
    overwrites = False

    @property
    def live_records(self) -> float | None:
        """All records that were written before."""
        return self.load.num * (self.load.present or 1.0)


class ReadsAndWrites(Records):
    """A workload that reads and writes in a store that was filled before."""

    objective = "balanced"
    knobs = "mixed"
    prepared = True


def group(seed: int, weights: Mapping[str, int], **fields: Any) -> Json:
    """Return a group of clients of the driver."""
    return {"seed": seed, "mix": dict(weights), "keys": UNIFORM, **fields}


def _exponential(skew: float | None) -> Json:
    return UNIFORM if skew is None else {"kind": "exponential", "range": skew}


def skewed_keys(num: int, writes: int, skew: float) -> float:
    """Return the expected number of different keys among the writes to `num` keys.

    A write goes to the key with the rank num x e^-r, with r uniform from 0 to `skew`.
    """
    last = min(skew, log(num))
    width = last / _SLICES
    ranks = (num * exp(-(place + 0.5) * width) for place in range(_SLICES))
    found = sum(rank * width * _touched(1 / (skew * rank), writes) for rank in ranks)
    # All ranks below 1 are one key.
    return found + (_touched(1 - last / skew, writes) if skew > last else 0.0)


def _touched(probability: float, writes: int) -> float:
    """Return the probability that at least one of the writes goes to a key."""
    if probability >= 1:
        return 1.0
    return -expm1(writes * log1p(-probability))
