"""The engine simulated: the simulator predicts the result of a trial within milliseconds."""

from functools import partial

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.knobs.catalogue import load
from lsmtune.simulator import MODELLED_WORKLOADS
from lsmtune.spec import StudySettings


def _make(_: StudySettings) -> Engine:
    from lsmtune.engines.simulated.engine import Simulated  # noqa: PLC0415 - only if it runs

    return Simulated()


SIMULATED = EngineEntry(
    name="simulated",
    summary="the simulator of RocksDB's tree, which predicts trials within milliseconds",
    program="lsmsim",
    workloads=MODELLED_WORKLOADS,
    catalogue=partial(load, "simulated"),
    exports=("db_bench", "options"),
    full_size=False,
    runs_here=False,
    make=_make,
)
"""The entry of the engine."""
