"""The entry of the engine myrocks: RocksDB in a private MariaDB server, loaded by sysbench."""

from collections.abc import Iterable
from functools import cache, partial
from importlib.resources import files

from lsmtune.engine_traits import OnlineTuning
from lsmtune.engines.base import Engine
from lsmtune.engines.checks import Check, CheckContext, optional_check
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.myrocks.exports import EXPORTS
from lsmtune.engines.record_sizes import refused_size
from lsmtune.knobs.catalogue import Catalogue, by_family, read_catalogue, rocksdb_catalogue
from lsmtune.knobs.memory import flush_bytes
from lsmtune.knobs.option_files import MY_CNF
from lsmtune.spec import StudySettings
from lsmtune.workloads.records import Fillrandom
from lsmtune.workloads.sql import SQL

_NAME = "myrocks"


@cache
def _catalogue() -> Catalogue:
    """Return the catalogue: RocksDB's options, those of column families once per family."""
    return read_catalogue(
        _NAME,
        files(__package__).joinpath("catalogue"),
        knobs=by_family(rocksdb_catalogue().knobs),
    )


def _make(spec: StudySettings) -> Engine:
    from lsmtune.engines.myrocks.engine import MyRocks  # noqa: PLC0415 - only if it runs

    return MyRocks(spec.program)


def _checks(context: CheckContext) -> Iterable[Check]:
    yield optional_check(
        "myrocks", lambda: _make(StudySettings(engine=_NAME)), "tune MyRocks", "myrocks"
    )


MYROCKS = EngineEntry(
    name=_NAME,
    summary="RocksDB in a private MariaDB server",
    program="mariadbd",
    workloads=(Fillrandom, *SQL),
    catalogue=_catalogue,
    defaults={"knobs": "mixed"},
    base_files=(MY_CNF,),
    exports=EXPORTS,
    uses=frozenset({"program", "base", "cache"}),
    online=OnlineTuning(),
    refuses=partial(refused_size, _NAME),
    flush_bytes=flush_bytes,
    full_size=False,
    checks=_checks,
    make=_make,
)
"""The entry of the engine."""
