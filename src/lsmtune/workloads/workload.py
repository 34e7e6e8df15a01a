"""A load and its data, with every parameter explicit."""

import math
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

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
"""A write is framed by RocksDB with no more than this (db/write_batch.cc)."""


_MOST_KEY_BYTES, _MOST_VALUE_BYTES = 500, 60_000
"""Of records on other engines than db_bench: a key of LMDB has 511 bytes, a row of SQL 64 KiB."""
_OF_RECORDS = ("num", "key_size", "value_size", "compression_ratio", "threads")
"""The parameters of every load of keys and values."""
_WAREHOUSE_BYTES, _ROW_BYTES, _TRANSACTION_BYTES = 110_000_000, 250, 10_000
_TRANSACTIONS_UNKNOWN = 100_000
YCSB_FIELDS = 10
"""A record of YCSB has so many, all of one size."""


class Mix(BaseModel):
    """Shares of the operations; they add up to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    get: float = Field(default=0.0, ge=0, le=1)
    put: float = Field(default=0.0, ge=0, le=1)
    scan: float = Field(default=0.0, ge=0, le=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if abs(self.get + self.put + self.scan - 1) > _WHOLE:
            raise ValueError("the shares get, put and scan must add up to 1")
        return self


class Workload(BaseModel):
    """A load by name with its parameters.

    The keys are drawn from `num` different ones, of `key_size` bytes, with values of `value_size`
    bytes that compress to `compression_ratio` of their size; `threads` clients run it. A load
    into an empty store writes `num` records from each client unless `operations` says otherwise.
    Loads of SQL have tables instead of records (see PRESETS).
    The other parameters exist only in some loads and are None elsewhere: `operations` of each
    client, or `duration_s` (the clock ends the load), `present` (the share of the keys that have
    a record before the load), `direct_reads` (reads pass by the operating system's page cache, so
    that only the store's own caches count), `skew` (a record's chance to be asked for falls as 1 /
    rank, from the rank num x e^-skew on; None: all alike), and those that the presets describe.
    After every `tombstone_every` writes the next `tombstone_width` keys from a random one on are
    deleted, at most `tombstones` times; a load that only reads finds a store that was built so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    name: str = "fillrandom"
    num: int = Field(default=1_000_000, ge=1000, le=10**12)
    key_size: int = Field(default=16, ge=8, le=1024)
    value_size: int = Field(default=1024, ge=1, le=1 << 24)
    threads: int = Field(default=1, ge=1, le=1024)
    compression_ratio: float = Field(default=0.5, gt=0, le=1)
    operations: int | None = Field(default=None, ge=100, le=10**12)
    duration_s: int | None = Field(default=None, ge=1, le=10**7)
    present: float | None = Field(default=None, ge=0.05, le=1)
    direct_reads: bool | None = None
    scan_length: int | None = Field(default=None, ge=1, le=100_000)
    get_percent: int | None = Field(default=None, ge=1, le=99)
    write_rate_bytes_s: int | None = Field(default=None, ge=1024, le=1 << 40)
    tombstone_every: int | None = Field(default=None, ge=10, le=10**9)
    tombstone_width: int | None = Field(default=None, ge=1, le=10**9)
    tombstones: int | None = Field(default=None, ge=1, le=10**9)
    mix: Mix | None = None
    skew: float | None = Field(default=None, gt=0, le=100)
    trace: str | None = None
    database: str | None = None
    warehouses: int | None = Field(default=None, ge=1, le=10_000)
    families: bool | None = None
    tables: int | None = Field(default=None, ge=1, le=1000)

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        """Give the load the parameters that it has, and refuse those that it has not."""
        if not isinstance(given, dict):
            return given
        preset = PRESETS.get(given.get("name", "fillrandom"))
        if preset is None:
            return given  # refused below, with the names that there are
        foreign = OPTIONAL - preset.parameters.keys()
        stray = [name for name in given if name in foreign and given[name] is not None]
        stray += [name for name in _OF_RECORDS if not preset.has(name) and _is_set(given, name)]
        if stray:
            own = ", ".join((*preset.parameters, *preset.of_all)) or "none"
            raise ValueError(
                f"{stray[0]} says nothing to the load {given.get('name', 'fillrandom')}; "
                f"besides those of every load it has: {own}"
            )
        defaults = {**preset.parameters, **preset.of_all}
        filled = {name: value for name, value in defaults.items() if given.get(name) is None}
        return {**given, **filled}

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in PRESETS:
            raise ValueError(f"no workload {name!r}; known are {', '.join(PRESETS)}")
        return name

    @model_validator(mode="after")
    def _trace_is_given(self) -> Self:
        if self.name == "trace" and self.trace is None:
            raise ValueError("the load 'trace' needs a trace: the path of a file of RocksDB's")
        return self

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.operations is not None and self.duration_s is not None:
            raise ValueError("operations and duration_s both end the load; leave one out")
        return self

    @model_validator(mode="after")
    def _tombstones_are_told(self) -> Self:
        if (self.tombstone_every is None) != (self.tombstone_width is None):
            raise ValueError("tombstone_every and tombstone_width need each other")
        if self.tombstones is not None and self.tombstone_every is None:
            raise ValueError("tombstones needs tombstone_every and tombstone_width")
        return self

    @model_validator(mode="after")
    def _fields_are_alike(self) -> Self:
        if self.preset.engine == "tikv" and self.value_size % YCSB_FIELDS:
            raise ValueError(
                f"value_size is shared by {YCSB_FIELDS} fields: {self.value_size} is no multiple"
            )
        return self

    @property
    def preset(self) -> Preset:
        """What the load does and what is measured of it."""
        return PRESETS[self.name]

    @property
    def kind(self) -> Kind:
        """Whether writes, reads or both are measured."""
        return self.preset.kind

    @property
    def client_operations(self) -> int | None:
        """Measured operations of each client; None where the clock or a trace ends the load."""
        if self.duration_s is not None or self.name == "trace":
            return None
        if not self.preset.prepared:
            return self.operations or self.num
        return self.operations or default_operations(self.name, self.num, self.threads)

    @property
    def column_families(self) -> tuple[str, ...]:
        """The column families that the load has besides the default one."""
        if self.name == "lookup":
            return LOOKUP_FAMILIES
        return TPCC_FAMILIES if self.families else ()

    @property
    def told(self) -> dict[str, Any]:
        """The parameters that the load has, for people: no others, and none that is not set."""
        given = self.model_dump(exclude_none=True)
        return {n: v for n, v in given.items() if n not in _OF_RECORDS or self.preset.has(n)}

    @property
    def build_writes(self) -> int:
        """Random writes that leave the share `present` of the keys with a record.

        w draws from n keys leave (1 - 1/n)^w of them untouched. For all keys it is each once.
        """
        if self.present is None or self.present == 1:
            return self.num
        return math.ceil(-math.log(1 - self.present) * self.num)

    @property
    def user_bytes(self) -> int:
        """Key and value bytes that the clients write, building included.

        As many as records where their number is not known: overwrites make a store no larger.
        Of SQL the bytes of the rows, and of those that a transaction writes.
        """
        if self.preset.engine == "myrocks" and self.name != "lookup":
            rows = (self.warehouses or 0) * _WAREHOUSE_BYTES
            rows += (self.tables or 0) * self.num * _ROW_BYTES
            transactions = (self.client_operations or _TRANSACTIONS_UNKNOWN) * self.threads
            return rows + transactions * _TRANSACTION_BYTES
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
        """The most that the store can count as written by a load of nothing but writes."""
        if self.kind != "write" or self.client_operations is None:
            return None
        return self.client_operations * self.threads * (self.record_bytes + _HEADER_BYTES)

    @property
    def distinct_bytes(self) -> float | None:
        """Expected logical size of the live records once the load is over; None if unknown."""
        if self.preset.engine != "rocksdb" or self.tombstone_every is not None:
            return None
        writes = (self.client_operations or 0) * self.threads
        untouched = (1 - 1 / self.num) ** writes
        if self.name == "fillrandom":
            return self.num * (1 - untouched) * self.record_bytes
        if self.name == "deleterandom":
            return self.num * untouched * self.record_bytes
        if self.name in ("fillseq", "overwrite") or (self.kind == "read"):
            return self.num * (self.present or 1.0) * self.record_bytes
        steady = self.name in ("updaterandom", "readwhilewriting", "readrandomwriterandom")
        return self.num * self.record_bytes if steady and self.present == 1 else None

    def cannot_run_on(self, engine: EngineName) -> str | None:
        """Why another engine than its own cannot make its records, or None."""
        if engine == self.preset.engine:
            return None
        if self.tombstone_every is not None:
            return f"tombstone_every: the engine {engine} writes no range tombstones"
        if engine == "simulated":
            return None
        digits = len(str(self.num - 1))
        if not digits <= self.key_size <= _MOST_KEY_BYTES:
            return (
                f"key_size: {self.key_size} is not possible on {engine} with {self.num} records; "
                f"allowed are {digits} to {_MOST_KEY_BYTES}"
            )
        if self.value_size > _MOST_VALUE_BYTES:
            return (
                f"value_size: {self.value_size} is too much for {engine}; allowed are 1 to "
                f"{_MOST_VALUE_BYTES}"
            )
        return None

    @property
    def file_paths(self) -> tuple[Path, ...]:
        """The user's own files that the load needs."""
        return tuple(Path(path) for path in (self.trace, self.database) if path is not None)


def _is_set(given: dict[str, Any], name: str) -> bool:
    """Whether a parameter is given with another value than the one that stands for none."""
    return given.get(name) not in (None, Workload.model_fields[name].default)
