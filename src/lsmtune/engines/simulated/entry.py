"""The entry of the engine simulated: the simulator predicts trials within milliseconds."""

from dataclasses import replace
from functools import cache

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.rocksdb.exports import DB_BENCH_FLAGS, OPTIONS
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.memory import flush_bytes
from lsmtune.knobs.option_files import OPTIONS_FILE, OPTIONS_STRING
from lsmtune.simulator import MODELLED_WORKLOADS
from lsmtune.spec import StudySettings

_NAME = "simulated"


@cache
def _catalogue() -> Catalogue:
    """Return RocksDB's catalogue under the engine's name."""
    return replace(rocksdb_catalogue(), engine=_NAME, by_version=False)


def _make(_: StudySettings) -> Engine:
    from lsmtune.engines.simulated.engine import Simulated  # noqa: PLC0415 - only if it runs

    return Simulated()


SIMULATED = EngineEntry(
    name=_NAME,
    summary="the simulator of RocksDB's tree, which predicts trials within milliseconds",
    program="lsmsim",
    workloads=MODELLED_WORKLOADS,
    catalogue=_catalogue,
    base_files=(OPTIONS_FILE, OPTIONS_STRING),
    exports=(DB_BENCH_FLAGS, OPTIONS),
    uses=frozenset({"base", "family", "cache"}),
    lacks=frozenset({"tombstone_every"}),
    not_limited=frozenset({"write_p99_us"}),
    flush_bytes=flush_bytes,
    full_size=False,
    runs_here=False,
    predicts=True,
    make=_make,
)
"""The entry of the engine."""
