"""The entry of an engine: what lsmtune and installed packages offer in `lsmtune.engines`."""

from collections.abc import Callable
from dataclasses import dataclass

from lsmtune.engine_traits import EngineTraits
from lsmtune.engines.base import Engine
from lsmtune.spec import StudySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEntry(EngineTraits):
    """Everything that lsmtune knows about an engine.

    `make` returns the engine that runs a study. It imports what the engine needs, and raises
    UserError if the engine cannot be used.
    """

    make: Callable[[StudySettings], Engine]
