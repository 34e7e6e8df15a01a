"""The tests that lsmtune has for each engine, on the engine of this package."""

import pytest
from lsmtune_sqlite import SQLITE

from lsmtune.testing import EngineConformance


class TestSqlite(EngineConformance):
    """SQLite as a key-value store."""

    @pytest.fixture
    def entry(self):
        """Return the entry of the engine."""
        return SQLITE
