"""Tables of a study file: screening, online tuning, and the TiKV cluster of the user."""

import re
from collections.abc import Mapping
from datetime import date
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

from lsmtune.errors import ALLOWED, UserError, allowed_text, unknown_word
from lsmtune.knobs.design import DesignName
from lsmtune.knobs.types import Knob
from lsmtune.study_keys import ONLINE_KEYS, SCREEN_KEYS, TIKV_KEYS
from lsmtune.workloads import Workload, whole_numbers

STUDY_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""Pattern of the names of studies, which are also names of folders."""

_MOST_SCANNED_RAW = 10_240
"""Maximum number of records per scan of the raw API (client-go, rawkv.MaxRawKVScanLimit)."""

_ADDRESS = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}")
"""Host and port; nothing else, so that it never contains a password."""

_NAME_OF_KEY = "[key]"
"""pydantic's mark for a problem with the name of a key."""


def problem_text(problem: Mapping[str, Any], table: type[BaseModel] | None) -> str:
    """Return a problem that pydantic found as a message: key, value, what is allowed.

    `table` is the model of the table that contains the key, if it is known.
    """
    place, value, kind = [str(part) for part in problem["loc"]], problem["input"], problem["type"]
    key = ".".join(place)
    if kind == "missing":
        return f"{key}: this key is missing; add it"
    if kind == "extra_forbidden" and table is not None:
        return f"{key}: {unknown_word('setting', problem['loc'][-1], table.model_fields)}"
    if kind == "literal_error":
        return _unknown_choice(place, value, problem["ctx"]["expected"])
    text = allowed_text(problem)
    if isinstance(value, dict):
        return f"{key}: {text}{', not a table' if kind in ALLOWED else ''}".removeprefix(": ")
    if kind == "value_error" and repr(value) in text:
        return f"{key}: {text}".removeprefix(": ")
    return f"{key} = {_as_written(value)}: {text}".removeprefix(" = ")


def _unknown_choice(place: list[str], value: object, expected: str) -> str:
    """Return the message for a word that is not one of the expected ones, or for such a key."""
    allowed = re.findall(r"'([^']*)'", expected)
    if place[-1] == _NAME_OF_KEY:
        return f"{'.'.join(place[:-2])}: {unknown_word('key', value, allowed)}"
    if not isinstance(value, str):
        return f"{'.'.join(place)} = {_as_written(value)}: must be one of: {', '.join(allowed)}"
    return f"{'.'.join(place)}: {unknown_word(place[-1], value, allowed)}"


def _as_written(value: object) -> str:
    """Return a value as a study file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, date) else repr(value)


def study_name(name: str) -> str:
    """Return the name of a study; ValueError if it is not a plain name of a folder."""
    if not re.fullmatch(STUDY_NAME, name):
        raise ValueError(
            "use 1 to 64 letters, digits, dots, dashes and underscores; start with a letter or "
            "digit"
        )
    return name


class Screen(BaseModel):
    """Settings of a screening: it measures many configs spread over the whole knob space.

    The configs are points of a `design` or lines of a `batch` file. The spread of the repeated runs
    limits what a model can explain. Every run has its own workload seed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    _whole_numbers = whole_numbers
    design: DesignName = Field(default="sobol", description=SCREEN_KEYS["design"])
    batch: str | None = Field(default=None, description=SCREEN_KEYS["batch"])
    replicated: int = Field(default=20, ge=0, le=10_000, description=SCREEN_KEYS["replicated"])
    runs: int = Field(default=3, ge=2, le=100, description=SCREEN_KEYS["runs"])


class Online(BaseModel):
    """Settings of online tuning: lsmtune changes the options of a running engine."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _whole_numbers = whole_numbers
    window_s: float = Field(default=10.0, ge=0.5, le=3600, description=ONLINE_KEYS["window_s"])
    windows: int = Field(default=5, ge=3, le=100, description=ONLINE_KEYS["windows"])


def suited_knobs(table: Any) -> str:
    """Return the preset of knobs that suits a TiKV with these settings."""
    settings = table.model_dump() if isinstance(table, Cluster) else table
    return "core" if isinstance(settings, dict) and settings.get("restart") else "online"


class Cluster(BaseModel):
    """Addresses and commands of the user's TiKV."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    status: str = Field(default="127.0.0.1:20180", description=TIKV_KEYS["status"])
    pd: str = Field(default="127.0.0.1:2379", description=TIKV_KEYS["pd"])
    config: str | None = Field(default=None, description=TIKV_KEYS["config"])
    restart: tuple[str, ...] = Field(default=(), description=TIKV_KEYS["restart"])
    prepare: tuple[str, ...] = Field(default=(), description=TIKV_KEYS["prepare"])
    api: Literal["raw", "txn"] = Field(default="raw", description=TIKV_KEYS["api"])
    max_failed_percent: float | None = Field(
        default=None, ge=0, le=100, description=TIKV_KEYS["max_failed_percent"]
    )
    start_s: float = Field(default=120, gt=0, le=3600, description=TIKV_KEYS["start_s"])
    refresh_s: float = Field(default=10, gt=0, le=600, description=TIKV_KEYS["refresh_s"])

    @model_validator(mode="after")
    def _only_transactions_may_fail(self) -> Self:
        if self.max_failed_percent is not None and self.api != "txn":
            raise ValueError('max_failed_percent needs api = "txn"; remove max_failed_percent')
        return self

    @field_validator("status", "pd")
    @classmethod
    def _is_an_address(cls, text: str, info: ValidationInfo) -> str:
        addresses = text.split(",") if info.field_name == "pd" else [text]
        if not all(_ADDRESS.fullmatch(address) for address in addresses):
            raise ValueError("invalid address; use host:port, e.g. 127.0.0.1:20180")
        return text

    @model_validator(mode="after")
    def _restarts_under_a_file(self) -> Self:
        if bool(self.restart) != (self.config is not None):
            raise ValueError("set both keys config and restart, or neither key")
        return self

    @property
    def config_path(self) -> Path | None:
        """Path of the file that TiKV reads at its start."""
        return None if self.config is None else Path(self.config).absolute()

    def check(self, load: Workload, knobs: tuple[Knob, ...], scale: str, cache: str | None) -> None:
        """Raise UserError if this TiKV cannot be tuned with these settings."""
        if scale != "1":
            raise UserError(f"scale: {scale} is not possible with the engine tikv; use 1")
        if cache is not None:
            raise UserError(
                "cache: not allowed with engine tikv; tune the knob "
                "storage.block-cache.capacity instead"
            )
        if self.api == "raw" and (load.scan_length or 0) > _MOST_SCANNED_RAW:
            raise UserError(
                f"workload.scan_length: {load.scan_length} is too long for the raw API; "
                f'use 1 to {_MOST_SCANNED_RAW}, or set api = "txn" in the table [tikv]'
            )
        started = [knob.name for knob in knobs if knob.apply == "restart"]
        if started and not self.restart:
            raise UserError(
                f"knobs: {started[0]} needs a restart of TiKV; set the keys config and "
                'restart in the table [tikv], or use knobs = "online"'
            )
