"""The settings of a TiKV of the user: the table [tikv] of a study file, and what fits it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.families import Names, knob_name
from lsmtune.spec import StudySettings
from lsmtune.tables import EngineSettings

_MOST_SCANNED_RAW = 10_240
"""Maximum number of records per scan of the raw API (client-go, rawkv.MaxRawKVScanLimit)."""

_ADDRESS = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}")
"""Host and port; nothing else, so that it never contains a password."""

KEYS = {
    "status": "Address of TiKV's status server.",
    "pd": "Addresses of the placement drivers, separated by commas.",
    "config": "Configuration file that TiKV reads at its start. lsmtune restores the file "
    "at the end of the study.",
    "restart": "Command that stops and starts TiKV, as a list of arguments that no shell reads. "
    "Without `config` and `restart`, lsmtune tunes only options that TiKV can change while it "
    "runs.",
    "prepare": "Command that brings the data into the same state before every trial. It runs when "
    "the options are in effect. Default: lsmtune loads the records again if options affect files.",
    "api": "API that go-ycsb uses: raw, or txn for transactions.",
    "max_failed_percent": 'With `api = "txn"`, a trial fails if more than this percentage of its '
    "operations fail, for example because of write conflicts. Default: 50.",
    "start_s": "Number of seconds that TiKV may take to start. After this time, the trial fails.",
    "refresh_s": "Interval in seconds at which TiKV updates its metrics.",
}
"""Descriptions of the keys of the table [tikv]."""

_FAMILY = re.compile(r"(rocksdb\.\w+cf)\.(.+)")
_PLAIN = {
    "write-buffer-size": "write_buffer_size",
    "max-write-buffer-number": "max_write_buffer_number",
    "min-write-buffer-number-to-merge": "min_write_buffer_number_to_merge",
    "level0-file-num-compaction-trigger": "level0_file_num_compaction_trigger",
    "level0-slowdown-writes-trigger": "level0_slowdown_writes_trigger",
    "level0-stop-writes-trigger": "level0_stop_writes_trigger",
    "soft-pending-compaction-bytes-limit": "soft_pending_compaction_bytes_limit",
    "hard-pending-compaction-bytes-limit": "hard_pending_compaction_bytes_limit",
    "storage.block-cache.capacity": "cache_size",
    "rocksdb.max-background-jobs": "max_background_jobs",
    "rocksdb.max-sub-compactions": "subcompactions",
}
"""TiKV's names of the options that rules and ranges of threads look at, and RocksDB's."""
_OWN = {plain: name for name, plain in _PLAIN.items()}


class Cluster(EngineSettings):
    """Addresses of your TiKV, and the command that restarts TiKV with other options."""

    status: str = Field(default="127.0.0.1:20180", description=KEYS["status"])
    pd: str = Field(default="127.0.0.1:2379", description=KEYS["pd"])
    config: str | None = Field(default=None, description=KEYS["config"])
    restart: tuple[str, ...] = Field(default=(), description=KEYS["restart"])
    prepare: tuple[str, ...] = Field(default=(), description=KEYS["prepare"])
    api: Literal["raw", "txn"] = Field(default="raw", description=KEYS["api"])
    max_failed_percent: float | None = Field(
        default=None, ge=0, le=100, description=KEYS["max_failed_percent"]
    )
    start_s: float = Field(default=120, gt=0, le=3600, description=KEYS["start_s"])
    refresh_s: float = Field(default=10, gt=0, le=600, description=KEYS["refresh_s"])

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


def cluster_of(spec: StudySettings) -> Cluster:
    """Return the TiKV of a study. Without a table, TiKV is on this machine at the usual ports."""
    table = spec.engine_settings
    return table if isinstance(table, Cluster) else Cluster()


def suited_knobs(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default preset of knobs: a TiKV that lsmtune may restart takes more of them.

    `given` are the settings of a study, which are not checked yet.
    """
    table = given.get("tikv")
    settings = table.model_dump() if isinstance(table, Cluster) else table
    can_restart = isinstance(settings, Mapping) and settings.get("restart")
    return {"knobs": "core" if can_restart else "online"}


def check(spec: StudySettings) -> Iterator[str]:
    """Yield why this TiKV cannot be tuned with the settings of a study."""
    cluster, load = cluster_of(spec), spec.workload
    if spec.cache is not None:
        yield (
            "cache: not allowed with engine tikv; tune the knob storage.block-cache.capacity "
            "instead"
        )
    if cluster.api == "raw" and (load.scan_length or 0) > _MOST_SCANNED_RAW:
        yield (
            f"workload.scan_length: {load.scan_length} is too long for the raw API; "
            f'use 1 to {_MOST_SCANNED_RAW}, or set api = "txn" in the table [tikv]'
        )
    knobs = ENGINES[spec.engine].catalogue().select(spec.knobs)
    started = [knob.name for knob in knobs if knob.apply == "restart"]
    if started and not cluster.restart:
        yield (
            f"knobs: {started[0]} needs a restart of TiKV; set the keys config and "
            'restart in the table [tikv], or use knobs = "online"'
        )


def _split(name: str) -> tuple[str | None, str]:
    found = _FAMILY.fullmatch(name)
    if found is None:
        return None, _PLAIN.get(name, name)
    return found[1], _PLAIN.get(found[2], found[2])


def _join(option: str, family: str | None) -> tuple[str, ...]:
    own = _OWN.get(option, option)
    return (own,) if family is None else (knob_name(family, own), own)


NAMES = Names(_split, _join)
"""The form of TiKV's names.

`rocksdb.writecf.block-size` is an option of the family `rocksdb.writecf`;
`rocksdb.max-background-jobs` and `storage.block-cache.capacity` belong to no family. Options that
RocksDB's rules use have RocksDB's names as plain names; all others keep TiKV's.
"""
