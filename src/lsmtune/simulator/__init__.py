"""The simulator of the tree: a run of the rocksdb engine, predicted instead of measured."""

from lsmtune.simulator.native import (
    MODELLED_VERSION,
    Prediction,
    Run,
    is_installed,
    known_knobs,
    predict,
    recorded,
)

__all__ = [
    "MODELLED_VERSION",
    "Prediction",
    "Run",
    "is_installed",
    "known_knobs",
    "predict",
    "recorded",
]
