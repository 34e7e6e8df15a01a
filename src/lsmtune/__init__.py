"""lsmtune: finds better options for an LSM store in few real runs, and proves the gain.

    import lsmtune

    result = lsmtune.tune(workload={"name": "fillrandom", "num": 200_000}, trials=16, home="data")
    if result.claim.gain:
        result.export("OPTIONS")

Names are loaded when they are used, so that the import is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsmtune.analysis.claim import Claim
    from lsmtune.analysis.inspect.inspection import Inspection
    from lsmtune.api.importance import ImportanceResult
    from lsmtune.api.public import (
        importance,
        inspect,
        rehearse,
        result,
        screen,
        simulate,
        studies,
        sweep,
        tune,
        verify,
    )
    from lsmtune.api.rehearse import StoreRehearsed
    from lsmtune.api.screen import ScreenResult
    from lsmtune.api.simulate import Simulation
    from lsmtune.api.study_result import Result
    from lsmtune.api.sweep import SweepResult
    from lsmtune.engines.function import function_engine
    from lsmtune.errors import Cancelled, LsmtuneError, UserError
    from lsmtune.knobs.types import Knob
    from lsmtune.metrics.definitions import Metric
    from lsmtune.progress import Observer
    from lsmtune.spec import StudySettings
    from lsmtune.stats import Interval

__version__ = "0.2.0"
__all__ = [
    "Cancelled", "Claim", "ImportanceResult", "Inspection", "Interval", "Knob", "LsmtuneError",
    "Metric", "Observer", "Result", "ScreenResult", "Simulation", "StoreRehearsed",
    "StudySettings", "SweepResult", "UserError", "function_engine", "importance", "inspect",
    "rehearse", "result", "screen", "simulate", "studies", "sweep", "tune", "verify",
]  # fmt: skip

_PUBLIC = "lsmtune.api.public"
_MODULES = {
    "Cancelled": "lsmtune.errors",
    "Claim": "lsmtune.analysis.claim",
    "ImportanceResult": "lsmtune.api.importance",
    "Inspection": "lsmtune.analysis.inspect.inspection",
    "Interval": "lsmtune.stats",
    "Knob": "lsmtune.knobs.types",
    "LsmtuneError": "lsmtune.errors",
    "Metric": "lsmtune.metrics.definitions",
    "Observer": "lsmtune.progress",
    "Result": "lsmtune.api.study_result",
    "ScreenResult": "lsmtune.api.screen",
    "Simulation": "lsmtune.api.simulate",
    "StoreRehearsed": "lsmtune.api.rehearse",
    "StudySettings": "lsmtune.spec",
    "SweepResult": "lsmtune.api.sweep",
    "UserError": "lsmtune.errors",
    "function_engine": "lsmtune.engines.function",
}
"""The module of each public name that is not in `_PUBLIC`."""


def __getattr__(name: str) -> Any:
    """Load a public name when it is used for the first time."""
    if name not in __all__:
        raise AttributeError(f"module 'lsmtune' has no attribute {name!r}")
    value = getattr(import_module(_MODULES.get(name, _PUBLIC)), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
