"""The versions of RocksDB whose real runs were compared with the simulator."""

from dataclasses import dataclass

from lsmtune.knobs.defaults import nearest_of


@dataclass(frozen=True, slots=True)
class Compared:
    """A version, and the median error of its predicted write amplification, as a share of it."""

    version: str
    write_amp_error: float


COMPARED = (Compared("7.8.3", 0.042), Compared("11.8.1", 0.058))
"""From benchmarks/results/simulator.json; a test compares the numbers."""


def nearest_compared(version: str) -> Compared:
    """Return the compared version that is nearest to a version."""
    nearest = nearest_of(version, [each.version for each in COMPARED])
    return next(each for each in COMPARED if each.version == nearest)


def modelled_text(version: str) -> str:
    """Return which RocksDB a prediction is for, and which real runs say how good it is."""
    nearest = nearest_compared(version).version
    text = f"the simulator models RocksDB {version}"
    if nearest == version:
        return text
    return f"{text}; the nearest version that was compared with real runs is {nearest}"
