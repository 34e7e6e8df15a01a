"""The batch format: JSON lines with a workload and a config each, and metrics if measured."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lsmtune.engine_traits import ENGINES, engines_of, runs, usual_engine
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.possible import is_possible, possible_text
from lsmtune.knobs.types import Settings, Value
from lsmtune.reading import parse_json, read_text
from lsmtune.spec import catalogue_of
from lsmtune.study_keys import DEFAULT_ENGINE, VERSION
from lsmtune.tables import problem_text
from lsmtune.trials import Running
from lsmtune.units import is_version
from lsmtune.workloads import EngineName, Workload

_TEXTS = ("error", "disturbance", "host")
_RUNNING = ("measure", "rate", "base")
_KEYS = {"id", "workload", "engine", VERSION, "knobs", "metrics", "seed", *_TEXTS, *_RUNNING}
_MOST = 1e100
"""Maximum size of a number: models square it."""
_MOST_RATE = 1e9
"""Maximum number of operations per second."""


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One run: a workload, and the knobs that differ from the defaults of db_bench.

    Values are those of db_bench's flags at full size; nothing is scaled. `metrics` is empty if
    nothing was measured; a metric that a run does not have is left out. `error` is the reason of a
    failed run, or the mistake in the line (`is_wrong`). `seed` is the seed of the run.
    `disturbance` says what disturbed a run that was kept all the same.
    `rocksdb` is the version of RocksDB that ran it, if known.
    `others` are the keys of the line that lsmtune does not know: they are kept as they are.
    `engine` is the engine that ran it; names and defaults of the knobs are those of this engine. A
    line contains it if it is not the workload's first engine.
    `host` is where it ran, if runs of the file are of several hosts.
    `running` has the steps of a trial of a running store, with its rate: `measure` and `rate` in
    the line. `base` are the knobs that built this store; None: those of the line.
    """

    id: str
    workload: Workload = field(default_factory=Workload)
    knobs: Mapping[str, Value] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    seed: int | None = None
    disturbance: str | None = None
    rocksdb: str | None = None
    engine: EngineName = DEFAULT_ENGINE
    others: Mapping[str, Any] = field(default_factory=dict)
    is_wrong: bool = False
    host: str | None = None
    running: Running | None = None
    base: Mapping[str, Value] | None = None

    def to_json(self) -> str:
        """Return the line as text."""
        if self.error is not None and not self.knobs:
            return json.dumps({**self.others, "id": self.id, "error": self.error})
        document: dict[str, Any] = {
            **self.others,
            "id": self.id,
            "workload": self.workload.model_dump(exclude_none=True),
            **({} if self.engine == usual_engine(self.workload.name) else {"engine": self.engine}),
            **({} if self.rocksdb is None else {VERSION: self.rocksdb}),
            **({} if self.host is None else {"host": self.host}),
            "knobs": dict(self.knobs),
        }
        if self.running is not None:
            document |= {"measure": "running", "rate": self.running.rate}
        if self.base is not None:
            document["base"] = dict(self.base)
        if self.seed is not None:
            document["seed"] = self.seed
        if self.disturbance is not None:
            document["disturbance"] = self.disturbance
        document |= {"metrics": dict(self.metrics)} if self.error is None else {"error": self.error}
        return json.dumps(document)


def read_batch(path: Path) -> list[BatchLine]:
    """Return the lines of a file; a wrong line has an error instead of values.

    Raises UserError if the file cannot be read or has lines of several engines.
    """
    return parse_batch(read_text(path, f"batch {path}"), f"batch {path}")


def parse_batch(text: str, where: str) -> list[BatchLine]:
    """Return the lines of a text, as `read_batch` does; `where` begins the message of UserError."""
    lines = list(_lines(text))
    engines = sorted({line.engine for line in lines if line.error is None or line.knobs})
    if len(engines) > 1:
        names = ", ".join(engines)
        raise UserError(where, f": lines of several engines ({names}); use one file per engine")
    return lines


def _lines(text: str) -> Iterator[BatchLine]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            name = str(number)
            try:
                document = parse_json(line, f"line {number}")
            except UserError as error:
                yield BatchLine(name, error=str(error), is_wrong=True)
                continue
            try:
                if not isinstance(document, dict):
                    raise UserError("not a JSON object")
                _check_characters(document)
                name = str(number if document.get("id") is None else document["id"])
                yield _line(name, document)
            except UserError as error:
                yield BatchLine(name, error=f"line {number}: {error}", is_wrong=True)


def _check_characters(document: dict[str, Any]) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UserError(
            "a text contains one half of a pair of surrogates (\\ud800 to \\udfff); use characters"
        ) from error


def _line(name: str, document: dict[str, Any]) -> BatchLine:
    others = {key: value for key, value in document.items() if key not in _KEYS}
    # JSON writers put null for what is missing.
    document = {key: value for key, value in document.items() if value is not None}
    try:
        workload = Workload.model_validate(document.get("workload", {}))
    except ValidationError as error:
        first = problem_text(dict(error.errors()[0]), Workload)
        raise UserError(f"workload.{first}") from None
    knobs, metrics = document.get("knobs", {}), document.get("metrics", {})
    if not isinstance(knobs, dict) or not isinstance(metrics, dict):
        raise UserError("knobs, metrics: use JSON objects of names and values")
    metrics = {name: value for name, value in metrics.items() if value is not None}
    engine = document.get("engine", usual_engine(workload.name))
    if not isinstance(engine, str) or engine not in ENGINES or not runs(engine, workload.name):
        allowed = ", ".join(engines_of(workload.name))
        raise UserError(
            f"engine: {engine!r} cannot run the workload {workload.name}; available: {allowed}"
        )
    catalogue = catalogue_of(engine, workload)
    checked = {knob: knob_value(catalogue, knob, value) for knob, value in knobs.items()}
    for metric, value in metrics.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise UserError(f"metrics.{metric}: {value!r} is not a number")
        if not abs(value) <= _MOST:
            raise UserError(f"metrics.{metric}: not a finite number of at most {_MOST:g}")
    running, base = _running(document, catalogue)
    seed, error_text, disturbance, host = (document.get(key) for key in ("seed", *_TEXTS))
    if seed is not None and (type(seed) is not int or not 0 <= seed < 1 << 63):
        raise UserError(f"seed: {seed!r} is not allowed; use an integer from 0 to 2^63 - 1")
    for key in _TEXTS:
        if not isinstance(document.get(key), str | None):
            raise UserError(f"{key}: {document[key]!r} is not a text")
    rocksdb = document.get(VERSION)
    if rocksdb is not None and not (isinstance(rocksdb, str) and is_version(rocksdb)):
        raise UserError(
            f"{VERSION}: {rocksdb!r} is not a version; use three or four numbers, such as 11.8.1"
        )
    return BatchLine(
        name, workload, checked, metrics, error_text, seed, disturbance, rocksdb, engine, others,
        host=host, running=running, base=base,
    )  # fmt: skip


def _running(
    document: Mapping[str, Any], catalogue: Catalogue
) -> tuple[Running | None, Settings | None]:
    """Return the steps of a running store, and the knobs that built it; None if it is filled."""
    measure, rate, base = (document.get(key) for key in _RUNNING)
    if measure not in (None, "running", "filled"):
        raise UserError(f'measure: {measure!r} is not allowed; use "running" or "filled"')
    if measure != "running":
        if rate is not None or base is not None:
            given = "rate" if rate is not None else "base"
            raise UserError(f'{given}: only a running store has it; add "measure": "running"')
        return None, None
    is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
    if not is_number or not 0 < float(rate or 0) <= _MOST_RATE:
        raise UserError(f"rate: {rate!r} is not allowed; use operations per second, such as 10000")
    if not isinstance(base, dict | None):
        raise UserError("base: use a JSON object of knobs and values")
    checked = None if base is None else {n: knob_value(catalogue, n, v) for n, v in base.items()}
    return Running(rate=rate), checked


def knob_value(catalogue: Catalogue, name: str, value: Any) -> Value:
    """Return the value in the knob's type; UserError if RocksDB would not run with it.

    Values that no search tries are allowed: other programs have measured them.
    """
    knob = catalogue.knob(name)
    if isinstance(value, int | float) and not abs(value) <= _MOST:
        raise UserError(f"knobs.{name}: not a finite number of at most {_MOST:g}")
    if knob.kind == "bool" and value in (0, 1):
        value = bool(value)
    if knob.kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if knob.kind != "float" and isinstance(value, float) and value.is_integer():
        value = int(value)  # tables with empty cells write whole numbers as 4.0
    if not isinstance(value, bool | int | float | str) or not is_possible(
        knob, value, catalogue.names
    ):
        raise UserError(
            f"knobs.{name}: value {value!r} is not allowed; allowed: "
            f"{possible_text(knob, catalogue.names)}"
        )
    return value


def as_flags(settings: Settings, catalogue: Catalogue) -> dict[str, Value]:
    """Return the settings that differ from the defaults of db_bench and have an effect."""
    defaults = {knob.name: knob.default for knob in catalogue.knobs if knob.inert is None}
    return {n: v for n, v in settings.items() if n in defaults and v != defaults[n]}
