"""The workloads that RocksDB's db_bench and lsmtune's driver run: one class each.

A class that is defined here is in `RECORDS`, and so the engines that run records have it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from lsmtune.workloads.definition import defaults, defined_in
from lsmtune.workloads.key_values import (
    OPERATIONS,
    SKEWED_WRITES,
    STORED,
    TOMBSTONES,
    Fills,
    Json,
    Reads,
    ReadsAndWrites,
    Writes,
)

_GETS = defaults(STORED, skew=None)
_SCANS = defaults(STORED, scan_length=10)
_GET, _SCAN = {"get": 1}, {"scan": 1}
MISSING = "get_missing"
"""Gets of keys inside the key range that never exist, which the driver can send."""
_SHARES = 1_000_000
"""Weights of a mix are integers."""
_FASTEST = 1_000_000
"""Speed of a replayed trace, relative to the recorded speed: as fast as possible."""
_ZIPPYDB = (
    "--key_dist_a=0.002312", "--key_dist_b=0.3467",
    "--keyrange_dist_a=14.18", "--keyrange_dist_b=-2.917",
    "--keyrange_dist_c=0.0164", "--keyrange_dist_d=-0.08082", "--keyrange_num=30",
    "--value_k=0.2615", "--value_sigma=25.45", "--iter_k=2.517", "--iter_sigma=14.236",
    "--mix_get_ratio=0.85", "--mix_put_ratio=0.14", "--mix_seek_ratio=0.01",
)  # fmt: skip
"""Cao et al., "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads" (FAST'20),
with the parameters that the RocksDB wiki gives for ZippyDB."""


class Fillrandom(Fills):
    """Random writes."""

    name = "fillrandom"
    what = "random writes over the whole key range into an empty store"
    parameters = defaults(OPERATIONS, TOMBSTONES, SKEWED_WRITES)

    @property
    def live_records(self) -> float | None:
        """The keys that were written at least once."""
        return self.load.num * (1 - self.untouched)


class Fillseq(Fills):
    """Writes in key order."""

    name = "fillseq"
    what = "writes in key order into an empty store"
    overwrites = False

    @property
    def live_records(self) -> float | None:
        """All records."""
        return self.load.num * 1.0

    def keys(self) -> Json:
        """Return the choice of the keys: one after the other."""
        return {"keys": {"kind": "sequential"}}


class Overwrite(Writes):
    """Overwrites."""

    name = "overwrite"
    what = "overwrites of random records in a store that was filled before"
    prepared = True
    parameters = defaults(OPERATIONS, SKEWED_WRITES)
    can_be_endless = True
    runs_at_rate = True
    keeps_all = True

    @property
    def live_records(self) -> float | None:
        """All records."""
        return self.load.num * 1.0


class Updaterandom(ReadsAndWrites):
    """Read-modify-writes."""

    name = "updaterandom"
    what = "read-modify-writes of random records in a store that was filled before"
    parameters = defaults(STORED, SKEWED_WRITES)
    can_be_endless = True
    runs_at_rate = True
    measured = ("write",)
    operations: ClassVar[Mapping[str, int]] = {"read_modify_write": 1}

    @property
    def write_share(self) -> float | None:
        """Every operation writes."""
        return 1.0

    @property
    def live_records(self) -> float | None:
        """All records, if each key has one."""
        return self.load.num if self.load.present == 1 else None

    def keys(self) -> Json:
        """Return the choice of the keys, which are all written."""
        return {"keys": self.written_keys()}


class Deleterandom(Writes):
    """Deletes."""

    name = "deleterandom"
    what = "deletes of random records in a store that was filled before"
    prepared = True
    parameters = defaults(OPERATIONS, SKEWED_WRITES)
    count_flag = "deletes"
    operations: ClassVar[Mapping[str, int]] = {"delete": 1}

    @property
    def bytes_per_write(self) -> int:
        """A deletion writes its key only."""
        return self.load.key_size

    @property
    def live_records(self) -> float | None:
        """The records that were not deleted."""
        return self.load.num * self.untouched


class Rangedelete(Writes):
    """Overwrites and range deletions."""

    name = "rangedelete"
    what = (
        "overwrites of random records; after every `tombstone_every` overwrites, a range deletion "
        "of `tombstone_width` keys"
    )
    prepared = True
    runs_at_rate = True
    parameters = defaults(OPERATIONS, tombstone_every=1000, tombstone_width=100, write_skew=None)
    benchmark = "overwrite"


class Readrandom(Reads):
    """Gets of keys that exist."""

    name = "readrandom"
    what = "gets of random records that exist"
    parameters = defaults(_GETS, TOMBSTONES)
    measured = ("get",)
    records_per_operation = 2
    operations = _GET


class Readhalfmissing(Reads):
    """Gets of keys of which half exist."""

    name = "readhalfmissing"
    what = "gets of random keys in the range of existing keys; half of the keys have no record"
    parameters = defaults(_GETS, present=0.5)
    measured = ("get",)
    records_per_operation = 2
    benchmark = "readrandom"
    operations = _GET


class Scanshort(Reads):
    """Short scans."""

    name = "scanshort"
    what = "scans of 10 records, each from a random key"
    parameters = _SCANS
    measured = ("scan",)
    records_per_operation = 4
    benchmark = "seekrandom"
    operations = _SCAN


class Scanlong(Reads):
    """Long scans."""

    name = "scanlong"
    what = "scans of 1,000 records, each from a random key"
    parameters = defaults(_SCANS, scan_length=1000)
    measured = ("scan",)
    records_per_operation = 50
    benchmark = "seekrandom"
    operations = _SCAN


class Readwhilewriting(ReadsAndWrites):
    """Gets next to a writer."""

    name = "readwhilewriting"
    what = "gets, while one more thread overwrites `write_rate_bytes_s` bytes per second"
    parameters = defaults(_GETS, write_rate_bytes_s=4 << 20, write_skew=None)
    can_be_endless = True
    runs_at_rate = True
    measured = ("get",)
    operations = _GET

    @property
    def live_records(self) -> float | None:
        """All records, if each key has one."""
        return self.load.num if self.load.present == 1 else None

    def clients(self, seed: int) -> list[Json]:
        """Return the readers and the writer."""
        return [*super().clients(seed), self.writer(seed)]

    def keys(self) -> Json:
        """Return the choice of the readers' keys. The writes are those of another client."""
        return {"keys": super().keys()["keys"]}

    def keys_of(self, kind: str) -> Json:
        """Return the choice of the keys of readers or of the writer."""
        return {"keys": self.written_keys()} if kind == "put" else self.keys()

    def rates(self, rate: float) -> Mapping[str, float]:
        """Return the rate of the gets, and that of the writer, which has its own."""
        return {"get": rate, "put": (self.load.write_rate_bytes_s or 0) / self.load.record_bytes}


class Readrandomwriterandom(ReadsAndWrites):
    """Gets and overwrites."""

    name = "readrandomwriterandom"
    what = "gets and overwrites of random records; `get_percent` % of the operations are gets"
    parameters = defaults(STORED, duration_s=None, get_percent=50, write_skew=None)
    can_be_endless = True
    runs_at_rate = True
    measured = ("get", "write")

    @property
    def write_share(self) -> float | None:
        """All operations that are no gets."""
        return 1 - (self.load.get_percent or 0) / 100

    @property
    def live_records(self) -> float | None:
        """All records, if each key has one."""
        return self.load.num if self.load.present == 1 else None

    def weights(self) -> Mapping[str, int]:
        """Return the operations in percent."""
        gets = self.load.get_percent or 0
        return {"get": gets, "put": 100 - gets}


class MixOfOperations(ReadsAndWrites):
    """Gets, puts and scans."""

    name = "mix"
    what = "gets, gets of missing keys, puts and scans in the shares that you choose"
    parameters = defaults(
        _GETS, scan_length=10, mix={"get": 0.5, "put": 0.5, "scan": 0.0}, write_skew=None
    )
    can_be_endless = True
    runs_at_rate = True
    benchmark = "mixgraph"

    @property
    def shares(self) -> Mapping[str, float]:
        """The shares of the mix."""
        shares = {} if self.load.mix is None else dict(self.load.mix)
        return {kind: share for kind, share in shares.items() if share > 0}

    @property
    def measured_kinds(self) -> tuple[str, ...]:
        """Kinds of operations that the mix contains."""
        return tuple({"put": "write"}.get(kind, kind) for kind in self.shares)

    @property
    def write_share(self) -> float | None:
        """The puts."""
        return self.shares.get("put")

    def own_flags(self) -> tuple[str, ...]:
        """Return the flags of mixgraph for a mix with fixed lengths.

        mixgraph computes a length as theta + sigma * (u^-k - 1) / k. With sigma = 0 it is theta,
        and k = -1 avoids an infinite term for u = 0. A scan has this length modulo the maximum
        length.
        """
        names, length = {"get": "get", "put": "put", "scan": "seek"}, self.load.scan_length or 1
        return (
            *(f"--mix_{name}_ratio={self.shares.get(n, 0.0)}" for n, name in names.items()),
            f"--value_theta={self.load.value_size}",
            "--value_sigma=0",
            "--value_k=-1",
            f"--mix_max_value_size={self.load.value_size}",
            f"--iter_theta={length}",
            "--iter_sigma=0",
            "--iter_k=-1",
            f"--mix_max_scan_len={length + 1}",
        )

    def weights(self) -> Mapping[str, int]:
        """Return the shares as integers."""
        return {kind: round(share * _SHARES) for kind, share in self.shares.items()}

    def clients(self, seed: int) -> list[Json]:
        """Return the clients of the mix. Gets of missing keys have clients of their own."""
        (together,) = super().clients(seed)
        weights = together.pop("mix")
        share = self.shares.get(MISSING, 0.0)
        weights.pop(MISSING, None)
        groups = [({**together, "mix": weights}, 1 - share)] if weights else []
        if share:
            groups += [({**together, "mix": _GET, "missing": True}, share)]
        if self.client_operations is not None and len(groups) > 1:
            for one, of_all in groups:
                one["operations"] = max(1, round(of_all * self.client_operations))
        return [one for one, _ in groups]


class Mixgraph(ReadsAndWrites):
    """Facebook's ZippyDB."""

    name = "mixgraph"
    what = (
        "gets, puts and scans as in Facebook's ZippyDB: hot key ranges, hot keys, varying sizes of "
        "values and scans"
    )
    parameters = STORED
    needs_db_bench = True
    measured = ("get", "write", "scan")

    def own_flags(self) -> tuple[str, ...]:
        """Return the published parameters."""
        return _ZIPPYDB


class Trace(ReadsAndWrites):
    """A recorded trace."""

    name = "trace"
    what = (
        "replay of a trace recorded by RocksDB, at full speed, on a copy of your `database` or on "
        "a generated database"
    )
    parameters = defaults(direct_reads=True, present=1.0, trace=None, database=None)
    needs_db_bench = True
    benchmark = "replay"

    def problems(self) -> Iterator[str]:
        """Yield also that the trace is missing."""
        if self.load.trace is None:
            yield "the workload trace needs a trace that RocksDB recorded; set trace = 'FILE'"
        yield from super().problems()

    @property
    def default_operations(self) -> int | None:
        """None: the trace ends the workload."""
        return None

    @property
    def files(self) -> tuple[Path, ...]:
        """Trace and database."""
        given = (self.load.trace, self.load.database)
        return tuple(Path(path) for path in given if path is not None)

    def flags(self) -> tuple[str, ...]:
        """Return the flags of a replay."""
        return (
            f"--trace_file={Path(self.load.trace or '').absolute()}",
            f"--trace_replay_fast_forward={_FASTEST}",
            # With one column family the replay of 7.8 aborts.
            "--num_column_families=2",
        )


RECORDS = defined_in(globals())
"""The workloads of records."""
