"""Workloads: the operations and data of a trial, which are never the store's choice."""

from lsmtune.workloads.presets import (
    PRESETS,
    EngineName,
    Kind,
    Preset,
    endless_workloads,
    workloads_of,
)
from lsmtune.workloads.workload import Mix, Workload, whole_numbers

__all__ = [
    "PRESETS", "EngineName", "Kind", "Mix", "Preset", "Workload", "endless_workloads",
    "whole_numbers", "workloads_of",
]  # fmt: skip
