"""Readers of what users and engines give lsmtune, valid inputs of each, and ways to damage them."""

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "analysis")]
