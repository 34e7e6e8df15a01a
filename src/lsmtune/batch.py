"""The batch format: configs with their loads as JSON lines, measured ones with metrics."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings, Value
from lsmtune.spec import catalogue_of
from lsmtune.workloads import EngineName, Workload

_KEYS = {"id", "workload", "engine", "knobs", "metrics", "error", "seed"}


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One run: the load, and the values of the knobs that are not at db_bench's defaults.

    Values are those of db_bench's flags, at full size: nothing is scaled. `metrics` is empty for
    what has not been measured, `error` says why a run gave none, or what is wrong with the line;
    `seed` is that of the run. `engine` is what ran it, on whose knobs and defaults all this is so;
    a line names it where that is not the load's own.
    """

    id: str
    workload: Workload = field(default_factory=Workload)
    knobs: Mapping[str, Value] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    seed: int | None = None
    engine: EngineName = "rocksdb"

    def to_json(self) -> str:
        """The line as text."""
        if self.error is not None and not self.knobs:
            return json.dumps({"id": self.id, "error": self.error})
        document: dict[str, Any] = {
            "id": self.id,
            "workload": self.workload.model_dump(exclude_none=True),
            **({} if self.engine == self.workload.preset.engine else {"engine": self.engine}),
            "knobs": dict(self.knobs),
        }
        if self.seed is not None:
            document["seed"] = self.seed
        document |= {"metrics": dict(self.metrics)} if self.error is None else {"error": self.error}
        return json.dumps(document)


def read_batch(path: Path) -> list[BatchLine]:
    """The lines of a file; one that is wrong has an error instead of values.

    UserError when the file cannot be read, or has lines of several engines.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"batch {path}: cannot be read: {error}") from error
    lines = list(_lines(text))
    engines = sorted({line.engine for line in lines if line.error is None or line.knobs})
    if len(engines) > 1:
        raise UserError(f"batch {path}: lines of {' and '.join(engines)}; give each a file")
    return lines


def _lines(text: str) -> Iterator[BatchLine]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            name = str(number)
            try:
                document = json.loads(line)
                if not isinstance(document, dict):
                    raise UserError("is no JSON object")
                name = str(document.get("id", number))
                yield _line(name, document)
            except json.JSONDecodeError as error:
                yield BatchLine(name, error=f"line {number}: is no JSON: {error.msg}")
            except UserError as error:
                yield BatchLine(name, error=f"line {number}: {error}")


def _line(name: str, document: dict[str, Any]) -> BatchLine:
    if unknown := document.keys() - _KEYS:
        known = ", ".join(sorted(_KEYS))
        raise UserError(f"{', '.join(sorted(unknown))} is no key of a line; known are {known}")
    try:
        workload = Workload.model_validate(document.get("workload", {}))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"workload {place}: {first['msg']}") from None
    knobs, metrics = document.get("knobs", {}), document.get("metrics", {})
    if not isinstance(knobs, dict) or not isinstance(metrics, dict):
        raise UserError("knobs and metrics are objects of names and values")
    engine = document.get("engine", workload.preset.engine)
    if engine not in workload.preset.engines:
        allowed = " and ".join(workload.preset.engines)
        raise UserError(f"engine {engine!r}: the load {workload.name} runs on {allowed}")
    catalogue = catalogue_of(engine, workload)
    checked = {knob: knob_value(catalogue, knob, value) for knob, value in knobs.items()}
    for metric, value in metrics.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise UserError(f"metrics {metric} = {value!r} is no number")
    seed, error_text = document.get("seed"), document.get("error")
    return BatchLine(name, workload, checked, metrics, error_text, seed, engine)


def knob_value(catalogue: Catalogue, name: str, value: Any) -> Value:
    """The value as the knob has it; UserError where it is not among those allowed."""
    knob = catalogue.knob(name)
    if knob.kind == "bool" and value in (0, 1):
        value = bool(value)
    if knob.kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, bool | int | float | str) or not knob.around(value).allows(value):
        raise UserError(f"knobs {name} = {value!r} is not among {knob.allowed_text()}")
    return value


def as_flags(settings: Settings, catalogue: Catalogue) -> dict[str, Value]:
    """Those of the settings that are not at db_bench's defaults and have an effect."""
    defaults = {knob.name: knob.default for knob in catalogue.knobs if knob.inert is None}
    return {n: v for n, v in settings.items() if n in defaults and v != defaults[n]}
