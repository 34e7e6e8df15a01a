"""Entries of engines that tests put in place of those of lsmtune."""

from collections.abc import Callable
from dataclasses import replace

from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.registry import entry_of
from lsmtune.spec import StudySettings


def replaced(name: str, make: Callable[[StudySettings], Engine]) -> EngineEntry:
    """Return the entry of an engine with another function that makes it."""
    return replace(entry_of(name), make=make)
