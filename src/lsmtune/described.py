"""What a study keeps of an engine of another package: it can be shown when the package is gone.

The description has the knobs and metrics, as data. Nothing of it runs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from lsmtune.engine_traits import ENGINES, RARE, EngineTraits, OnlineTuning
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, Preset
from lsmtune.knobs.types import Knob, Value
from lsmtune.metrics.definitions import Metric
from lsmtune.tables import EngineSettings
from lsmtune.workloads.described import DescribedWorkload, described

_METRIC = TypeAdapter(Metric)
_SAME = (
    "summary", "program", "lacks", "not_limited", "has_versions", "counts_reads", "full_size",
    "runs_here", "predicts", "base_is_users",
)  # fmt: skip
"""Members of an entry that are stored as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent(EngineTraits):
    """An engine that a study describes, and that this process does not have.

    `package` is the name of its package with its version; None for an engine that a program added.
    """

    package: str | None


class KeptTable(EngineSettings):
    """The table of an engine that this process does not have, as the study stored it."""

    model_config = ConfigDict(frozen=True, extra="allow")


class _Description(BaseModel):
    """The description as it is stored. Keys of a newer lsmtune are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    package: str | None
    summary: str
    program: str
    workloads: tuple[str | DescribedWorkload, ...]
    knobs: tuple[Knob, ...]
    presets: tuple[Preset, ...]
    notes: tuple[str, ...] = ()
    defaults: dict[str, Value] = {}
    metrics: tuple[str | dict[str, Any], ...] | None = None
    lacks: frozenset[str] = RARE
    not_limited: frozenset[str] = frozenset()
    has_versions: bool = False
    is_live: bool = False
    counts_reads: bool = False
    full_size: bool = True
    runs_here: bool = True
    predicts: bool = False
    base_is_users: bool = False


def description(engine: str) -> dict[str, Any] | None:
    """Return what a study keeps of an engine as JSON; None for an engine of lsmtune."""
    if engine in ENGINES.built_in:
        return None
    entry = ENGINES[engine]
    catalogue = entry.catalogue()
    metrics = entry.metrics
    return _Description(
        package=ENGINES.package(engine),
        workloads=tuple(map(described, entry.workloads)),
        knobs=catalogue.knobs,
        presets=catalogue.presets,
        notes=catalogue.notes,
        defaults=dict(entry.defaults),
        metrics=None
        if metrics is None
        else tuple(one if isinstance(one, str) else _kept(one) for one in metrics),
        is_live=entry.online is not None,
        **{name: getattr(entry, name) for name in _SAME},
    ).model_dump(mode="json", exclude_defaults=True)


def remember_engine(engine: str, kept: object, study: str) -> None:
    """Make the engine of a study known by its description, unless this process has the engine.

    UserError if lsmtune cannot have stored the description.
    """
    if _is_here(engine):
        return
    try:
        found = _Description.model_validate(kept)
        metrics = None if found.metrics is None else tuple(map(_metric, found.metrics))
    except ValidationError as error:
        key = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
        raise UserError(
            f"engine of study {study!r}: the stored description is damaged: {key}"
        ) from error
    catalogue = Catalogue(engine, found.knobs, presets=found.presets, notes=found.notes)
    ENGINES.remember(
        engine,
        Absent(
            name=engine,
            workloads=tuple(
                one if isinstance(one, str) else one.definition() for one in found.workloads
            ),
            catalogue=lambda: catalogue,
            defaults=found.defaults,
            metrics=metrics,
            settings=KeptTable,
            online=OnlineTuning() if found.is_live else None,
            package=found.package,
            **{name: getattr(found, name) for name in _SAME},
        ),
    )


def is_of_program(engine: str) -> bool:
    """Return whether only a Python program has the engine, so that no command can run it."""
    if engine not in ENGINES or ENGINES.is_offered(engine):
        return False
    found = ENGINES[engine]
    return not isinstance(found, Absent) or found.package is None


def _is_here(engine: str) -> bool:
    """Return whether this process has the engine, and not only a description of it."""
    try:
        return not isinstance(ENGINES[engine], Absent)
    except (KeyError, UserError):
        return False


def _kept(metric: Metric) -> dict[str, Any]:
    """Return a metric as data; what its formula has given is in the stored runs."""
    return {key: value for key, value in asdict(metric).items() if key != "formula"}


def _metric(kept: str | Mapping[str, Any]) -> str | Metric:
    return kept if isinstance(kept, str) else _METRIC.validate_python(kept)
