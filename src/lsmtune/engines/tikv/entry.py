"""The entry of the engine tikv: a TiKV of the user, loaded by go-ycsb."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from lsmtune.engines.base import Engine
from lsmtune.engines.checks import ABSENT, Check, CheckContext
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.tikv.exports import EXPORTS
from lsmtune.engines.tikv.settings import NAMES, Cluster, check, cluster_of, suited_knobs
from lsmtune.knobs.catalogue import Catalogue, read_catalogue
from lsmtune.knobs.constraints import ROCKSDB_RULES
from lsmtune.knobs.option_files import TIKV_TOML
from lsmtune.knobs.rules.base import Context, Normalisation, Rules, number
from lsmtune.knobs.tikv_toml import FLOW_CONTROL, THRESHOLDS
from lsmtune.knobs.types import Settings
from lsmtune.spec import StudySettings
from lsmtune.workloads.ycsb import YCSB, YcsbA

_NAME = "tikv"
_PROGRAM = "go-ycsb"
_COMMANDS = ("restart", "prepare")
"""Keys of the table [tikv] that name commands."""

_SOURCE = "tikv/src/config/mod.rs, fill_cf_opts"


@cache
def _catalogue() -> Catalogue:
    folder = files(__package__).joinpath("catalogue")
    return read_catalogue(_NAME, folder, names=NAMES, rules=RULES, store="TiKV")


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.tikv.engine import TiKV  # noqa: PLC0415 - only if it runs

    return TiKV(spec.program, cluster_of(spec))


def _starts(settings: Mapping[str, Any]) -> Iterator[str]:
    """Give the user's own commands."""
    table = settings.get("tikv")
    for key in _COMMANDS:
        words = table.get(key) if isinstance(table, Mapping) else None
        if isinstance(words, list | tuple) and words:
            yield " ".join(map(str, words))


def _checks(context: CheckContext) -> Iterable[Check]:
    """Look for the program that runs workloads on TiKV; the server itself belongs to the user."""
    program = shutil.which(_PROGRAM)
    if program is None:
        fix = (
            "lsmtune needs go-ycsb only to tune TiKV: if you do not tune TiKV, nothing is missing; "
            "to tune TiKV, put go-ycsb on the PATH"
        )
        yield Check(_PROGRAM, True, f"{ABSENT}: not on PATH", fix)
    else:
        yield Check(_PROGRAM, True, program)


def _flush_bytes(base: Settings) -> float | None:
    """Return the memtable of the column family in which TiKV has the records."""
    return float(base.get("rocksdb.defaultcf.write-buffer-size") or 0) or None


TIKV = EngineEntry(
    name=_NAME,
    summary="a TiKV of yours",
    program=_PROGRAM,
    workloads=tuple(dict.fromkeys((YcsbA, *YCSB))),
    catalogue=_catalogue,
    base_files=(TIKV_TOML,),
    exports=EXPORTS,
    uses=frozenset({"program", "base"}),
    settings=Cluster,
    one_at_a_time=True,
    complete=suited_knobs,
    check=check,
    not_limited=frozenset({"write_amp", "get_missing_p50_us", "get_missing_p99_us"}),
    flush_bytes=_flush_bytes,
    runs_here=False,
    base_is_users=True,
    starts=_starts,
    checks=_checks,
    make=_make,
)
"""The entry of the engine."""


def _no_later_than_flow_control(option: str, threshold: str) -> Normalisation:
    def apply(settings: Settings, _: Context) -> Settings:
        if not settings[FLOW_CONTROL]:
            return {}
        return {option: min(number(settings, option), number(settings, threshold))}

    return Normalisation(
        f"with flow control, TiKV lowers {option} to at most {threshold}",
        _SOURCE,
        (option, FLOW_CONTROL, threshold),
        apply,
    )


RULES = Rules(
    (
        *ROCKSDB_RULES.normalisations,
        *map(_no_later_than_flow_control, THRESHOLDS, THRESHOLDS.values()),
    ),
    ROCKSDB_RULES.refusals,
)
"""RocksDB's rules, and flow control, which acts before RocksDB's own stalls."""
