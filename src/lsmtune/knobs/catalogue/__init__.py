"""The knobs of lsmtune: one folder of data files per engine, one file per area."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.errors import UserError, unknown_word
from lsmtune.knobs.families import (
    ANY_FAMILY,
    DEFAULT_FAMILY,
    FAMILY_SECTIONS,
    family_of,
    knob_name,
    option_name,
)
from lsmtune.knobs.types import Knob, Settings, Value

_PRESETS = "presets.toml"
"""The file of an engine that has everything but knobs."""
_STANDS_FOR = {"simulated": "rocksdb"}
"""Engines with the knobs of another."""


LOAD_AREA = "load"
"""The area of what is no knob of the store."""


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
    """A named choice of knobs.

    The knobs are those of its list, else those of the preset that it is `like`, else all that
    have an effect and give nothing up; `fixed` ones stay at the base, and of those in `choices`
    only these values are drawn. `base` are values that a published study began with, where the
    user has no base of his own. `load` are workload parameters that vary besides, as in a
    published study: what such a preset gains is not the store's alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    title: str
    knobs: tuple[str, ...] | None = None
    like: str | None = None
    fixed: dict[str, Value] = {}
    choices: dict[str, tuple[Value, ...]] = {}
    base: dict[str, Value] = {}
    load: tuple[str, ...] = ()


class Start(BaseModel):
    """A point from which a search may begin besides the base, and who advises it.

    `suits` are the presets whose searches it is worth a trial.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    source: str
    suits: tuple[str, ...]
    settings: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that is known of one engine's knobs, or of those that one version of it has.

    `absent` are the names of the knobs that this version lacks. `notes` are what holds of all,
    `defaults_of` tells whose the defaults are.
    """

    engine: str
    knobs: tuple[Knob, ...]
    workload_parameters: tuple[WorkloadParameter, ...]
    presets: tuple[Preset, ...]
    starts: tuple[Start, ...]
    notes: tuple[str, ...] = ()
    defaults_of: str = ""
    absent: frozenset[str] = frozenset()

    def knob(self, name: str) -> Knob:
        """Return the knob; UserError if it does not exist or belongs to the workload."""
        for parameter in self.workload_parameters:
            if parameter.name == name:
                raise UserError(
                    f"knobs: {name} is a parameter of the workload, not a knob: "
                    f"{parameter.reason}; set it with the workload"
                )
        if name in self.absent:
            store = "TiKV" if self.engine == "tikv" else "RocksDB"
            raise UserError(f"knobs: {name} is not available in this version of {store}")
        found = next((knob for knob in self.knobs if knob.name == name), None)
        if found is None:
            names = [knob.name for knob in self.knobs]
            see = f"lsmtune knobs {self.engine}"
            raise UserError(f"knobs: {unknown_word('knob', name, names, see)}")
        return found

    def restricted(self, names: Iterable[str]) -> "Catalogue":
        """The catalogue of a version that has only these knobs.

        Presets then leave out what is missing; a list that names it is refused.
        """
        present = set(names)
        kept = tuple(knob for knob in self.knobs if knob.name in present)
        gone = {knob.name for knob in self.knobs} - present
        return replace(self, knobs=kept, absent=self.absent | gone)

    def with_families(self, names: Iterable[str]) -> "Catalogue":
        """The catalogue with more column families, each with the knobs of the default one."""
        of_default = [knob for knob in self.knobs if family_of(knob.name) == DEFAULT_FAMILY]
        more = (
            knob.model_copy(update={"name": knob_name(name, option_name(knob.name))})
            for name in names
            for knob in of_default
        )
        return replace(self, knobs=(*self.knobs, *more))

    def defaults(self, factor: float) -> Settings:
        """The engine's defaults of every knob, for a tree `factor` times the usual size."""
        return {knob.name: knob.scaled(factor).default for knob in self.knobs}

    def scaled(self, settings: Mapping[str, Value], factor: float) -> Settings:
        """The settings for a tree `factor` times as large: its sizes grow, the rest stays.

        Special values, such as 0 for no limit, stay too, and so do options that it does not have.
        """
        known = {knob.name: knob for knob in self.knobs}
        return {
            name: known[name].scaled_value(value, factor) if name in known else value
            for name, value in settings.items()
        }

    def select(self, selection: str) -> tuple[Knob, ...]:
        """The knobs that a preset's name or a list means.

        A preset leaves out what has no effect or is not there, and what gives something up unless
        it names that; in a list only what has no effect or is not there is refused. Parameters of
        the load come last.
        """
        preset = self._preset(selection)
        if preset is None:
            return self._listed([name.strip() for name in selection.split(",") if name.strip()])
        model = self._model(preset)
        names = model.knobs
        chosen = [knob for knob in self.knobs if names is None or _spoken(knob, names)]
        if names is not None:
            chosen.sort(key=lambda knob: names.index(_spoken(knob, names) or ""))
        choices = {**model.choices, **preset.choices}
        own = tuple(
            knob.drawing(choices[name]) if (name := option_name(knob.name)) in choices else knob
            for knob in chosen
            if knob.name not in preset.fixed
            and knob.inert is None
            and (knob.risk is None or names is not None)
        )
        return own + tuple(p.as_knob() for p in self.workload_parameters if p.name in preset.load)

    def begun(self, selection: str) -> Settings:
        """The values that the study of a preset began with; those of every column family."""
        preset = self._preset(selection)
        told = {**self._model(preset).base, **preset.base} if preset else {}
        names = (knob.name for knob in self.knobs)
        return {name: told[option_name(name)] for name in names if option_name(name) in told}

    def advised(self, selection: str) -> tuple[Start, ...]:
        """The starts that suit a preset; all of them for a list of knobs."""
        if self._preset(selection) is None:
            return self.starts
        return tuple(start for start in self.starts if selection in start.suits)

    def _model(self, preset: Preset) -> Preset:
        """The preset whose knobs it has: the one that it is like, or itself."""
        return (self._preset(preset.like) if preset.like else None) or preset

    def _preset(self, name: str) -> Preset | None:
        return next((preset for preset in self.presets if preset.name == name), None)

    def _listed(self, names: list[str]) -> tuple[Knob, ...]:
        presets = ", ".join(preset.name for preset in self.presets)
        if not names:
            raise UserError(f"knobs: the list is empty; use names of knobs, or a preset: {presets}")
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"knobs: {name} is listed twice; list each knob once")
            if (reason := self.knob(name).inert) is not None:
                raise UserError(f"knobs: {name} has no effect in trials: {reason}; remove it")
        return tuple(self.knob(name) for name in names)


def _spoken(knob: Knob, names: tuple[str, ...]) -> str | None:
    """How a preset's list names the knob: `*.option` is that option of every family."""
    every = knob_name(ANY_FAMILY, option_name(knob.name))
    spoken = [knob.name] if family_of(knob.name) is None else [knob.name, every]
    return next((name for name in spoken if name in names), None)


@cache
def load(engine: str) -> Catalogue:
    """The catalogue of an engine; UserError when there is none."""
    if engine in _STANDS_FOR:
        return replace(load(_STANDS_FOR[engine]), engine=engine)
    folders = {folder.name: folder for folder in files(__name__).iterdir() if folder.is_dir()}
    engines = sorted(
        [n for n, folder in folders.items() if folder.joinpath(_PRESETS).is_file()] + [*_STANDS_FOR]
    )
    if engine not in engines:
        raise UserError(f"engine: {unknown_word('engine', engine, engines)}")
    data = {
        file.name: tomllib.loads(file.read_text(encoding="utf-8"))
        for file in folders[engine].iterdir()
        if file.name.endswith(".toml")
    }
    rest = data.pop(_PRESETS)
    like = rest.get("options_of")
    return Catalogue(
        engine,
        _by_family(load(like).knobs) if like else tuple(_knobs(data.values(), rest["areas"])),
        tuple(WorkloadParameter(**entry) for entry in rest.get("workload_parameter", ())),
        tuple(Preset(**entry) for entry in rest["preset"]),
        tuple(Start(**entry) for entry in rest.get("start", ())),
        tuple(rest["notes"]),
        rest.get("defaults_of", ""),
    )


def _by_family(knobs: Iterable[Knob]) -> tuple[Knob, ...]:
    """The knobs of RocksDB where it has column families: those of a family by its name."""
    return tuple(
        knob.model_copy(update={"name": knob_name(DEFAULT_FAMILY, knob.name)})
        if knob.option is not None and knob.option.section in FAMILY_SECTIONS
        else knob
        for knob in knobs
    )


def _knobs(data: Iterable[dict[str, Any]], areas: list[str]) -> Iterable[Knob]:
    """The knobs of the files, by area; where a file names families, each has all of its knobs."""
    for area in sorted(data, key=lambda area: areas.index(area["area"])):
        for family in area.get("families", [None]):
            for entry in area["knob"]:
                yield Knob(area=area["area"], **_of_family(area, entry, family))


def _of_family(
    area: Mapping[str, Any], entry: Mapping[str, Any], family: str | None
) -> dict[str, Any]:
    """A knob as its file has it: what `every` knob has, its own, and what one family has else."""
    told: dict[str, Any] = {**area.get("every", {}), **entry}
    elsewhere = told.pop("elsewhere", {})
    if family is not None:
        told |= {**elsewhere.get(family, {}), "name": knob_name(family, told["name"])}
    return told
