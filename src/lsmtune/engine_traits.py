"""What settings, limits and commands ask about an engine, without starting it.

`EngineEntry` in `engines/entry.py` adds what makes the engine. So an entry is one object, and the
records below the engines read this half of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lsmtune import entries
from lsmtune.entries import CONTRACT, Entries, check_contract, one_line
from lsmtune.errors import unknown_word
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.definitions import METRICS, Metric, canonical
from lsmtune.study_keys import STUDY_KEYS, VERSION
from lsmtune.tables import EngineSettings
from lsmtune.trials import Base
from lsmtune.workloads import WORKLOADS, Definition, Workload
from lsmtune.workloads.workload import OPTIONAL, check_workload, name_of

if TYPE_CHECKING:
    from lsmtune.spec import StudySettings

_NAME = r"[a-z][a-z0-9_-]{0,31}"
_KNOB_NAME = r"[A-Za-z][^\s,'\"=]{0,127}"
_METRIC_NAME = r"[a-z][a-z0-9_]{0,63}"
RARE = frozenset({"tombstone_every", "write_skew"})
"""Parameters that change what records are written. Few engines support them."""


def _refuses_nothing(_: Workload) -> str | None:
    return None


OWN_KEYS = frozenset({"program", VERSION, "library", "libraries", "base", "family", "cache"})
"""Keys of a study that only some engines read.

Other engines refuse them, because who gives a key expects an effect.
"""


def no_problems(_: "StudySettings") -> Iterator[str]:
    """Find nothing wrong with the settings of a study."""
    yield from ()


def _nothing_more(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}


def _all_knobs(
    knobs: Sequence[Knob], settings: Settings, _: Base
) -> tuple[Sequence[Knob], Settings]:
    return knobs, settings


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineTuning:
    """How an engine changes options while it runs.

    check    yields what does not fit online tuning, as `EngineTraits.check`
    space    returns those of the knobs that this engine can change, and the baseline for them

    Settings ask this before the start. The engine that `make` returns is a `LiveEngine`.
    """

    check: Callable[["StudySettings"], Iterator[str]] = no_problems
    space: Callable[[Sequence[Knob], Settings, Base], tuple[Sequence[Knob], Settings]] = _all_knobs


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTraits:
    """An engine, as it is known before it starts.

    name         the name in study files
    summary      what it is, in a few words
    program      the default program; an engine without one has its own name here
    workloads    the workloads that it runs, the default one first: names of workloads of lsmtune,
                 or classes that the engine brings along
    catalogue    its knobs
    defaults     default values of keys of a study. The defaults of a workload replace them if this
                 is the usual engine of the workload
    metrics      what it measures: names of metrics of lsmtune, and metrics of its own; None: those
                 that lsmtune expects of the workload
    uses         those of `OWN_KEYS` that it reads; a study has no others
    settings     the class of its own table in a study file, such as [tikv]
    complete     gets the keys of a study, not checked yet; returns defaults that depend on them
    check        yields what does not fit together in a study, as "KEY: what is wrong; what to do"
    online       how options change while it runs; None: they cannot
    has_versions whether a study chooses the RocksDB that runs: a version, a library or db_bench.
                 Experiments can then compare versions
    predicted_by  name of the engine that predicts its trials; None: none does
    one_at_a_time  whether it can run only one trial at a time, on all hosts together
    lacks        parameters of these workloads that it does not support
    refuses      returns why it cannot run a workload with other parameters, or None
    not_limited  metrics that have no default limit, because it does not measure them
    counts_reads whether it counts the work of the reads after a workload that only writes
    shipped_workloads  workloads whose measured runs ship with lsmtune, to rank its knobs
    flush_bytes  returns how many bytes of the clients one flush of the baseline writes, None if
                 this is unknown. Without this member, no workload is refused as too small
    full_size    whether trials always have full size, so that no option scales with the data
    runs_here    whether trials use disk and CPU of this host, which are then checked
    predicts     whether its metrics are predictions, not measured
    base_is_users  whether the baseline is always the user's own configuration, also without `base`
    assumes_cache  whether the file of a user lacks the size of the block cache, so that the plan
                 reports which size the trials have
    contract     the contract with lsmtune that it was made for

    The simulator and the versions are RocksDB's. So no other package can be `predicted_by` its own
    model or compare its own versions. What only a run asks, such as `times_matter`, is no trait: it
    belongs to the engine that `make` returns.
    """

    name: str
    summary: str
    program: str
    workloads: tuple[str | type[Definition], ...]
    catalogue: Callable[[], Catalogue]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str | Metric, ...] | None = None
    uses: frozenset[str] = frozenset()
    settings: type[EngineSettings] | None = None
    complete: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _nothing_more
    check: Callable[["StudySettings"], Iterator[str]] = no_problems
    online: OnlineTuning | None = None
    has_versions: bool = False
    predicted_by: str | None = None
    one_at_a_time: bool = False
    lacks: frozenset[str] = RARE
    refuses: Callable[[Workload], str | None] = _refuses_nothing
    not_limited: frozenset[str] = frozenset()
    counts_reads: bool = False
    flush_bytes: Callable[[Settings], float | None] | None = None
    shipped_workloads: tuple[str, ...] = ()
    full_size: bool = True
    runs_here: bool = True
    predicts: bool = False
    base_is_users: bool = False
    assumes_cache: bool = False
    contract: int = CONTRACT

    @property
    def workload_names(self) -> tuple[str, ...]:
        """Names of the workloads that it runs, the default one first."""
        return tuple(map(name_of, self.workloads))

    @property
    def measured(self) -> tuple[str, ...] | None:
        """The names of the metrics that it measures; None if the workload decides it."""
        if self.metrics is None:
            return None
        return tuple(one if isinstance(one, str) else one.name for one in self.metrics)

    @property
    def own_metrics(self) -> tuple[Metric, ...]:
        """The metrics that only this engine has."""
        return tuple(one for one in self.metrics or () if isinstance(one, Metric))


def checked_engine(name: str, found: object) -> EngineTraits:
    """Return what a package offers as an engine; ValueError if it is no entry of this name."""
    if not isinstance(found, EngineTraits):
        raise ValueError(f"it is no EngineEntry, but of the type {type(found).__name__}")
    check_contract(found.contract)
    if found.name != name:
        raise ValueError(f"the entry has another name, {found.name!r}")
    if not re.fullmatch(_NAME, name):
        raise ValueError("a name has 1 to 32 lowercase letters, digits, dashes and underscores")
    if not found.workloads:
        raise ValueError("it needs at least one workload")
    for workload in found.workloads:
        check_workload(workload)
        _check_defaults(found, WORKLOADS[workload] if isinstance(workload, str) else workload)
    _check_table(name, found.settings)
    for word, names, known in (
        ("metric", [one for one in found.metrics or () if isinstance(one, str)], METRICS.built_in),
        ("parameter", found.lacks, OPTIONAL),
        ("key", found.uses, OWN_KEYS),
    ):
        if stray := [one for one in names if one not in known]:
            raise ValueError(unknown_word(word, stray[0], known))
    _check_metrics(found.own_metrics)
    _check_catalogue(found)
    return found


def _check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise ValueError if a metric of an engine cannot be told from those of lsmtune."""
    for metric in metrics:
        if not re.fullmatch(_METRIC_NAME, metric.name):
            raise ValueError(
                f"the metric {metric.name!r} has a wrong name; a name has 1 to 64 lowercase "
                "letters, digits and underscores"
            )
        if metric.better not in (None, "lower", "higher"):
            allowed = "use lower, higher or None"
            raise ValueError(f"the metric {metric.name}: better = {metric.better!r}; {allowed}")
        if canonical(metric.name) in METRICS.built_in:
            raise ValueError(
                f"lsmtune has a metric {metric.name!r}; name that one, or choose another name"
            )


def _check_defaults(entry: EngineTraits, workload: type[Definition]) -> None:
    """Raise ValueError if neither a workload nor its engine has a default of a key."""
    for key in ("knobs", "objective"):
        if getattr(workload, key) is None and key not in entry.defaults:
            raise ValueError(f"its defaults need {key}, because {workload.name} has none")


def _check_table(name: str, table: object) -> None:
    """Raise ValueError if studies cannot have the table of an engine."""
    if table is None:
        return
    if not isinstance(table, type) or not issubclass(table, EngineSettings):
        raise ValueError("its settings are no subclass of EngineSettings")
    if name in STUDY_KEYS:
        raise ValueError(f"it has a table, but {name} is a key of every study")


def _check_catalogue(entry: EngineTraits) -> None:
    """Raise ValueError if the entry gives no catalogue of its engine."""
    try:
        found: object = entry.catalogue()
    except Exception as error:  # another package may raise anything
        raise ValueError(f"its catalogue cannot be made: {one_line(error)}") from error
    if not isinstance(found, Catalogue) or found.engine != entry.name:
        raise ValueError(f"its catalogue is no Catalogue of the engine {entry.name}")
    names = [knob.name for knob in found.knobs]
    if wrong := [name for name in names if not re.fullmatch(_KNOB_NAME, name)]:
        raise ValueError(
            f"the knob {wrong[0]!r} has a wrong name; a name has 1 to 128 characters, starts "
            "with a letter and has no space, comma, quotation mark or equals sign"
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"the knob {twice[0]} is there twice")


ENGINES: Entries[EngineTraits] = entries.ENGINES
"""The engines by name."""


def runs(engine: str, workload: str) -> bool:
    """Return whether an engine runs a workload; UserError if its package cannot be used."""
    return workload in ENGINES[engine].workload_names


def usual_engine(workload: str) -> str | None:
    """Return the first engine that runs a workload; None if no installed engine runs it."""
    for name in ENGINES.built_in:
        if runs(name, workload):
            return name
    found = (entry.name for entry in ENGINES.foreign() if workload in entry.workload_names)
    return next(found, None)


def is_of_program(engine: str) -> bool:
    """Return whether only a Python program has the engine, so that no command can run it."""
    return engine in ENGINES and not ENGINES.is_offered(engine)


def predicts(engine: str) -> bool:
    """Return whether the metrics of an engine are predictions; False for an unknown engine."""
    return engine in ENGINES and ENGINES[engine].predicts


def has_versions(engine: object) -> bool:
    """Return whether an engine runs versions of RocksDB; not one that lsmtune does not know."""
    return isinstance(engine, str) and engine in ENGINES and ENGINES[engine].has_versions


def engines_of(workload: str) -> tuple[str, ...]:
    """Return the engines that run a workload, the usual one first."""
    if (usual := usual_engine(workload)) is None:
        return ()
    found = (entry.name for entry in ENGINES.usable() if workload in entry.workload_names)
    return tuple(dict.fromkeys((usual, *found)))


def offered_workloads() -> dict[str, type[Definition]]:
    """Return the workloads that at least one engine runs, by name."""
    return {name: one for name, one in WORKLOADS.items() if usual_engine(name) is not None}


def refusal(engine: str, load: Workload) -> str | None:
    """Return why an engine cannot run a workload with its parameters, or None."""
    entry = ENGINES[engine]
    for parameter in sorted(entry.lacks):
        if getattr(load, parameter) is not None:
            others = [name for name in engines_of(load.name)
                      if parameter not in ENGINES[name].lacks]  # fmt: skip
            advice = f", or use one of these engines: {', '.join(others)}" if others else ""
            return (
                f"workload.{parameter}: engine {engine} does not support {parameter}; remove it"
                f"{advice}"
            )
    return entry.refuses(load)
