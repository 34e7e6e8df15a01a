"""What searches where the user names no optimizer."""

from pathlib import Path

from lsmtune.cli.simulating import machine_of
from lsmtune.simulator import is_installed
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home

_LED = "guided"


def with_usual_optimizer(spec: StudySpec, home_path: Path) -> StudySpec:
    """The spec with `guided` where the home is calibrated for this host and its load simulated.

    A study that has begun with another optimizer keeps to what it would have without.
    """
    if not _is_simulated(spec) or machine_of(home_path) is None:
        return spec
    with Home(home_path, create=True) as home:
        kept = home.find_study(spec.name)
    if kept is not None and kept.spec["optimizer"] != _LED:
        return spec
    return spec.model_copy(update={"optimizer": _LED})


def _is_simulated(spec: StudySpec) -> bool:
    """Whether the simulator knows the store and the load; what it is asked for shows later."""
    load = spec.workload
    return (
        spec.engine == "rocksdb"
        and is_installed()
        and "simulated" in load.preset.engines
        and load.cannot_run_on("simulated") is None
        and spec.warm_start is None
    )
