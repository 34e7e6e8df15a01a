"""The default optimizer."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lsmtune.simulator import (
    COMPARED,
    MODELLED_VERSION,
    Compared,
    is_installed,
    nearest_compared,
)
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home, is_home

_LED = "guided"
_MOST_ERROR = 0.1
"""Maximum median error of write amplification of a simulator that leads by default."""


def with_usual_optimizer(
    spec: StudySettings,
    home_path: Path,
    tell: Callable[[str], None],
    compared: Sequence[Compared] = COMPARED,
) -> StudySettings:
    """Return the spec with `guided` if the simulator supports its workload and its RocksDB.

    `compared` has the errors of the simulator, by version. A study that was started with another
    optimizer keeps the normal default.
    """
    if not _is_simulated(spec) or _begun_with(home_path, spec.name) != _LED:
        return spec
    # The versions of db_bench and of a library are not known before they run.
    nearest = nearest_compared(spec.rocksdb or MODELLED_VERSION, compared)
    if nearest.write_amp_error > _MOST_ERROR:
        tell(
            f"optimizer: {spec.optimizer}, not {_LED}, because the simulator is too inexact for "
            f"this RocksDB: on {nearest.version}, the median error of write amplification is "
            f"{100 * nearest.write_amp_error:.0f} %"
        )
        return spec
    return spec.model_copy(update={"optimizer": _LED})


def _begun_with(home_path: Path, study: str) -> str:
    """The optimizer of an existing study; `guided` for a new one."""
    if not is_home(home_path):
        return _LED
    with Home(home_path, create=False) as home:
        kept = home.find_study(study)
    return _LED if kept is None else str(kept.spec["optimizer"])


def _is_simulated(spec: StudySettings) -> bool:
    """Whether the simulator supports engine and workload; objectives are checked later."""
    load = spec.workload
    return (
        spec.engine == "rocksdb"
        and is_installed()
        and "simulated" in load.preset.engines
        and load.cannot_run_on("simulated") is None
        and spec.warm_start is None
        and spec.online is None
    )
