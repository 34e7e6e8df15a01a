"""A workload and its data, with all parameters."""

import math
from math import exp, expm1, log, log1p
from pathlib import Path
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lsmtune.errors import unknown_word
from lsmtune.study_keys import MIX_KEYS, WORKLOAD_KEYS
from lsmtune.workloads.presets import (
    LOOKUP_FAMILIES,
    OPTIONAL,
    PRESETS,
    TPCC_FAMILIES,
    EngineName,
    Kind,
    Preset,
    default_operations,
)

_WHOLE = 1e-9
_HEADER_BYTES = 32
"""Maximum bytes that RocksDB adds to a write (db/write_batch.cc)."""


_MOST_KEY_BYTES, _MOST_VALUE_BYTES = 500, 60_000
"""Limits on other engines than db_bench: LMDB keys have 511 bytes, SQL rows 64 KiB."""
_OF_RECORDS = ("num", "key_size", "value_size", "compression_ratio", "threads")
"""Parameters of every workload of keys and values."""
_WAREHOUSE_BYTES, _ROW_BYTES = 110_000_000, 250
TRANSACTION_BYTES = 10_000
"""Bytes that an SQL transaction writes, as an estimate."""
_TRANSACTIONS_UNKNOWN = 100_000
_SKEWS_WRITES: tuple[EngineName, ...] = ("rocksdb", "embedded", "simulated")
"""Engines that can run a workload with `write_skew`."""
YCSB_FIELDS = 10
"""Number of fields of a YCSB record; all have the same size."""
_SLICES = 1000
"""Number of groups of keys with similar probability. The error is then far below 1 %."""


def _is_none(value: object) -> bool:
    return value is None


def _no_switch(cls: type[BaseModel], given: Any, info: ValidationInfo) -> Any:
    kind = cls.model_fields[str(info.field_name)].annotation
    if isinstance(given, bool) and kind in (int, int | None):
        raise PydanticCustomError("int_type", "must be an integer")
    return given


whole_numbers = field_validator("*", mode="before")(_no_switch)
"""Refuses true and false for whole numbers in a table; pydantic takes them as 1 and 0."""


class Mix(BaseModel):
    """Shares of the operations. They add up to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    get: float = Field(default=0.0, ge=0, le=1, description=MIX_KEYS["get"])
    put: float = Field(default=0.0, ge=0, le=1, description=MIX_KEYS["put"])
    scan: float = Field(default=0.0, ge=0, le=1, description=MIX_KEYS["scan"])

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if abs(self.get + self.put + self.scan - 1) > _WHOLE:
            total = self.get + self.put + self.scan
            raise ValueError(f"get + put + scan is {total:g}; the shares must add up to 1")
        return self


class Workload(BaseModel):
    """A workload: its name and its parameters.

    On an empty store, each client writes `num` records, or `operations` if given. SQL workloads
    have tables instead of records. Parameters without a default exist only in some workloads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _whole_numbers = whole_numbers
    name: str = Field(default="fillrandom", description=WORKLOAD_KEYS["name"])
    num: int = Field(default=1_000_000, ge=1000, le=10**12, description=WORKLOAD_KEYS["num"])
    key_size: int = Field(default=16, ge=8, le=1024, description=WORKLOAD_KEYS["key_size"])
    value_size: int = Field(default=1024, ge=1, le=1 << 24, description=WORKLOAD_KEYS["value_size"])
    threads: int = Field(default=1, ge=1, le=1024, description=WORKLOAD_KEYS["threads"])
    compression_ratio: float = Field(
        default=0.5, gt=0, le=1, description=WORKLOAD_KEYS["compression_ratio"]
    )
    operations: int | None = Field(
        default=None, ge=100, le=10**12, description=WORKLOAD_KEYS["operations"]
    )
    duration_s: int | None = Field(
        default=None, ge=1, le=10**7, description=WORKLOAD_KEYS["duration_s"]
    )
    present: float | None = Field(default=None, ge=0.05, le=1, description=WORKLOAD_KEYS["present"])
    direct_reads: bool | None = Field(default=None, description=WORKLOAD_KEYS["direct_reads"])
    scan_length: int | None = Field(
        default=None, ge=1, le=100_000, description=WORKLOAD_KEYS["scan_length"]
    )
    get_percent: int | None = Field(
        default=None, ge=1, le=99, description=WORKLOAD_KEYS["get_percent"]
    )
    write_rate_bytes_s: int | None = Field(
        default=None, ge=1024, le=1 << 40, description=WORKLOAD_KEYS["write_rate_bytes_s"]
    )
    tombstone_every: int | None = Field(
        default=None, ge=10, le=10**9, description=WORKLOAD_KEYS["tombstone_every"]
    )
    tombstone_width: int | None = Field(
        default=None, ge=1, le=10**9, description=WORKLOAD_KEYS["tombstone_width"]
    )
    tombstones: int | None = Field(
        default=None, ge=1, le=10**9, description=WORKLOAD_KEYS["tombstones"]
    )
    mix: Mix | None = Field(default=None, description=WORKLOAD_KEYS["mix"])
    skew: float | None = Field(default=None, gt=0, le=100, description=WORKLOAD_KEYS["skew"])
    # Not in the JSON of studies without it, which older versions have stored.
    write_skew: float | None = Field(
        default=None, gt=0, le=100, exclude_if=_is_none, description=WORKLOAD_KEYS["write_skew"]
    )
    trace: str | None = Field(default=None, description=WORKLOAD_KEYS["trace"])
    database: str | None = Field(default=None, description=WORKLOAD_KEYS["database"])
    warehouses: int | None = Field(
        default=None, ge=1, le=10_000, description=WORKLOAD_KEYS["warehouses"]
    )
    families: bool | None = Field(default=None, description=WORKLOAD_KEYS["families"])
    tables: int | None = Field(default=None, ge=1, le=1000, description=WORKLOAD_KEYS["tables"])

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        """Fill in the workload's own parameters and refuse those that it does not have."""
        if not isinstance(given, dict):
            return given
        name = given.get("name", "fillrandom")
        preset = PRESETS.get(name) if isinstance(name, str) else None
        if preset is None:
            return given  # refused below, with the allowed names
        foreign = OPTIONAL - preset.parameters.keys()
        stray = [name for name in given if name in foreign and given[name] is not None]
        stray += [name for name in _OF_RECORDS if not preset.has(name) and _is_set(given, name)]
        if stray:
            common = [name for name in _OF_RECORDS if preset.has(name)]
            own = dict.fromkeys((*common, *preset.parameters, *preset.of_all))
            raise ValueError(f"{unknown_word(f'parameter of the workload {name}', stray[0], own)}")
        defaults = {**preset.parameters, **preset.of_all}
        filled = {name: value for name, value in defaults.items() if given.get(name) is None}
        return {**given, **filled}

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in PRESETS:
            raise ValueError(unknown_word("workload", name, PRESETS))
        return name

    @model_validator(mode="after")
    def _trace_is_given(self) -> Self:
        if self.name == "trace" and self.trace is None:
            raise ValueError(
                "the workload trace needs a trace that RocksDB recorded; set trace = 'FILE'"
            )
        return self

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.operations is not None and self.duration_s is not None:
            raise ValueError(
                "operations and duration_s exclude each other; remove one of the two keys"
            )
        return self

    @model_validator(mode="after")
    def _tombstones_are_told(self) -> Self:
        if (self.tombstone_every is None) != (self.tombstone_width is None):
            raise ValueError("set both keys tombstone_every and tombstone_width, or neither key")
        if self.tombstones is not None and self.tombstone_every is None:
            raise ValueError("tombstones: also set the keys tombstone_every and tombstone_width")
        return self

    @model_validator(mode="after")
    def _fields_are_alike(self) -> Self:
        if self.preset.engine == "tikv" and self.value_size % YCSB_FIELDS:
            raise ValueError(
                f"value_size: {self.value_size} is not a multiple of {YCSB_FIELDS}, the number of "
                f"fields of a YCSB record; use a multiple of {YCSB_FIELDS}"
            )
        return self

    @property
    def preset(self) -> Preset:
        """Preset of that name."""
        return PRESETS[self.name]

    @property
    def kind(self) -> Kind:
        """Whether writes, reads or both are measured."""
        return self.preset.kind

    @property
    def client_operations(self) -> int | None:
        """Measured operations per client; None if a duration or a trace ends the load."""
        if self.duration_s is not None or self.name == "trace":
            return None
        if not self.preset.prepared:
            return self.operations or self.num
        return self.operations or default_operations(self.name, self.num, self.threads)

    @property
    def column_families(self) -> tuple[str, ...]:
        """Column families of the workload in addition to the default one."""
        if self.name == "lookup":
            return LOOKUP_FAMILIES
        return TPCC_FAMILIES if self.families else ()

    @property
    def told(self) -> dict[str, Any]:
        """Parameters that the workload has and that are set, for display."""
        given = self.model_dump(exclude_none=True)
        return {n: v for n, v in given.items() if n not in _OF_RECORDS or self.preset.has(n)}

    @property
    def has_all_keys(self) -> bool:
        """Whether each key has a record before a prepared load."""
        return self.present in (None, 1)

    def probe_reads(self, wanted: int) -> int:
        """Return the number of reads after the load, at most as many as a client wrote keys.

        With the seed of the load, reads have the keys that the client wrote, in the same order.
        More reads would have other keys.
        """
        return min(wanted, self.client_operations or wanted)

    @property
    def build_writes(self) -> int:
        """Number of random writes after which the share `present` of the keys has a record.

        w random writes to n keys leave (1 - 1/n)^w of them untouched. For all keys, each is
        written once.
        """
        if self.present is None or self.present == 1:
            return self.num
        return math.ceil(-math.log(1 - self.present) * self.num)

    def range_deletions(self, writes: int | None) -> int | None:
        """Return the maximum number of range deletions among so many writes; None for none."""
        if self.tombstone_every is None or writes is None:
            return None
        return self.tombstones or max(1, writes // self.tombstone_every)

    @property
    def user_bytes(self) -> int:
        """Key and value bytes that the clients write, including the build of the database.

        If their number is unknown, the bytes of all records: overwrites do not make a store
        larger. For SQL, the bytes of the rows and of the writes of the transactions.
        """
        if self.preset.engine == "myrocks" and self.name != "lookup":
            rows = (self.warehouses or 0) * _WAREHOUSE_BYTES
            rows += (self.tables or 0) * self.num * _ROW_BYTES
            transactions = (self.client_operations or _TRANSACTIONS_UNKNOWN) * self.threads
            return rows + transactions * TRANSACTION_BYTES
        built = self.build_writes if self.preset.prepared else 0
        operations = self.num if self.client_operations is None else self.client_operations
        writes = operations * self.threads if self.kind != "read" else 0
        return (built + writes) * self.record_bytes

    @property
    def record_bytes(self) -> int:
        """Key and value bytes of one record."""
        return self.key_size + self.value_size

    @property
    def most_written_bytes(self) -> int | None:
        """Maximum user bytes that the store can count for a workload that only writes."""
        if self.kind != "write" or self.client_operations is None:
            return None
        return self.client_operations * self.threads * (self.record_bytes + _HEADER_BYTES)

    @property
    def distinct_bytes(self) -> float | None:
        """Expected logical size of the live records after the load; None if unknown."""
        if self.preset.engine != "rocksdb" or self.tombstone_every is not None:
            return None
        writes = (self.client_operations or 0) * self.threads
        untouched = (1 - 1 / self.num) ** writes
        if self.write_skew is not None:
            untouched = 1 - skewed_keys(self.num, writes, self.write_skew) / self.num
        if self.name == "fillrandom":
            return self.num * (1 - untouched) * self.record_bytes
        if self.name == "deleterandom":
            return self.num * untouched * self.record_bytes
        if self.name in ("fillseq", "overwrite") or (self.kind == "read"):
            return self.num * (self.present or 1.0) * self.record_bytes
        steady = self.name in ("updaterandom", "readwhilewriting", "readrandomwriterandom")
        return self.num * self.record_bytes if steady and self.present == 1 else None

    def cannot_run_on(self, engine: EngineName) -> str | None:
        """Return why another engine cannot run the workload, or None."""
        if engine == self.preset.engine:
            return None
        unsupported = self._unsupported(engine)
        if unsupported is not None or engine == "simulated":
            return unsupported
        digits = len(str(self.num - 1))
        if not digits <= self.key_size <= _MOST_KEY_BYTES:
            return (
                f"key_size: {self.key_size} is not possible with engine {engine} and {self.num} "
                f"records; use {digits} to {_MOST_KEY_BYTES}"
            )
        if self.value_size > _MOST_VALUE_BYTES:
            return (
                f"value_size: {self.value_size} is too large for engine {engine}; "
                f"use 1 to {_MOST_VALUE_BYTES}"
            )
        return None

    def _unsupported(self, engine: EngineName) -> str | None:
        """Return which parameter another engine does not support, or None."""
        if self.tombstone_every is not None:
            return f"tombstone_every: not supported by engine {engine}; remove tombstone_every"
        if self.write_skew is not None and engine not in _SKEWS_WRITES:
            return (
                f"workload.write_skew: engine {engine} cannot write some records more often; "
                f"remove write_skew, or use one of these engines: {', '.join(_SKEWS_WRITES)}"
            )
        return None

    @property
    def file_paths(self) -> tuple[Path, ...]:
        """Files of the user that the workload needs."""
        return tuple(Path(path) for path in (self.trace, self.database) if path is not None)


def _is_set(given: dict[str, Any], name: str) -> bool:
    """Return whether a parameter is given with another value than its default."""
    return given.get(name) not in (None, Workload.model_fields[name].default)


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
