"""The workloads, with their parameters."""

from dataclasses import dataclass
from typing import Any

from lsmtune.engine_traits import engines_of
from lsmtune.errors import UserError, unknown_word
from lsmtune.workloads import PRESETS, Preset, Workload


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """A workload and its parameters with their defaults; None for what is not set."""

    name: str
    preset: Preset
    parameters: dict[str, Any]

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that run it, the usual one first."""
        return engines_of(self.name)

    def document(self) -> dict[str, Any]:
        """Return the workload as JSON."""
        preset = self.preset
        return {
            "name": self.name, "what": preset.what, "kind": preset.kind,
            "objective": preset.objective, "knobs": preset.knobs, "engine": preset.engine,
            "engines": self.engines, "parameters": self.parameters,
        }  # fmt: skip


def workloads(name: str | None = None) -> list[WorkloadFacts]:
    """Return all workloads, or the one with the name; UserError if it is unknown."""
    if name is not None and name not in PRESETS:
        raise UserError(f"workloads: {unknown_word('workload', name, PRESETS)}")
    common = Workload().model_dump(exclude={"name"}, exclude_none=True)
    return [
        WorkloadFacts(key, preset, {**_of_all(preset, common), **preset.parameters})
        for key, preset in PRESETS.items()
        if name in (None, key)
    ]


def _of_all(preset: Preset, common: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of all workloads of RocksDB that this one has too."""
    return {name: value for name, value in common.items() if preset.has(name)} | preset.of_all
