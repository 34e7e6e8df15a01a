"""The engine tikv: a TiKV of the user, loaded by go-ycsb."""

from functools import cache
from importlib.resources import files

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.tikv.names import NAMES
from lsmtune.engines.tikv.rules import RULES
from lsmtune.engines.tikv.settings import Cluster, check, cluster_of, suited_knobs
from lsmtune.knobs.catalogue import Catalogue, read_catalogue
from lsmtune.spec import StudySettings
from lsmtune.workloads import workloads_of

_NAME = "tikv"
_DEFAULT_WORKLOAD = "ycsb_a"


@cache
def _catalogue() -> Catalogue:
    folder = files(__name__).joinpath("catalogue")
    return read_catalogue(_NAME, folder, names=NAMES, rules=RULES, store="TiKV")


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.tikv.engine import TiKV  # noqa: PLC0415 - only if it runs

    return TiKV(spec.program, cluster_of(spec))


TIKV = EngineEntry(
    name=_NAME,
    summary="a TiKV of yours",
    program="go-ycsb",
    workloads=tuple(dict.fromkeys((_DEFAULT_WORKLOAD, *workloads_of(_NAME)))),
    catalogue=_catalogue,
    exports=("tikv-toml",),
    uses=frozenset({"program", "base"}),
    settings=Cluster,
    one_at_a_time=True,
    complete=suited_knobs,
    check=check,
    runs_here=False,
    base_is_users=True,
    make=_make,
)
"""The entry of the engine."""
