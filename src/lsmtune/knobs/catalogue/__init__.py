"""Catalogues of knobs: each is a folder of data files, one file per area.

RocksDB's catalogue is here, because several engines have RocksDB's options. The entry of each
engine makes the catalogue of the engine. `knob_files.py` reads the files alone, because `inspect`
needs no more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources.abc import Traversable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.entries import ENGINES
from lsmtune.errors import UserError, unknown_word
from lsmtune.knobs.constraints import ROCKSDB_RULES
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.existing import StoreChange, changes_of
from lsmtune.knobs.families import (
    ANY_FAMILY,
    DEFAULT_FAMILY,
    FAMILY_SECTIONS,
    PLAIN,
    Names,
    knob_name,
)
from lsmtune.knobs.knob_files import read_folder, rocksdb_folder
from lsmtune.knobs.memory import NO_MEMORY, MemoryLimit, OwnMemory
from lsmtune.knobs.rules.base import NO_RULES, Rules
from lsmtune.knobs.types import Knob, Settings, Value

_ROCKSDB = "rocksdb"
"""The name of the engine."""

LOAD_AREA = "load"
"""The area of workload parameters, which are not knobs of the store."""


class WorkloadParameter(BaseModel):
    """A parameter that studies have tuned although it belongs to the workload.

    It is refused with the `reason`. The range is that of the studies.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    reason: str
    kind: Literal["int", "float"]
    default: int | float
    low: float
    high: float

    def as_knob(self) -> Knob:
        """The parameter as a knob, for presets that say that they vary the load."""
        return Knob(
            name=self.name, area=LOAD_AREA, kind=self.kind, unit="", default=self.default,
            low=self.low, high=self.high, shapes=True, apply="restart", trade=self.reason,
            since="6.0",
        )  # fmt: skip


class Preset(BaseModel):
    """A named list of knobs.

    The knobs are those of its list, or those of the preset in `like`, or all that have an effect
    and no risk. Knobs in `fixed` stay at the baseline. For knobs in `choices`, a search tries only
    these values; the range of knobs in `lowest` begins at these values. `because` says for which
    facts of a workload lsmtune chooses the preset, with names of fields of the workload. `base` are
    start values of a published study; they are not used with a baseline of the user. `load` are
    workload parameters that vary too, as in a published study: the gain of such a preset is not
    only the store's. A `published` preset keeps all values of its ranges; of other presets, a
    search draws only round values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    title: str
    knobs: tuple[str, ...] | None = None
    like: str | None = None
    fixed: dict[str, Value] = {}
    choices: dict[str, tuple[Value, ...]] = {}
    lowest: dict[str, float] = {}
    because: str | None = None
    base: dict[str, Value] = {}
    load: tuple[str, ...] = ()
    published: bool = False


class Start(BaseModel):
    """A config that a search tries early, with its source.

    `suits` are the presets whose searches try it. `sized` says whether it is only for studies with
    a rule of sizes (True) or only for those without one (False).

    Random starts teach too little: the first six of 16 trials of 26 knobs were all worse than the
    baseline.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    source: str
    suits: tuple[str, ...]
    settings: dict[str, Value]
    sized: bool | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The knobs of one engine, or of one version of it.

    `absent` are the names of the knobs that this version lacks. `notes` apply to all knobs.
    `defaults_of` is the program that the defaults are from. `names` has the form of the names of
    the knobs, and `rules` the rules between them. `own_memory` says how much memory settings need;
    None: as RocksDB's options do. `store` is the name of the store in messages;
    without one, the engine's. With `by_version`, knobs and rules are those of the version of
    RocksDB in the OPTIONS of the baseline.
    """

    engine: str
    knobs: tuple[Knob, ...]
    workload_parameters: tuple[WorkloadParameter, ...] = ()
    presets: tuple[Preset, ...] = ()
    starts: tuple[Start, ...] = ()
    notes: tuple[str, ...] = ()
    defaults_of: str = ""
    absent: frozenset[str] = frozenset()
    names: Names = PLAIN
    rules: Rules = NO_RULES
    own_memory: OwnMemory | None = NO_MEMORY
    store: str = ""
    by_version: bool = False

    @property
    def has_memory(self) -> bool:
        """Whether the memory limit concerns the engine: it is known how much settings need."""
        return self.own_memory is not NO_MEMORY

    @property
    def is_rocksdbs(self) -> bool:
        """Whether the options, and so the memory that they need, are RocksDB's."""
        return self.own_memory is None

    def knob(self, name: str) -> Knob:
        """Return the knob; UserError if it does not exist or belongs to the workload."""
        for parameter in self.workload_parameters:
            if parameter.name == name:
                raise UserError(
                    f"knobs: {name} is a parameter of the workload, not a knob: "
                    f"{parameter.reason}; set {name} in [workload] of the study file"
                )
        if name in self.absent:
            store = self.store or self.engine
            raise UserError(
                f"knobs: {name} is not available in this version of {store}; remove {name}"
            )
        found = next((knob for knob in self.knobs if knob.name == name), None)
        if found is None:
            names = [knob.name for knob in self.knobs]
            see = f"lsmtune knobs {self.engine}"
            raise UserError(f"knobs: {unknown_word('knob', name, names, see)}")
        return found

    def restricted(self, names: Iterable[str]) -> "Catalogue":
        """Return the catalogue of a version that has only these knobs.

        Presets omit missing knobs. A list that names a missing knob is refused.
        """
        present = set(names)
        kept = tuple(knob for knob in self.knobs if knob.name in present)
        gone = {knob.name for knob in self.knobs} - present
        return replace(self, knobs=kept, absent=self.absent | gone)

    def of_version(self, version: str) -> "Catalogue":
        """Return the catalogue of a version of RocksDB: without knobs and choices that it lacks.

        A knob with a place in OPTIONS files is kept: the OPTIONS of the version tell if it exists.
        """
        number = version_number(version)
        kept = [k for k in self.knobs if k.option is not None or _is_in(k, number)]
        found = self.restricted(knob.name for knob in kept)
        return replace(found, knobs=tuple(_choices_of(knob, number) for knob in found.knobs))

    def limited(self, most: Mapping[str, Value]) -> "Catalogue":
        """Return the catalogue of an engine that accepts at most these values."""
        return replace(self, knobs=tuple(_limited(k, most.get(k.name)) for k in self.knobs))

    def with_families(self, names: Iterable[str]) -> "Catalogue":
        """Return the catalogue with more column families that have the knobs of the default one."""
        of_default = [knob for knob in self.knobs if self.names.family(knob.name) == DEFAULT_FAMILY]
        more = (
            knob.model_copy(update={"name": knob_name(name, self.names.option(knob.name))})
            for name in names
            for knob in of_default
        )
        return replace(self, knobs=(*self.knobs, *more))

    def defaults(self, factor: float) -> Settings:
        """Return the engine's default of every knob, for a tree `factor` times the full size."""
        return {knob.name: knob.scaled(factor).default for knob in self.knobs}

    def store_changes(self, knob: Knob) -> tuple[StoreChange, ...]:
        """Return the changes of the knob that an existing store does not simply accept."""
        if not self.is_rocksdbs:
            return ()
        known = {self.names.option(other.name) for other in self.knobs}
        rows = changes_of(self.names.option(knob.name))
        return tuple(row for row in rows if row.when.keys() <= known)

    def memory_bytes(self, settings: Settings) -> int:
        """Return the memory that settings need, without index and filter blocks."""
        return MemoryLimit(0, own=self.own_memory).used(settings, self.names).total

    def scaled(self, settings: Mapping[str, Value], factor: float) -> Settings:
        """Return the settings for a tree `factor` times as large: sizes grow, the rest stays.

        Special values, such as 0 for no limit, and unknown options stay too.
        """
        known = {knob.name: knob for knob in self.knobs}
        return {
            name: known[name].scaled_value(value, factor) if name in known else value
            for name, value in settings.items()
        }

    def select(self, selection: str) -> tuple[Knob, ...]:
        """Return the knobs of a list of presets and of names.

        A preset omits knobs that have no effect or are missing, and knobs with a risk unless it
        lists them. A named knob that has no effect or is missing is refused. The ranges of all
        presets apply. Parameters of the workload come last.
        """
        presets = self.presets_in(selection)
        if len(presets) > 1 and (one := next((p for p in presets if p.published), None)):
            raise UserError(f"knobs: {one.name} is the preset of a published study; name it alone")
        of_presets = {preset.name for preset in presets}
        chosen = {knob.name: knob for preset in presets for knob in self._members(preset)}
        named = [name for name in _names(selection) if name not in of_presets]
        if named or not presets:
            chosen |= {knob.name: knob for knob in self._listed(named)}
        lowest = {name: low for preset in presets for name, low in preset.lowest.items()}
        knobs = (
            knob.model_copy(update={"low": lowest[name]})
            if (name := self.names.option(knob.name)) in lowest
            else knob
            for knob in chosen.values()
        )
        load = {name for preset in presets for name in preset.load}
        return (*knobs, *(p.as_knob() for p in self.workload_parameters if p.name in load))

    def presets_in(self, selection: str) -> tuple[Preset, ...]:
        """Return the presets that a list of presets and of names contains."""
        found = (self._preset(name) for name in dict.fromkeys(_names(selection)))
        return tuple(preset for preset in found if preset is not None)

    def _members(self, preset: Preset) -> Iterator[Knob]:
        model = self._model(preset)
        names = model.knobs
        chosen = self.knobs if names is None else self._in_order(names)
        choices = {**model.choices, **preset.choices}
        for knob in chosen:
            is_safe = knob.risk is None or names is not None
            if knob.name not in preset.fixed and knob.inert is None and is_safe:
                option = self.names.option(knob.name)
                yield knob.drawing(choices[option]) if option in choices else knob

    def begun(self, selection: str) -> Settings:
        """Return the start values of a preset, for every column family."""
        preset = self._preset(selection)
        base = {**self._model(preset).base, **preset.base} if preset else {}
        parts = ((knob.name, self.names.option(knob.name)) for knob in self.knobs)
        return {name: base[option] for name, option in parts if option in base}

    def advised(self, selection: str, *, sized: bool) -> tuple[Start, ...]:
        """Return the starts that suit one of the presets; for a list of knobs alone, all of them.

        `sized`: the study has a rule of sizes.
        """
        possible = tuple(start for start in self.starts if start.sized in (None, sized))
        presets = {preset.name for preset in self.presets_in(selection)}
        return tuple(one for one in possible if not presets or presets & set(one.suits))

    def is_published(self, selection: str) -> bool:
        """Return True for a preset whose knobs keep the values of a published study."""
        preset = self._preset(selection)
        return preset is not None and preset.published

    def _in_order(self, names: Sequence[str]) -> Sequence[Knob]:
        """Return the knobs of a preset's list, in its order; `*.option` names all families."""
        places = {name: at for at, name in enumerate(names)}

        def place(knob: Knob) -> int | None:
            family, option = self.names.split(knob.name)
            every = None if family is None else places.get(knob_name(ANY_FAMILY, option))
            return places.get(knob.name, every)

        found = [(at, knob) for knob in self.knobs if (at := place(knob)) is not None]
        return [knob for _, knob in sorted(found, key=lambda one: one[0])]

    def _model(self, preset: Preset) -> Preset:
        """The preset whose knobs it has: the one that it is like, or itself."""
        return (self._preset(preset.like) if preset.like else None) or preset

    def _preset(self, name: str) -> Preset | None:
        return next((preset for preset in self.presets if preset.name == name), None)

    def _listed(self, names: list[str]) -> tuple[Knob, ...]:
        presets = ", ".join(preset.name for preset in self.presets)
        if not names:
            raise UserError(
                f"knobs: the list is empty; name knobs or one of the presets: {presets}"
            )
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"knobs: {name} is listed twice; list each knob once")
            if (reason := self.knob(name).inert) is not None:
                raise UserError(f"knobs: {name} has no effect in trials: {reason}; remove {name}")
        return tuple(self.knob(name) for name in names)


def _names(selection: str) -> list[str]:
    return [name.strip() for name in selection.split(",") if name.strip()]


def _limited(knob: Knob, most: Value | None) -> Knob:
    """Return the knob with a range that ends at a value, in whole steps."""
    if most is None or not knob.is_range or isinstance(most, str):
        return knob
    highest = most // knob.step * knob.step
    return knob.model_copy(update={"high": min(knob.bounds()[1], highest), "most": highest})


def _is_in(knob: Knob, version: tuple[int, int]) -> bool:
    """Return whether a version of RocksDB has the knob."""
    newest = version if knob.until is None else version_number(knob.until)
    return version_number(knob.since) <= version <= newest


def _choices_of(knob: Knob, version: tuple[int, int]) -> Knob:
    """Return the knob with the choices that a version of RocksDB accepts."""
    if not knob.choices_since:
        return knob
    since = {choice: knob.choices_since.get(str(choice), knob.since) for choice in knob.choices}
    return knob.restricted(tuple(c for c in knob.choices if version_number(since[c]) <= version))


def load(engine: str) -> Catalogue:
    """Return the catalogue of an engine, which its entry keeps; UserError if there is none."""
    if engine not in ENGINES:
        raise UserError(f"engine: {unknown_word('engine', engine, ENGINES)}")
    found: Catalogue = ENGINES[engine].catalogue()
    return found


@cache
def rocksdb_catalogue() -> Catalogue:
    """Return RocksDB's catalogue."""
    return replace(read_catalogue(_ROCKSDB, rocksdb_folder()), by_version=True)


def read_catalogue(
    engine: str,
    folder: Traversable,
    *,
    knobs: tuple[Knob, ...] = (),
    names: Names = PLAIN,
    rules: Rules = ROCKSDB_RULES,
    store: str = "RocksDB",
) -> Catalogue:
    """Return the catalogue that the files of a folder describe; `knobs` come before theirs.

    The engine has RocksDB's options, or some of them.
    """
    own, rest = read_folder(folder)
    return Catalogue(
        engine,
        (*knobs, *own),
        tuple(WorkloadParameter(**entry) for entry in rest.get("workload_parameter", ())),
        tuple(Preset(**entry) for entry in rest["preset"]),
        tuple(Start(**entry) for entry in rest.get("start", ())),
        tuple(rest["notes"]),
        rest.get("defaults_of", ""),
        names=names,
        rules=rules,
        own_memory=None,
        store=store,
    )


def by_family(knobs: Iterable[Knob]) -> tuple[Knob, ...]:
    """Return RocksDB's knobs with the family name before options of a column family."""
    return tuple(
        knob.model_copy(update={"name": knob_name(DEFAULT_FAMILY, knob.name)})
        if knob.option is not None and knob.option.section in FAMILY_SECTIONS
        else knob
        for knob in knobs
    )
