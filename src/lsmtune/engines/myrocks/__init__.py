"""The engine myrocks: RocksDB in a private MariaDB server, loaded by sysbench."""

from functools import partial

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.knobs.catalogue import load
from lsmtune.spec import StudySettings
from lsmtune.workloads import workloads_of

_NAME = "myrocks"


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.myrocks.engine import MyRocks  # noqa: PLC0415 - only if it runs

    return MyRocks(spec.program)


MYROCKS = EngineEntry(
    name=_NAME,
    summary="RocksDB in a private MariaDB server",
    program="mariadbd",
    workloads=workloads_of(_NAME),
    catalogue=partial(load, _NAME),
    defaults={"knobs": "mixed"},
    exports=("my.cnf",),
    full_size=False,
    make=_make,
)
"""The entry of the engine."""
