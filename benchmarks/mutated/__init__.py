"""Readers of what users and engines give lsmtune, valid inputs of each, and ways to damage them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
