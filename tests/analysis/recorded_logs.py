"""The LOGs of tests/data and of the examples, which several files of tests inspect."""

from functools import cache
from pathlib import Path

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path

EXAMPLE = Path(__file__).parents[2] / "examples" / "LOG.gz"
DATA = Path(__file__).parents[1] / "data"
PLANTED = DATA / "planted"
LOGS = sorted([*PLANTED.glob("*.gz"), *(DATA / "captured").glob("**/*LOG.gz")])


@cache
def inspected(path: Path) -> Inspection:
    """A LOG is inspected once in a process."""
    return inspect_path(path)
