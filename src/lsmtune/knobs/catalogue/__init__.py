"""The knobs that lsmtune knows, one data file an engine."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from lsmtune.errors import UserError
from lsmtune.knobs.types import Knob, Settings, Value


class WorkloadParameter(BaseModel):
    """A parameter that studies have tuned although it belongs to the load, not to the store."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    field: str
    reason: str


class Preset(BaseModel):
    """A named choice of knobs; without a list, all of the catalogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    title: str
    knobs: tuple[str, ...] | None = None
    fixed: dict[str, Value] = {}


class Start(BaseModel):
    """A point from which a search may begin besides the base, and who advises it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    source: str
    settings: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that is known of one engine's knobs."""

    engine: str
    knobs: tuple[Knob, ...]
    workload_parameters: tuple[WorkloadParameter, ...]
    presets: tuple[Preset, ...]
    starts: tuple[Start, ...]

    def knob(self, name: str) -> Knob:
        """The knob of that name; UserError where there is none or it belongs to the load."""
        for parameter in self.workload_parameters:
            if parameter.name == name:
                raise UserError(
                    f"{name} is a parameter of the workload, not a knob: {parameter.reason}; "
                    f"set it with the workload instead"
                )
        found = next((knob for knob in self.knobs if knob.name == name), None)
        if found is None:
            raise UserError(
                f"knobs: {self.engine} has no knob {name!r}; `lsmtune knobs` lists them"
            )
        return found

    @property
    def codec_labels(self) -> dict[Value, str]:
        """The engine's own names of the values of compression_type."""
        knob = self.knob("compression_type")
        return dict(zip(knob.choices, knob.labels, strict=True))

    def defaults(self, factor: float) -> Settings:
        """The engine's defaults of every knob, for a tree `factor` times the usual size."""
        return {knob.name: knob.scaled(factor).default for knob in self.knobs}

    def scaled(self, settings: Mapping[str, Value], factor: float) -> Settings:
        """The settings for a tree `factor` times as large: its sizes grow, the rest stays."""
        return {
            name: round(float(value) * factor) if self.knob(name).scales else value
            for name, value in settings.items()
        }

    def select(self, selection: str) -> tuple[Knob, ...]:
        """The knobs that a preset's name or a list means; a preset leaves inert ones out."""
        preset = next((p for p in self.presets if p.name == selection), None)
        if preset is None:
            return self._listed([name.strip() for name in selection.split(",") if name.strip()])
        names = preset.knobs or tuple(knob.name for knob in self.knobs)
        chosen = (self.knob(name) for name in names if name not in preset.fixed)
        return tuple(knob for knob in chosen if knob.inert is None)

    def _listed(self, names: list[str]) -> tuple[Knob, ...]:
        presets = ", ".join(preset.name for preset in self.presets)
        if not names:
            raise UserError(f"knobs: the list is empty; give a preset ({presets}) or knob names")
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"knobs: {name} is named twice")
            if (reason := self.knob(name).inert) is not None:
                raise UserError(f"knobs: {name} has no effect here: {reason}")
        return tuple(self.knob(name) for name in names)


@cache
def load(engine: str) -> Catalogue:
    """The catalogue of an engine; UserError when there is none."""
    catalogues = {file.name: file for file in files(__name__).iterdir()}
    file = catalogues.get(f"{engine}.toml")
    if file is None:
        names = ", ".join(sorted(name[:-5] for name in catalogues if name.endswith(".toml")))
        raise UserError(f"engine: no catalogue of knobs for {engine!r}; known are {names}")
    data = tomllib.loads(file.read_text())
    return Catalogue(
        engine,
        tuple(Knob(**entry) for entry in data["knob"]),
        tuple(WorkloadParameter(**entry) for entry in data["workload_parameter"]),
        tuple(Preset(**entry) for entry in data["preset"]),
        tuple(Start(**entry) for entry in data["start"]),
    )
