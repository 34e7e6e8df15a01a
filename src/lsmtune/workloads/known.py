"""The workloads by name: those of lsmtune, and those that engines of other packages bring along."""

import re
from collections.abc import Iterator
from typing import Any, get_args

from lsmtune.entries import Known
from lsmtune.errors import unknown_word
from lsmtune.workloads.definition import OF_RECORDS, Benchmark, Definition, Kind, Parameters
from lsmtune.workloads.records import RECORDS
from lsmtune.workloads.sql import SQL
from lsmtune.workloads.ycsb import YCSB

_NAME = r"[a-z][a-z0-9_]{0,31}"

_OWN: tuple[type[Definition], ...] = (*RECORDS, *SQL, *YCSB, Benchmark)
"""The workloads of lsmtune."""

OPTIONAL = frozenset(name for one in _OWN for name in one.parameters)
"""Parameters of `Workload` that only some workloads have."""


def _of_entry(entry: Any) -> Iterator[tuple[str, type[Definition]]]:
    return ((one.name, one) for one in entry.workloads if not isinstance(one, str))


WORKLOADS: Known[type[Definition]] = Known({one.name: one for one in _OWN}, _of_entry)
"""The workloads by name."""


def name_of(workload: str | type[Definition]) -> str:
    """Return the name of a workload that an engine names, or brings along as a class."""
    return workload if isinstance(workload, str) else workload.name


def check_workload(workload: object) -> None:
    """Raise ValueError if an engine of another package cannot have this workload."""
    if isinstance(workload, str):
        if workload not in WORKLOADS.built_in:
            raise ValueError(unknown_word("workload", workload, WORKLOADS.built_in))
        return
    if not (isinstance(workload, type) and issubclass(workload, Definition)):
        raise ValueError(f"a workload is neither a name nor a class of Definition: {workload!r}")
    name = getattr(workload, "name", None)
    if not (isinstance(name, str) and re.fullmatch(_NAME, name)):
        raise ValueError(
            f"the name {name!r} of a workload is not allowed; use 1 to 32 lowercase letters, "
            "digits and underscores"
        )
    if WORKLOADS.built_in.get(name, workload) is not workload:
        raise ValueError(f"lsmtune itself has the workload {name}")
    _check_members(workload)


def _check_members(workload: type[Definition]) -> None:
    where = f"the workload {workload.name}"
    what: object = getattr(workload, "what", None)
    if not isinstance(what, str) or not what or "\n" in what:
        raise ValueError(f"{where} needs one line in the attribute what")
    if workload.kind not in get_args(Kind):
        raise ValueError(f"{where}: {unknown_word('kind', workload.kind, get_args(Kind))}")
    own: object = workload.own
    if own is not None and not (isinstance(own, type) and issubclass(own, Parameters)):
        raise ValueError(f"{where}: own is no class of Parameters")
    for names, known in ((workload.of_records, OF_RECORDS), (workload.parameters, OPTIONAL)):
        if stray := [name for name in names if name not in known]:
            raise ValueError(f"{where}: {unknown_word('parameter', stray[0], known)}")
    if taken := {"name", *OF_RECORDS, *OPTIONAL}.intersection(workload.own_fields()):
        raise ValueError(f"{where}: lsmtune itself has the parameter {min(taken)}")
