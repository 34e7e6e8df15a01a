"""The workloads of SQL, which sysbench runs: one class each.

A class that is defined here is in `SQL`, and so the engines that run SQL have it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from lsmtune.workloads.definition import TIMED, Definition, defaults, defined_in
from lsmtune.workloads.key_values import OPERATIONS, KeyValues

if TYPE_CHECKING:
    from lsmtune.workloads.workload import Workload

TRANSACTION_BYTES = 10_000
"""Bytes that a transaction writes, as an estimate."""
_WAREHOUSE_BYTES, _ROW_BYTES = 110_000_000, 250
_TRANSACTIONS = 2000
"""Default number of transactions per client."""
_TRANSACTIONS_UNKNOWN = 100_000
_SQL = defaults(OPERATIONS, duration_s=None, direct_reads=True)

Output = Literal["transactions", "lookups", "histogram"]
"""What sysbench prints of a run."""

TPCC_FAMILIES = (
    "cf_warehouse", "cf_district", "cf_customer", "cf_customer_name", "cf_history", "cf_new_order",
    "cf_orders", "cf_orders_customer", "cf_order_line", "cf_item", "cf_stock",
)  # fmt: skip
"""Column families of tpcc with `families`: one per table, one per index."""

LOOKUP_FAMILIES = ("writecf", "defaultcf")
"""Column families of the workload lookup, in the order in which it reads them."""


class Sql(Definition):
    """A workload of sysbench.

    script      a script of sysbench, or a file of lsmtune
    output      what sysbench prints
    has_check   whether the script has a command that checks the tables after a run
    """

    script: ClassVar[str]
    output: ClassVar[Output]
    has_check: ClassVar[bool] = False

    def size_flags(self) -> tuple[str, ...]:
        """Return the flags that say how much data there is."""
        raise NotImplementedError

    @property
    def is_of_sysbench(self) -> bool:
        """Whether the script is one of sysbench itself."""
        return not self.script.endswith(".lua")


class Tables(Sql):
    """A workload of transactions on tables."""

    kind = "mixed"
    objective = "balanced"
    knobs = "mixed"
    prepared = True
    can_be_endless = True
    stores_all = True

    @property
    def default_operations(self) -> int | None:
        """A number of transactions."""
        return _TRANSACTIONS

    @property
    def size(self) -> tuple[str, int] | None:
        """Duration if it is given, else the number of transactions."""
        if self.load.duration_s is not None:
            return "workload.duration_s", self.load.duration_s
        return "workload.operations", self.load.operations or _TRANSACTIONS

    @property
    def written_bytes(self) -> int | None:
        """An estimate of what the transactions write."""
        if self.client_operations is None:
            return None
        return self.client_operations * self.load.threads * TRANSACTION_BYTES

    @property
    def user_bytes(self) -> int:
        """The bytes of the rows and of the writes of the transactions."""
        transactions = (self.client_operations or _TRANSACTIONS_UNKNOWN) * self.load.threads
        return self.row_bytes + transactions * TRANSACTION_BYTES

    @property
    def row_bytes(self) -> int:
        """Bytes of all rows before the workload, as an estimate."""
        return (self.load.tables or 0) * self.load.num * _ROW_BYTES


class Tpcc(Tables):
    """TPC-C."""

    name = "tpcc"
    what = (
        "the five transactions of TPC-C on a number of `warehouses`; with `families`, every table "
        "and index has its own column family"
    )
    parameters = defaults(_SQL, warehouses=2, families=False)
    of_records = defaults(threads=8)
    measured = ("new_order", "payment", "order_status", "delivery", "stock_level")
    script = "tpcc.lua"
    output = "transactions"
    has_check = True

    @classmethod
    def knobs_for(cls, table: Mapping[str, Any]) -> str | None:
        """Return the preset of column families if the tables have their own ones."""
        return "families" if table.get("families") else cls.knobs

    @property
    def row_bytes(self) -> int:
        """Bytes of all warehouses."""
        return (self.load.warehouses or 0) * _WAREHOUSE_BYTES

    @property
    def column_families(self) -> tuple[str, ...]:
        """One per table and index, with `families`."""
        return TPCC_FAMILIES if self.load.families else ()

    def size_flags(self) -> tuple[str, ...]:
        """Return the number of warehouses, and whether there are column families."""
        families = "on" if self.load.families else "off"
        return (f"--warehouses={self.load.warehouses}", f"--families={families}")


class Oltp(Tables):
    """A script that sysbench brings along."""

    parameters = defaults(_SQL, tables=4, transactions_s=None)
    of_records = defaults(threads=8, num=50_000)
    measured = ("transaction",)
    output = "histogram"

    def size_flags(self) -> tuple[str, ...]:
        """Return the number of tables, and that of their rows."""
        return (f"--tables={self.load.tables}", f"--table-size={self.load.num}")


class OltpReadWrite(Oltp):
    """Transactions that read and write."""

    name = "oltp_read_write"
    what = "sysbench transactions of 14 reads and 4 writes; each of the `tables` has `num` rows"
    script = "oltp_read_write"


class OltpWriteOnly(Oltp):
    """Transactions that only write."""

    name = "oltp_write_only"
    what = "sysbench transactions of 4 writes; each of the `tables` has `num` rows"
    script = "oltp_write_only"


class Lookup(Sql, KeyValues):
    """Gets in two column families."""

    name = "lookup"
    what = (
        "SQL gets in the column family writecf, as in TiKV; if the key exists, also a get in "
        "defaultcf. `present` is the share of keys that have a record"
    )
    kind = "read"
    objective = TIMED
    knobs = "families"
    prepared = True
    parameters = defaults(OPERATIONS, present=0.5, direct_reads=True, skew=None)
    of_records = defaults(
        num=200_000, key_size=16, value_size=1024, compression_ratio=0.5, threads=1
    )
    measured = ("get",)
    records_per_operation = 2
    script = "lookup.lua"
    output = "lookups"

    @property
    def size(self) -> tuple[str, int] | None:
        """The number of gets."""
        return "workload.operations", self.client_operations or self.load.num

    @property
    def column_families(self) -> tuple[str, ...]:
        """The two families."""
        return LOOKUP_FAMILIES

    def size_flags(self) -> tuple[str, ...]:
        """Return number and sizes of the records, and which keys are looked up."""
        return parameter_flags(
            self.load, "num", "key_size", "value_size", "compression_ratio", "present", "skew"
        )


def parameter_flags(load: "Workload", *names: str) -> tuple[str, ...]:
    """Return parameters as flags of sysbench; 0 for those that are not set."""
    return tuple(f"--{name.replace('_', '-')}={getattr(load, name) or 0}" for name in names)


SQL = defined_in(globals())
"""The workloads of SQL."""
