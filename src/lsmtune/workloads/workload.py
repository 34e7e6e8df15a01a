"""The record of a workload: its name and its parameters, as a study stores them."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lsmtune.entries import Known
from lsmtune.errors import allowed_text, unknown_word
from lsmtune.study_keys import MIX_KEYS, WORKLOAD_KEYS
from lsmtune.workloads.definition import OF_RECORDS, Benchmark, Definition, Kind, Parameters
from lsmtune.workloads.records import RECORDS
from lsmtune.workloads.sql import SQL
from lsmtune.workloads.ycsb import YCSB

D = TypeVar("D", bound=Definition)

_WHOLE = 1e-9
_HEADER_BYTES = 32
"""Maximum bytes that RocksDB adds to a write (db/write_batch.cc)."""

_NAME = r"[a-z][a-z0-9_]{0,31}"

_OWN: tuple[type[Definition], ...] = (*RECORDS, *SQL, *YCSB, Benchmark)
"""The workloads of lsmtune."""


def _of_entry(entry: Any) -> Iterator[tuple[str, type[Definition]]]:
    return ((one.name, one) for one in entry.workloads if not isinstance(one, str))


WORKLOADS: Known[type[Definition]] = Known({one.name: one for one in _OWN}, _of_entry)
"""The workloads by name."""

OPTIONAL = frozenset(name for one in _OWN for name in one.parameters)
"""Parameters of `Workload` that only some workloads have."""


def _is_none(value: object) -> bool:
    return value is None


def _is_zero(value: float) -> bool:
    return value == 0


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
    # Not in the JSON if it is 0: names of studies follow from that JSON.
    get_missing: float = Field(
        default=0.0, ge=0, le=1, exclude_if=_is_zero, description=MIX_KEYS["get_missing"]
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = self.get + self.put + self.scan + self.get_missing
        if abs(total - 1) > _WHOLE:
            sum_ = "get + put + scan" + (" + get_missing" if self.get_missing else "")
            raise ValueError(f"{sum_} is {total:g}; the shares must add up to 1")
        return self


class Workload(BaseModel):
    """A workload: its name and its parameters.

    On an empty store, each client writes `num` records, or `operations` if given. SQL workloads
    have tables instead of records. Parameters without a default exist only in some workloads.
    """

    # One record for all workloads, because its JSON decides the names of stored studies. What a
    # workload does is in its class (`Definition`).
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
    transactions_s: int | None = Field(
        default=None, ge=1, le=10**7, exclude_if=_is_none,
        description=WORKLOAD_KEYS["transactions_s"],
    )  # fmt: skip

    _own: Parameters | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_definition(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the workload's own parameters and refuse those that it does not have."""
        if not isinstance(given, Mapping):
            return handler(given)
        name = given.get("name", "fillrandom")
        definition = WORKLOADS.get(name) if isinstance(name, str) else None
        if definition is None:
            return handler(given)  # refused below, with the allowed names
        _refuse_stray(given, definition)
        own = definition.own_fields()
        rest = {name: value for name, value in given.items() if name not in own}
        defaults = {n: v for n, v in definition.of_records.items() if v is not None}
        defaults |= definition.parameters
        filled = {name: value for name, value in defaults.items() if given.get(name) is None}
        load = handler({**rest, **filled})
        if definition.own is not None:
            mine = {name: value for name, value in given.items() if name in own}
            load._own = _own_parameters(definition.own, mine)
        if (problem := next(load.definition.problems(), None)) is not None:
            raise ValueError(problem)
        return load

    @model_serializer(mode="wrap")
    def _stored(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        """Return the parameters. Those of another package follow the usual ones."""
        found: dict[str, Any] = handler(self)
        definition = self.definition
        if not definition.stores_all:
            found = {n: v for n, v in found.items() if n == "name" or definition.has(n)}
        if self._own is None:
            return found
        own = self._own.model_dump(mode="json", exclude_none=info.exclude_none or False)
        return {**found, **own}

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in WORKLOADS:
            raise ValueError(unknown_word("workload", name, WORKLOADS))
        return name

    @property
    def definition(self) -> Definition:
        """The workload of that name, with these parameters."""
        return WORKLOADS[self.name](self)

    def definition_of(self, kind: type[D]) -> D:
        """Return the definition, which is one of that class; TypeError if it is not."""
        found = self.definition
        if not isinstance(found, kind):
            raise TypeError(f"{self.name} is no {kind.__name__}")
        return found

    @property
    def own(self) -> Parameters | None:
        """The parameters that only this workload of another package has; None without such."""
        return self._own

    @property
    def kind(self) -> Kind:
        """Whether writes, reads or both are measured."""
        return self.definition.kind

    @property
    def client_operations(self) -> int | None:
        """Measured operations per client; None if a duration or a trace ends the load."""
        return self.definition.client_operations

    @property
    def column_families(self) -> tuple[str, ...]:
        """Column families of the workload in addition to the default one."""
        return self.definition.column_families

    @property
    def told(self) -> dict[str, Any]:
        """Parameters that the workload has and that are set, for display."""
        given = self.model_dump(exclude_none=True)
        return {n: v for n, v in given.items() if n not in OF_RECORDS or self.definition.has(n)}

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
    def written_bytes(self) -> int | None:
        """Key and value bytes that the clients write during the load; None if unknown.

        A deletion writes its key only. For SQL, it is an estimate.
        """
        return self.definition.written_bytes

    @property
    def user_bytes(self) -> int:
        """Key and value bytes that the clients write, including the build of the database.

        If their number is unknown, the bytes of all records: overwrites do not make a store
        larger. For SQL, the bytes of the rows and of the writes of the transactions.
        """
        return self.definition.user_bytes

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
        if self.tombstone_every is not None or self.definition.live_records is None:
            return None
        return self.definition.live_records * self.record_bytes

    @property
    def file_paths(self) -> tuple[Path, ...]:
        """Files of the user that the workload needs."""
        return self.definition.files


def _refuse_stray(given: Mapping[str, Any], definition: type[Definition]) -> None:
    """Raise ValueError for a parameter that the workload does not have."""
    known = [name for name in OF_RECORDS if name in definition.of_records]
    own = dict.fromkeys((*known, *definition.parameters, *definition.own_fields()))
    foreign = OPTIONAL - definition.parameters.keys()
    stray = [name for name in given if name in foreign and given[name] is not None]
    stray += [name for name in OF_RECORDS if name not in known and _is_set(given, name)]
    if not definition.stores_all:  # no stored study has more keys
        stray += [name for name in given if name not in Workload.model_fields and name not in own]
    if stray and not own:
        raise ValueError(f"the workload {definition.name} has no parameters; remove {stray[0]}")
    if stray:
        word = f"parameter of the workload {definition.name}"
        raise ValueError(unknown_word(word, stray[0], own))


def _is_set(given: Mapping[str, Any], name: str) -> bool:
    """Return whether a parameter is given with another value than its default."""
    return given.get(name) not in (None, Workload.model_fields[name].default)


def _own_parameters(own: type[Parameters], given: Mapping[str, Any]) -> Parameters:
    """Return the checked parameters of another package; ValueError names the first wrong one."""
    try:
        return own.model_validate(given)
    except ValidationError as error:
        first: dict[str, Any] = dict(error.errors()[0])
        key = ".".join(map(str, first["loc"]))
        text = "this key is missing" if first["type"] == "missing" else allowed_text(first)
        raise ValueError(f"{key}: {text}") from error


def name_of(workload: str | type[Definition]) -> str:
    """Return the name of a workload that an engine names, or brings along as a class."""
    return workload if isinstance(workload, str) else workload.name


def check_workload(workload: object) -> None:
    """Raise ValueError if an engine of another package cannot have this workload."""
    if isinstance(workload, str):
        if workload not in WORKLOADS.built_in:
            raise ValueError(unknown_word("workload", workload, WORKLOADS.built_in))
        return
    if not (isinstance(workload, type) and issubclass(workload, Definition)):
        raise ValueError(f"a workload is neither a name nor a class of Definition: {workload!r}")
    name = getattr(workload, "name", None)
    if not (isinstance(name, str) and re.fullmatch(_NAME, name)):
        raise ValueError(
            f"the name {name!r} of a workload is not allowed; use 1 to 32 lowercase letters, "
            "digits and underscores"
        )
    if WORKLOADS.built_in.get(name, workload) is not workload:
        raise ValueError(f"lsmtune itself has the workload {name}")
    _check_members(workload)


def _check_members(workload: type[Definition]) -> None:
    where = f"the workload {workload.name}"
    what: object = getattr(workload, "what", None)
    if not isinstance(what, str) or not what or "\n" in what:
        raise ValueError(f"{where} needs one line in the attribute what")
    if workload.kind not in get_args(Kind):
        raise ValueError(f"{where}: {unknown_word('kind', workload.kind, get_args(Kind))}")
    own: object = workload.own
    if own is not None and not (isinstance(own, type) and issubclass(own, Parameters)):
        raise ValueError(f"{where}: own is no class of Parameters")
    for names, known in ((workload.of_records, OF_RECORDS), (workload.parameters, OPTIONAL)):
        if stray := [name for name in names if name not in known]:
            raise ValueError(f"{where}: {unknown_word('parameter', stray[0], known)}")
    if taken := {"name", *OF_RECORDS, *OPTIONAL}.intersection(workload.own_fields()):
        raise ValueError(f"{where}: lsmtune itself has the parameter {min(taken)}")
