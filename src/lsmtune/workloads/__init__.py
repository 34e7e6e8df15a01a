"""The loads: everything about a run that is not the store's to choose."""

from lsmtune.workloads.presets import PRESETS, Kind, Preset
from lsmtune.workloads.workload import Mix, Workload

__all__ = ["PRESETS", "Kind", "Mix", "Preset", "Workload"]
