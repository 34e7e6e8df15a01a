"""The loads: everything about a run that is not the store's to choose."""

from lsmtune.workloads.presets import PRESETS, EngineName, Kind, Preset
from lsmtune.workloads.workload import Mix, Workload

__all__ = ["PRESETS", "EngineName", "Kind", "Mix", "Preset", "Workload"]
