"""The workloads, with their parameters."""

from dataclasses import dataclass
from typing import Any

from lsmtune.engine_traits import ENGINES, engines_of, offered_workloads
from lsmtune.errors import UserError, unknown_word
from lsmtune.workloads import Definition, Workload


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """A workload and its parameters with their defaults; None for what is not set."""

    definition: type[Definition]
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the workload."""
        return self.definition.name

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that run it, the usual one first."""
        return engines_of(self.name)

    @property
    def objective(self) -> str:
        """Default objective, on the usual engine."""
        return self.definition.objective or str(self._of_engine("objective"))

    @property
    def knobs(self) -> str:
        """Default presets of knobs, on the usual engine."""
        suited = ENGINES[self.engines[0]].complete({"workload": {"name": self.name}}).get("knobs")
        return str(suited or self.definition.knobs or self._of_engine("knobs"))

    def document(self) -> dict[str, Any]:
        """Return the workload as JSON."""
        return {
            "name": self.name, "what": self.definition.what, "kind": self.definition.kind,
            "objective": self.objective, "knobs": self.knobs, "engine": self.engines[0],
            "engines": self.engines, "parameters": self.parameters,
        }  # fmt: skip

    def _of_engine(self, key: str) -> Any:
        return ENGINES[self.engines[0]].defaults.get(key, "")


def workloads(name: str | None = None) -> list[WorkloadFacts]:
    """Return all workloads, or the one with the name; UserError if it is unknown."""
    offered = offered_workloads()
    if name is not None and name not in offered:
        raise UserError(f"workloads: {unknown_word('workload', name, offered)}")
    return [
        WorkloadFacts(one, parameters_of(one))
        for key, one in offered.items()
        if name in (None, key)
    ]


def parameters_of(definition: type[Definition]) -> dict[str, Any]:
    """Return the parameters of a workload with their defaults; None for what is not set."""
    usual = Workload().model_dump(exclude={"name"}, exclude_none=True)
    found = {name: value for name, value in usual.items() if name in definition.of_records}
    given = {name: value for name, value in definition.of_records.items() if value is not None}
    own = {} if definition.own is None else definition.own.model_fields
    defaults = {name: None if field.is_required() else field.get_default(call_default_factory=True)
                for name, field in own.items()}  # fmt: skip
    return {**found, **given, **definition.parameters, **defaults}
