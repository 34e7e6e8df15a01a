"""What a study keeps of a workload of another package, so that it is shown without the package."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from lsmtune.workloads.definition import Definition, Kind, Parameters
from lsmtune.workloads.known import WORKLOADS, check_workload


class _AnyValues(Parameters):
    """Own parameters whose types are not known any more."""

    model_config = ConfigDict(extra="allow")


class DescribedWorkload(BaseModel):
    """A workload as data. Nothing of it runs. Keys of a newer lsmtune are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    name: str
    what: str
    kind: Kind
    measured: tuple[str, ...] = ()
    of_records: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    own: tuple[str, ...] = ()
    stores_all: bool = False

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        check_workload(self.definition())
        return self

    def definition(self) -> type[Definition]:
        """Return a class that knows its parameters, but not which values they may have."""
        names = self.own
        members = {
            **dict(self),
            "own": _AnyValues if names else None,
            "own_fields": classmethod(lambda _: names),
        }
        return type("Described", (Definition,), members)


def described(workload: str | type[Definition]) -> str | DescribedWorkload:
    """Return what a study keeps of a workload: the name is enough for those of lsmtune."""
    if isinstance(workload, str):
        return workload
    if workload.name in WORKLOADS.built_in:
        return workload.name
    return DescribedWorkload(
        name=workload.name,
        what=workload.what,
        kind=workload.kind,
        measured=workload.measured,
        of_records=dict(workload.of_records),
        parameters=dict(workload.parameters),
        own=workload.own_fields(),
        stores_all=workload.stores_all,
    )
