"""The libraries of RocksDB that the user has installed, for tests that run on real ones.

Import it at the head of a test file: while tests run, no library is installed.
"""

import pytest

from lsmtune.engines.libraries.installed import Installed, engines_folder, installed_engines

ENGINES = installed_engines(engines_folder())
"""All libraries, the oldest version first."""


def label(engine: Installed | None) -> str:
    """Return the version of a library as the id of a test."""
    return engine.record.version if engine else "none"


OLDEST_AND_NEWEST = pytest.mark.parametrize(
    "engine", [*ENGINES[:1], *ENGINES[1:][-1:]] or [None], indirect=True, ids=label
)
"""Runs a test on two of the libraries instead of all."""
