"""A disk with as much free space as a test wants."""

import shutil
from types import SimpleNamespace

import pytest


def with_free_bytes(free: int, patch: pytest.MonkeyPatch) -> None:
    """Let the system say that each disk has so many bytes free."""
    patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
