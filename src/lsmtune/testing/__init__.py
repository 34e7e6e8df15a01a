"""Tests that every engine and every optimizer must pass, for packages with entries of lsmtune.

    from lsmtune.testing import EngineConformance, OptimizerConformance

    class TestMyEngine(EngineConformance):
        @pytest.fixture
        def entry(self) -> EngineEntry:
            return my_package.ENGINE

The tests need pytest. `pytest.register_assert_rewrite("lsmtune.testing")` before the import makes
pytest explain what differs. The scripted engine, whose results a test says, is here, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsmtune.testing.engines import EngineConformance
    from lsmtune.testing.optimizers import OptimizerConformance
    from lsmtune.testing.scripted import ScriptedEngine, measured

__all__ = ["EngineConformance", "OptimizerConformance", "ScriptedEngine", "measured"]

_MODULES = {
    "EngineConformance": "engines", "OptimizerConformance": "optimizers",
    "ScriptedEngine": "scripted", "measured": "scripted",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a name when it is used, so that the scripted engine needs no pytest."""
    if name not in _MODULES:
        raise AttributeError(f"module 'lsmtune.testing' has no attribute {name!r}")
    return getattr(import_module(f"lsmtune.testing.{_MODULES[name]}"), name)
