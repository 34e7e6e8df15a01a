"""The engine tikv: a TiKV of the user, loaded by go-ycsb."""

from functools import cache
from importlib.resources import files

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.tikv.names import NAMES
from lsmtune.engines.tikv.rules import RULES
from lsmtune.knobs.catalogue import Catalogue, read_catalogue
from lsmtune.spec import StudySettings
from lsmtune.tables import Cluster
from lsmtune.workloads.ycsb import YCSB, YcsbA

_NAME = "tikv"


@cache
def _catalogue() -> Catalogue:
    folder = files(__name__).joinpath("catalogue")
    return read_catalogue(_NAME, folder, names=NAMES, rules=RULES, store="TiKV")


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.tikv.engine import TiKV  # noqa: PLC0415 - only if it runs

    return TiKV(spec.program, spec.tikv or Cluster())


TIKV = EngineEntry(
    name=_NAME,
    summary="a TiKV of yours",
    program="go-ycsb",
    workloads=tuple(dict.fromkeys((YcsbA, *YCSB))),
    catalogue=_catalogue,
    exports=("tikv-toml",),
    not_limited=frozenset({"write_amp", "get_missing_p50_us", "get_missing_p99_us"}),
    needs_flushes=True,
    runs_here=False,
    base_is_users=True,
    make=_make,
)
"""The entry of the engine."""
