"""The definition of a workload: one class per workload says everything about it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from lsmtune.workloads.workload import Workload

Kind = Literal["write", "read", "mixed"]
"""What is measured: writes (followed by a probe of reads), reads, or both at once."""

OF_RECORDS = ("num", "key_size", "value_size", "compression_ratio", "threads")
"""Parameters of every workload of keys and values."""

READS = frozenset({"get", "get_missing", "scan", "order_status", "stock_level"})
"""Kinds of operations that only read."""

PROBED = ("get", "get_missing", "scan")
"""Kinds of operations that the read probe measures after a workload that only writes."""

TIMED = "throughput_ops_s"
"""Default objective if a workload only reads, or if a duration ends it."""


def defaults(*groups: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
    """Return parameters with their defaults: those of the groups, and more."""
    return MappingProxyType({name: one[name] for one in (*groups, more) for name in one})


class Parameters(BaseModel):
    """Own parameters of a workload of another package, as fields with types and defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Definition:
    """A workload. The attributes of its class say what it is, and an object what follows from the
    parameters of a study, which are in `load`.

    name            the name in study files
    what            what it does, in one line
    kind            what is measured
    objective       the default objective; None: that of the engine
    knobs           the default preset of knobs, unless the engine chooses others (`complete` of its
                    entry); None: that of the engine
    prepared        whether it runs on a database that was built and has settled before
    can_be_endless  whether it can run until it is stopped, as online tuning needs it: the store
                    keeps its size
    runs_at_rate    whether it can run at a fixed rate in a store that exists and keeps its size
    needs_db_bench  whether db_bench runs it, but lsmtune's driver cannot
    measured        kinds of operations whose latency is measured, as prefixes of the metrics
    of_records      its parameters of records, with their defaults; None: the usual default
    parameters      its further parameters of `Workload`, with their defaults
    own             its parameters that `Workload` does not have
    stores_all      whether its JSON has all parameters of `Workload`, those of other workloads with
                    their defaults: stored studies have their names from such JSON
    """

    name: ClassVar[str]
    what: ClassVar[str]
    kind: ClassVar[Kind] = "mixed"
    objective: ClassVar[str | None] = None
    knobs: ClassVar[str | None] = None
    prepared: ClassVar[bool] = False
    can_be_endless: ClassVar[bool] = False
    runs_at_rate: ClassVar[bool] = False
    needs_db_bench: ClassVar[bool] = False
    measured: ClassVar[tuple[str, ...]] = ()
    of_records: ClassVar[Mapping[str, Any]] = defaults()
    parameters: ClassVar[Mapping[str, Any]] = defaults()
    own: ClassVar[type[Parameters] | None] = None
    stores_all: ClassVar[bool] = False

    def __init__(self, load: "Workload") -> None:
        """Take the parameters of a study."""
        self.load = load

    @classmethod
    def has(cls, parameter: str) -> bool:
        """Return whether the workload has a parameter."""
        return parameter in (*cls.of_records, *cls.parameters, *cls.own_fields())

    @classmethod
    def own_fields(cls) -> tuple[str, ...]:
        """Return the names of its parameters that `Workload` does not have."""
        return () if cls.own is None else tuple(cls.own.model_fields)

    @classmethod
    def knobs_for(cls, table: Mapping[str, Any]) -> str | None:
        """Return the default preset of knobs with these parameters, which are not checked yet."""
        return cls.knobs

    @classmethod
    def objective_for(cls, table: Mapping[str, Any]) -> str | None:
        """Return the default objective with these parameters, which are not checked yet."""
        return TIMED if table.get("duration_s") else cls.objective

    def problems(self) -> Iterator[str]:
        """Yield which parameters do not fit together, each with what to do."""
        if self.load.operations is not None and self.load.duration_s is not None:
            yield "operations and duration_s exclude each other; remove one of the two keys"

    @property
    def default_operations(self) -> int | None:
        """Default number of operations per client; None if the workload does not count them."""
        return None

    @property
    def client_operations(self) -> int | None:
        """Measured operations per client; None if something else ends the workload."""
        if self.load.duration_s is not None:
            return None
        return self.load.operations or self.default_operations

    @property
    def size(self) -> tuple[str, int] | None:
        """The parameter that makes the workload longer, and its value; None without such."""
        return None

    @property
    def measured_kinds(self) -> tuple[str, ...]:
        """Kinds of operations whose latency is measured, with these parameters."""
        return self.measured

    @property
    def read_shares(self) -> Mapping[str, float]:
        """Shares of gets, gets of missing keys and scans among the operations; none without reads.

        Only workloads that run at a rate have them.
        """
        return {}

    @property
    def written_bytes(self) -> int | None:
        """Key and value bytes that the clients write while the workload runs; None if unknown."""
        return None

    @property
    def user_bytes(self) -> int:
        """Key and value bytes that the clients write, including the build of the database.

        0 if the workload does not say how much data it has.
        """
        return self.written_bytes or 0

    @property
    def live_records(self) -> float | None:
        """Expected number of live records after the workload; None if unknown."""
        return None

    @property
    def column_families(self) -> tuple[str, ...]:
        """Column families in addition to the default one."""
        return ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of the user that the workload needs."""
        return ()


class Benchmark(Definition):
    """The workload of an engine that always runs the same: it has no parameters.

    So nothing speaks of records that a Python function never writes.
    """

    name = "benchmark"
    what = "what the engine always runs"


def defined_in(module: Mapping[str, Any]) -> tuple[type[Definition], ...]:
    """Return the workloads that a module defines, in this order, from its global names.

    Classes without a name are bases of others.
    """
    return tuple(
        thing
        for thing in module.values()
        if isinstance(thing, type)
        and issubclass(thing, Definition)
        and thing.__module__ == module["__name__"]
        and "name" in vars(thing)
    )
