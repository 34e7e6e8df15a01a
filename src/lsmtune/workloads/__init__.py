"""Workloads: the operations and data of a trial, which are never the store's choice."""

from lsmtune.workloads.definition import (
    PROBED,
    READS,
    Benchmark,
    Definition,
    Kind,
    Parameters,
    defaults,
)
from lsmtune.workloads.key_values import KeyValues, Records
from lsmtune.workloads.workload import WORKLOADS, Mix, Workload, whole_numbers

EngineName = str
"""Name of an engine: of lsmtune, or of an installed package."""

__all__ = [
    "PROBED", "READS", "WORKLOADS", "Benchmark", "Definition", "EngineName",
    "KeyValues", "Kind", "Mix", "Parameters", "Records", "Workload", "defaults", "whole_numbers",
]  # fmt: skip
