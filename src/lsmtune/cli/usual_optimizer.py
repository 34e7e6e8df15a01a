"""The default optimizer."""

from pathlib import Path

from lsmtune.simulator import is_installed
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home, is_home

_LED = "guided"


def with_usual_optimizer(spec: StudySpec, home_path: Path) -> StudySpec:
    """Return the spec with `guided` if the simulator supports its workload.

    A study that was started with another optimizer keeps the normal default.
    """
    if not _is_simulated(spec) or _begun_with(home_path, spec.name) != _LED:
        return spec
    return spec.model_copy(update={"optimizer": _LED})


def _begun_with(home_path: Path, study: str) -> str:
    """The optimizer of an existing study; `guided` for a new one."""
    if not is_home(home_path):
        return _LED
    with Home(home_path, create=False) as home:
        kept = home.find_study(study)
    return _LED if kept is None else str(kept.spec["optimizer"])


def _is_simulated(spec: StudySpec) -> bool:
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
