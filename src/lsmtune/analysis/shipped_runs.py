"""The measured screenings of a fixed workload that ship with lsmtune."""

import gzip
from importlib.resources import files

from lsmtune.batch import BatchLine, parse_batch
from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.defaults import nearest_of

SHIPPED_VERSION = "7.8.3"
"""RocksDB of the screenings whose files do not name a version; db_bench ran it."""
_DATA = files("lsmtune") / "data" / "jin2022"
_NAME, _KIND = "honest", ".jsonl.gz"


def shipped(version: str = SHIPPED_VERSION) -> list[BatchLine]:
    """Return the runs that ship, measured on one of the `shipped_versions`."""
    name = f"{_NAME}{_KIND}" if version == SHIPPED_VERSION else f"{_NAME}-{version}{_KIND}"
    return parse_batch(gzip.decompress((_DATA / name).read_bytes()).decode(), name)


def has_shipped(engine: str, workload: str) -> bool:
    """Return whether runs of an engine with a workload ship."""
    return workload in ENGINES[engine].shipped_workloads


def nearest_shipped(version: str) -> str:
    """Return the version nearest to a version whose runs with a fixed workload ship."""
    return nearest_of(version, shipped_versions())


def shipped_versions() -> list[str]:
    """Return the versions whose runs ship."""
    start = f"{_NAME}-"
    names = (file.name for file in _DATA.iterdir())
    others = (n.removesuffix(_KIND).removeprefix(start) for n in names if n.endswith(_KIND)
              and n.startswith(start))  # fmt: skip
    return [SHIPPED_VERSION, *sorted(others)]
