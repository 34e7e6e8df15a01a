"""The simulator of the tree: a run of the rocksdb engine, predicted instead of measured."""

from lsmtune.simulator.machine import Machine, Measured, fitted_constants, load_machine
from lsmtune.simulator.modelled import modelled, why_unmodelled
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
from lsmtune.simulator.versions import (
    COMPARED,
    RUNNING_COMPARED,
    Compared,
    modelled_text,
    nearest_compared,
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
