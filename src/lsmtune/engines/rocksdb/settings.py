"""Settings of a study that belong to RocksDB: which one runs, and online tuning."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.knobs.types import Knob, Settings
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import BYTES_PER_SYNC, DRIVER
from lsmtune.study_keys import VERSION
from lsmtune.trials import Base
from lsmtune.units import MIB
from lsmtune.workloads import Workload

LARGE_VALUE_BYTES = 512
"""From this size on, values are worth a file of their own: compactions then leave them alone."""
_COMPRESSED = 7 / 8
"""RocksDB stores a compressed block only if it is smaller than this share of the block
(max_compressed_bytes_per_kb in include/rocksdb/advanced_options.h)."""


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the knobs that suit the workload, and the program of a version or of a library."""
    is_driven = any(given.get(key) is not None for key in (VERSION, "library"))
    return {"knobs": knobs_of(given.get("workload")), **({"program": DRIVER} if is_driven else {})}


def check(spec: StudySettings) -> Iterator[str]:
    """Yield why the settings do not name one RocksDB that runs the workload."""
    if spec.workload.write_skew is not None and spec.program != DRIVER:
        yield (
            "workload.write_skew: db_bench cannot write some records more often, but lsmtune's "
            "driver can: set rocksdb to an installed version, such as from `lsmtune engines "
            "install rocksdb`, or library to your librocksdb.so"
        )
    elif spec.workload.mix and spec.workload.mix.get_missing and spec.program != DRIVER:
        yield (
            "workload.mix.get_missing: db_bench cannot get missing keys in a mix, but lsmtune's "
            "driver can: set rocksdb to an installed version, such as from `lsmtune engines "
            "install rocksdb`, or library to your librocksdb.so"
        )
    elif spec.rocksdb is None and spec.library is None and spec.program == DRIVER:
        yield f"program: {DRIVER} needs a RocksDB; add rocksdb or library"
    else:
        yield from check_library(spec)
    if spec.versions and spec.rocksdb is None:
        yield (
            "sweep: a factor lists versions of RocksDB, so the baseline must run a version too; "
            "remove program and library, or use rocksdb instead"
        )


def check_library(spec: StudySettings) -> Iterator[str]:
    """Yield why a version or library of RocksDB that the settings name cannot be used."""
    named = [key for key, one in ((VERSION, spec.rocksdb), ("library", spec.library)) if one]
    if not named:
        return
    key = named[0]
    if others := [*named[1:], *(["program"] if spec.program != DRIVER else [])]:
        yield f"{key}: not allowed with {others[0]}; remove one of them"
    elif spec.workload.definition.needs_db_bench:
        yield (
            f"{key}: only db_bench runs the workload {spec.workload.name}; remove it, or choose "
            "another workload"
        )


def check_online(spec: StudySettings) -> Iterator[str]:
    """Yield why RocksDB cannot be tuned online with these settings."""
    load = spec.workload
    if spec.program != DRIVER:
        yield (
            "online: db_bench cannot change options while it runs; install RocksDB with "
            "`lsmtune engines install rocksdb`, and set rocksdb or library"
        )
        return
    if load.kind != "read" and not load.has_all_keys:
        yield (
            f"workload.present: {load.present:g} is not possible with [online], because the writes "
            "would make the store larger; use 1"
        )
    knobs = ENGINES[spec.engine].catalogue().select(spec.knobs)
    if (name := next((k.name for k in knobs if k.apply == "restart"), None)) is not None:
        yield (
            f"knobs: RocksDB cannot change {name} while it runs; with [online], use the preset "
            "online, or a list of knobs that `lsmtune knobs rocksdb` marks as online"
        )


def for_online(
    knobs: Sequence[Knob], settings: Settings, base: Base
) -> tuple[list[Knob], Settings]:
    """Return the knobs that this RocksDB can change while it runs, and the baseline for them.

    Any change of an option of the database turns bytes_per_sync = 0 into 1 MiB, and nothing turns
    it back (DBImpl::SetDBOptions). So the baseline has 1 MiB from the beginning. UserError if no
    knob is left.
    """
    kept = [_without_zero(knob) for knob in knobs if knob.name not in base.fixed_online]
    if not kept:
        raise UserError(
            f"knobs: this RocksDB can set {', '.join(k.name for k in knobs)} only when it opens "
            "the store; use the preset online"
        )
    changes_database = any(k.option and k.option.section == DATABASE_SECTION for k in kept)
    is_changed = changes_database and settings.get(BYTES_PER_SYNC) == 0
    return kept, {**settings, BYTES_PER_SYNC: MIB} if is_changed else settings


def _without_zero(knob: Knob) -> Knob:
    """Return bytes_per_sync without the value 0, which cannot be set online, and other knobs."""
    if knob.name != BYTES_PER_SYNC:
        return knob
    return knob.model_copy(update={"special": tuple(s for s in knob.special if s.value != 0)})


def suited_knobs(load: Workload) -> str:
    """Return the presets that suit a workload, separated by commas.

    A workload that only writes has reads too: those that show what its configs do to reads.
    """
    kinds = set(load.definition.measured_kinds)
    writes, is_large = load.kind != "read", load.value_size >= LARGE_VALUE_BYTES
    only_scans = "scan" in kinds and not kinds & {"get", "get_missing"}
    chosen = {
        "tree": True,
        "flushes": writes,
        "filters": not only_scans,
        "lookups": not writes and not only_scans,
        "scans": only_scans,
        "codecs": load.compression_ratio <= _COMPRESSED,
        "small-records": not is_large,
        "blobs": is_large,
    }
    return ",".join(name for name, is_chosen in chosen.items() if is_chosen)


def knobs_of(given: object) -> str:
    """Return the presets that suit a workload that is not checked yet.

    A later check refuses a wrong one; until then it has those of the default workload.
    """
    try:
        return suited_knobs(Workload.model_validate(given))
    except (ValidationError, UserError):
        return suited_knobs(Workload())
