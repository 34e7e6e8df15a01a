"""The workloads that go-ycsb runs: one class each.

A class that is defined here is in `YCSB`, and so the engines that go-ycsb loads have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from lsmtune.workloads.definition import TIMED, defaults, defined_in
from lsmtune.workloads.key_values import OPERATIONS, KeyValues

YCSB_FIELDS = 10
"""Number of fields of a YCSB record; all have the same size."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the operations of a workload, and which records they request.

    `keys` is the number of requested keys, as a multiple of the records that there are.
    """

    distribution: str
    read: float = 0.0
    update: float = 0.0
    insert: float = 0.0
    scan: float = 0.0
    modify: float = 0.0
    keys: int = 1
    shortest_scan: int | None = None


class Ycsb(KeyValues):
    """A workload of go-ycsb, over records that were loaded before.

    YCSB's workloads are those of its paper (Cooper et al. 2010, table 2). AutoTiKV's are those of
    its folder workloads/, and `records_per_operation` gives the published number of operations.
    """

    objective = TIMED
    knobs = "core"
    prepared = True
    parameters = OPERATIONS
    of_records = defaults(num=1_000_000, value_size=1000, threads=64)
    shares: ClassVar[Shares]

    def problems(self) -> Iterator[str]:
        """Yield also that the fields of a record differ in size."""
        yield from super().problems()
        if self.load.value_size % YCSB_FIELDS:
            yield (
                f"value_size: {self.load.value_size} is not a multiple of {YCSB_FIELDS}, the "
                f"number of fields of a YCSB record; use a multiple of {YCSB_FIELDS}"
            )

    @property
    def default_operations(self) -> int | None:
        """The clients share the operations."""
        together = self.load.num // self.records_per_operation
        return max(1, together // self.load.threads)

    @property
    def write_share(self) -> float | None:
        """Updates, inserts and read-modify-writes; None if there are none."""
        return self.shares.update + self.shares.insert + self.shares.modify or None


class Writeheavy(Ycsb):
    """Updates."""

    name = "writeheavy"
    what = "AutoTiKV: updates of records (zipfian)"
    kind = "write"
    measured = ("write",)
    records_per_operation = 16
    shares = Shares("zipfian", update=1)


class Pntlookup80(Ycsb):
    """Reads of which half find a record."""

    name = "pntlookup80"
    what = "AutoTiKV: reads of keys; half of the keys have a record (zipfian)"
    kind = "read"
    measured = ("get",)
    records_per_operation = 16
    shares = Shares("zipfian", read=1, keys=2)


class Smallpntlookup(Ycsb):
    """Reads of few records."""

    name = "smallpntlookup"
    what = "AutoTiKV: reads of a small number of records (zipfian)"
    kind = "read"
    measured = ("get",)
    records_per_operation = 20
    shares = Shares("zipfian", read=1)


class Shortscan(Ycsb):
    """Short scans."""

    name = "shortscan"
    what = "AutoTiKV: scans of 100 records from random keys"
    kind = "read"
    measured = ("scan",)
    parameters = defaults(OPERATIONS, scan_length=100)
    records_per_operation = 400
    shares = Shares("uniform", scan=1)


class Longscan(Ycsb):
    """Long scans."""

    name = "longscan"
    what = "AutoTiKV: scans of 100,000 records from random keys"
    kind = "read"
    measured = ("scan",)
    parameters = defaults(OPERATIONS, scan_length=100_000)
    records_per_operation = 4000
    shares = Shares("uniform", scan=1)


class YcsbA(Ycsb):
    """YCSB A."""

    name = "ycsb_a"
    what = "YCSB A: 50 % reads, 50 % updates (zipfian)"
    measured = ("get", "write")
    shares = Shares("zipfian", read=0.5, update=0.5)


class YcsbB(Ycsb):
    """YCSB B."""

    name = "ycsb_b"
    what = "YCSB B: 95 % reads, 5 % updates (zipfian)"
    measured = ("get", "write")
    shares = Shares("zipfian", read=0.95, update=0.05)


class YcsbC(Ycsb):
    """YCSB C."""

    name = "ycsb_c"
    what = "YCSB C: only reads (zipfian)"
    kind = "read"
    measured = ("get",)
    shares = Shares("zipfian", read=1)


class YcsbD(Ycsb):
    """YCSB D."""

    name = "ycsb_d"
    what = "YCSB D: 95 % reads of the latest records, 5 % inserts"
    measured = ("get", "write")
    shares = Shares("latest", read=0.95, insert=0.05)


class YcsbE(Ycsb):
    """YCSB E."""

    name = "ycsb_e"
    what = "YCSB E: 95 % scans of up to `scan_length` records (zipfian), 5 % inserts"
    measured = ("scan", "write")
    parameters = defaults(OPERATIONS, scan_length=100)
    shares = Shares("zipfian", scan=0.95, insert=0.05, shortest_scan=1)


class YcsbF(Ycsb):
    """YCSB F."""

    name = "ycsb_f"
    what = "YCSB F: 50 % reads, 50 % read-modify-writes (zipfian)"
    measured = ("get", "write")
    shares = Shares("zipfian", read=0.5, modify=0.5)


YCSB = defined_in(globals())
"""The workloads of go-ycsb."""
