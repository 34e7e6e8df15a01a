"""What settings, limits and commands ask about an engine, without starting it.

`EngineEntry` in `engines/entry.py` adds what makes the engine. So an entry is one object, and the
records below the engines read this half of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lsmtune.entries import CONTRACT, Entries, check_contract
from lsmtune.errors import unknown_word
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.workloads import PRESETS


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTraits:
    """An engine, as it is known before it starts. To import it costs no heavy import.

    name         the name in study files
    summary      what it is, in a few words
    program      the default program; an engine without one has its own name here
    workloads    names of the workloads that it runs, the default one first
    catalogue    its knobs
    defaults     default values of keys of a study, for workloads that another engine runs, too
    metrics      the metrics that it measures; None: those that lsmtune expects of the workload
    exports      its forms of exported files; the first one is the one to deploy
    full_size    whether trials always have full size, so that no option scales with the data
    runs_here    whether trials use disk and CPU of this host, which are then checked
    contract     the contract with lsmtune that it was made for
    """

    name: str
    summary: str
    program: str
    workloads: tuple[str, ...]
    catalogue: Callable[[], Catalogue]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    metrics: frozenset[str] | None = None
    exports: tuple[str, ...] = ("toml",)
    full_size: bool = True
    runs_here: bool = True
    contract: int = CONTRACT


def checked_engine(name: str, found: object) -> EngineTraits:
    """Return what a package offers as an engine; ValueError if it is no entry of this name."""
    if not isinstance(found, EngineTraits):
        raise ValueError(f"it is no EngineEntry, but of the type {type(found).__name__}")
    check_contract(found.contract)
    if found.name != name:
        raise ValueError(f"the entry has another name, {found.name!r}")
    if stray := [load for load in found.workloads if load not in PRESETS]:
        raise ValueError(unknown_word("workload", stray[0], PRESETS))
    if not found.workloads:
        raise ValueError("it runs no workload")
    return found


ENGINES: Entries[EngineTraits] = Entries(
    "lsmtune.engines",
    "engine",
    {
        "rocksdb": "lsmtune.engines.built_in:ROCKSDB",
        "myrocks": "lsmtune.engines.built_in:MYROCKS",
        "embedded": "lsmtune.engines.built_in:EMBEDDED",
        "tikv": "lsmtune.engines.built_in:TIKV",
        "simulated": "lsmtune.engines.simulated:SIMULATED",
    },
    checked_engine,
)
"""The engines by name. pyproject.toml declares those of lsmtune, too."""


def runs(engine: str, workload: str) -> bool:
    """Return whether an engine runs a workload; UserError if its package cannot be used."""
    return workload in ENGINES[engine].workloads


def engines_of(workload: str) -> tuple[str, ...]:
    """Return the engines that run a workload, the usual one first."""
    usual = PRESETS[workload].engine
    found = (entry.name for entry in ENGINES.usable() if workload in entry.workloads)
    return tuple(dict.fromkeys((usual, *found)))
