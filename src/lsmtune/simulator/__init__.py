"""The simulator of the tree: a run of the rocksdb engine, predicted instead of measured."""

from lsmtune.simulator.machine import Machine, Measured, fitted_constants, load_machine
from lsmtune.simulator.native import (
    MODELLED_VERSION,
    Constants,
    Prediction,
    Probe,
    Run,
    is_installed,
    known_knobs,
    predict,
    recorded,
)

__all__ = [
    "MODELLED_VERSION",
    "Constants",
    "Machine",
    "Measured",
    "Prediction",
    "Probe",
    "Run",
    "fitted_constants",
    "is_installed",
    "known_knobs",
    "load_machine",
    "predict",
    "recorded",
]
