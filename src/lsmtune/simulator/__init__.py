"""The simulator of the tree: a run of the rocksdb engine, predicted instead of measured."""

from lsmtune.simulator.machine import Machine, Measured, fitted_constants, load_machine
from lsmtune.simulator.modelled import (
    COMPARED,
    RUNNING_COMPARED,
    Compared,
    modelled,
    modelled_text,
    nearest_compared,
    why_unmodelled,
)
from lsmtune.simulator.native import (
    MODELLED_VERSION,
    MODELLED_WORKLOADS,
    UNMODELLED_KNOBS,
    Constants,
    Prediction,
    Probe,
    Run,
    RunningStore,
    is_installed,
    known_knobs,
    predict,
    recorded,
)

__all__ = [
    "COMPARED",
    "MODELLED_VERSION",
    "MODELLED_WORKLOADS",
    "RUNNING_COMPARED",
    "UNMODELLED_KNOBS",
    "Compared",
    "Constants",
    "Machine",
    "Measured",
    "Prediction",
    "Probe",
    "Run",
    "RunningStore",
    "fitted_constants",
    "is_installed",
    "known_knobs",
    "load_machine",
    "modelled",
    "modelled_text",
    "nearest_compared",
    "predict",
    "recorded",
    "why_unmodelled",
]
