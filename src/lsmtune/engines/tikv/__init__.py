"""The engine tikv: a TiKV of the user, loaded by go-ycsb."""

from functools import partial

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.knobs.catalogue import load
from lsmtune.spec import StudySettings
from lsmtune.tables import Cluster
from lsmtune.workloads import workloads_of

_NAME = "tikv"
_DEFAULT_WORKLOAD = "ycsb_a"


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.tikv.engine import TiKV  # noqa: PLC0415 - only if it runs

    return TiKV(spec.program, spec.tikv or Cluster())


TIKV = EngineEntry(
    name=_NAME,
    summary="a TiKV of yours",
    program="go-ycsb",
    workloads=tuple(dict.fromkeys((_DEFAULT_WORKLOAD, *workloads_of(_NAME)))),
    catalogue=partial(load, _NAME),
    exports=("tikv-toml",),
    runs_here=False,
    make=_make,
)
"""The entry of the engine."""
