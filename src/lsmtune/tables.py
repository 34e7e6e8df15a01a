"""The tables of a study file that make a study another thing than a search between runs, or tell
where the user's own TiKV is."""

import re
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from lsmtune.errors import UserError
from lsmtune.knobs.design import DesignName
from lsmtune.knobs.types import Knob
from lsmtune.workloads import Workload

_MOST_SCANNED_RAW = 10_240
"""The most that a scan of the raw API may ask for (client-go, rawkv.MaxRawKVScanLimit)."""

_ADDRESS = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}")
"""Host and port; nothing else, so that no password stands in it."""


class Screen(BaseModel):
    """What makes a study a screening: many configs spread over the whole space, none preferred.

    The trials are points of a `design`, or the lines of a `batch` file. Of the first `replicated`
    configs each runs `runs` times in all: how far runs of one config differ bounds what any
    model can explain. Every run has a workload seed of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    design: DesignName = "sobol"
    batch: str | None = None
    replicated: int = Field(default=20, ge=0, le=10_000)
    runs: int = Field(default=3, ge=2, le=100)


class Online(BaseModel):
    """What makes a study one of a running engine, whose options are changed while it serves.

    A change is judged by `windows` of `window_s` seconds before it and under it, and as many after
    it was taken back where it seems to gain.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    window_s: float = Field(default=10.0, ge=0.5, le=3600)
    windows: int = Field(default=5, ge=3, le=100)


def suited_knobs(table: Any) -> str:
    """The preset of knobs for a TiKV of which a study file tells this."""
    told = table.model_dump() if isinstance(table, Cluster) else table
    return "core" if isinstance(told, dict) and told.get("restart") else "online"


class Cluster(BaseModel):
    """Where the user's TiKV is, and how it is given options that need a restart.

    `status` is the address of its status server, `pd` those of the placement drivers. `config` is
    the file that it reads when it starts, `restart` the command that stops and starts it, as a
    list of arguments that no shell reads; without them it takes online changes only. `prepare` is
    a command that is run before every trial, once its options are in force, to bring the data
    into the same state each time; without one records are loaded again where options shape files.
    `api` is how go-ycsb stores them. TiKV has `start_s` seconds to start, and counts anew every
    `refresh_s`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    status: str = "127.0.0.1:20180"
    pd: str = "127.0.0.1:2379"
    config: str | None = None
    restart: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    api: Literal["raw", "txn"] = "raw"
    start_s: float = Field(default=120, gt=0, le=3600)
    refresh_s: float = Field(default=10, gt=0, le=600)

    @field_validator("status", "pd")
    @classmethod
    def _is_an_address(cls, text: str, info: ValidationInfo) -> str:
        told = text.split(",") if info.field_name == "pd" else [text]
        if not all(_ADDRESS.fullmatch(address) for address in told):
            raise ValueError("write it as host:port, for example 127.0.0.1:20180")
        return text

    @model_validator(mode="after")
    def _restarts_under_a_file(self) -> Self:
        if bool(self.restart) != (self.config is not None):
            raise ValueError("config and restart need each other")
        return self

    @property
    def config_path(self) -> Path | None:
        """The file that TiKV reads when it starts."""
        return None if self.config is None else Path(self.config).absolute()

    def check(self, load: Workload, knobs: tuple[Knob, ...], scale: str, cache: str | None) -> None:
        """UserError where this TiKV cannot be tuned so."""
        if scale != "1":
            raise UserError(f"scale: {scale}: the data of TiKV has the size it has; allowed is 1")
        if cache is not None:
            raise UserError("cache: TiKV tells its own; tune storage.block-cache.capacity instead")
        if self.api == "raw" and (load.scan_length or 0) > _MOST_SCANNED_RAW:
            raise UserError(
                f"workload.scan_length: {load.scan_length} is more than the raw API reads at once; "
                f'allowed are 1 to {_MOST_SCANNED_RAW}, or api = "txn" in the table [tikv]'
            )
        started = [knob.name for knob in knobs if knob.apply == "restart"]
        if started and not self.restart:
            raise UserError(
                f"knobs: {started[0]} needs a restart of TiKV; tell config and restart in the "
                'table [tikv], or tune knobs = "online"'
            )
