"""Versions of RocksDB for which predictions were compared with real runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsmtune.knobs.defaults import nearest_of


@dataclass(frozen=True, slots=True)
class Compared:
    """A version, and the median relative error of the predicted write amplification."""

    version: str
    write_amp_error: float


COMPARED = (Compared("7.8.3", 0.042), Compared("11.8.1", 0.064))
"""The errors are from benchmarks/results/simulator.json. A test compares them."""

RUNNING_COMPARED: tuple[Compared, ...] = ()
"""The same for trials of a running store, by benchmarks/running_simulator.py. Empty: none were
compared, so the simulator does not lead a search on running stores by default."""


def nearest_compared(version: str, compared: Sequence[Compared] = COMPARED) -> Compared:
    """Return the version that is nearest to a version and was compared with real runs."""
    nearest = nearest_of(version, [each.version for each in compared])
    return next(each for each in compared if each.version == nearest)


def modelled_text(version: str) -> str:
    """Return a text: the version of a prediction, and the nearest version that was compared."""
    nearest = nearest_compared(version).version
    text = f"the simulator models RocksDB {version}"
    if nearest == version:
        return text
    return f"{text}; the nearest version that was compared with real runs is {nearest}"
