"""The work behind `lsmtune simulate`."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.batch import BatchLine, as_flags, knob_value, read_batch
from lsmtune.cli.common import write_file
from lsmtune.cli.exporting import ground_of
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Config, Settings
from lsmtune.report.simulation_page import Film, render_films
from lsmtune.simulator import (
    Constants,
    Machine,
    Probe,
    Run,
    known_knobs,
    load_machine,
    predict,
    recorded,
)
from lsmtune.spec import Ground, make_spec, without_load
from lsmtune.store.home import MACHINE, Home
from lsmtune.system.host import describe_host
from lsmtune.trials import Base, Protocol

_ENGINES = {"rocksdb", "simulated"}
_SHOWN = 2
_PROTOCOL = Protocol()
_PROBE = Probe(_PROTOCOL.probe_reads, _PROTOCOL.scan_length)
"""The reads behind a load, as a trial makes them."""


def asked_lines(batch: Path) -> list[BatchLine]:
    """The lines of a file; UserError for runs of an engine that is not simulated."""
    lines = read_batch(batch)
    if others := sorted({line.engine for line in lines} - _ENGINES):
        raise UserError(f"batch {batch}: has runs of {others[0]}; the simulator stands for rocksdb")
    return lines


def of_study(name: str, home_path: Path) -> list[BatchLine]:
    """The base of a study, and its best config if it has one."""
    with Home(home_path, create=False) as home:
        view = read_study(home, name)
        spec, ground = ground_of(home, name)
    if spec.engine not in _ENGINES:
        raise UserError(f"study {name!r}: is of {spec.engine}; the simulator stands for rocksdb")
    space = spec.space(ground)
    configs = {"base": space.default()}
    if view.best_trial is not None:
        configs[f"trial {view.best_trial.number}"] = Config(view.best_trial.config)
    return [
        _line(label, spec.load_at(config), space.settings(config), spec.seed)
        for label, config in configs.items()
    ]


def defaults(num: int, scale: str, changes: Sequence[str]) -> list[BatchLine]:
    """RocksDB's defaults at that scale, and the same with changes, whose values are final."""
    spec = make_spec({"workload": {"name": "fillrandom", "num": num}, "scale": scale}, "simulate")
    catalogue = load(spec.engine)
    base = Base(options="", settings=catalogue.defaults(1))
    space = spec.space(Ground(catalogue, base, describe_host().max_open_files))
    settings = space.settings(space.default())
    lines = [_line("defaults", spec.workload, settings, spec.seed)]
    if changes:
        changed = dict(map(_change, changes))
        label = ", ".join(f"{name} = {value}" for name, value in changed.items())
        lines.append(_line(label, spec.workload, {**settings, **changed}, spec.seed))
    return lines


def _line(name: str, workload: Any, settings: Settings, seed: int) -> BatchLine:
    return BatchLine(name, workload, as_flags(without_load(settings), load("rocksdb")), seed=seed)


def _change(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise UserError(f"--set {text}: write KNOB=VALUE")
    try:
        told = json.loads(value)
    except json.JSONDecodeError:
        told = value
    return name, knob_value(load("rocksdb"), name, told)


def machine_of(home: Path) -> Machine | None:
    """This machine as `lsmtune doctor --calibrate` has found it; None where it has not."""
    return load_machine(home / MACHINE, describe_host())


def foretold(
    lines: Sequence[BatchLine], constants: Constants | None, tell: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """The answer to each line, in their order; which differences are not simulated is told."""
    good = [line for line in lines if line.error is None]
    predictions = iter(predict(list(map(run_of, good)), constants))
    if ignored := sorted(_differing(good) - known_knobs()):
        tell(f"lsmtune: not simulated, and taken to have no effect: {', '.join(ignored)}")
    for line in lines:
        if line.error is not None:
            yield {"id": line.id, "error": line.error}
            continue
        told = next(predictions)
        answer = {"error": told.error} if told.error else {"metrics": told.metrics}
        yield {"id": line.id, **answer}


def _differing(lines: Sequence[BatchLine]) -> set[str]:
    """The knobs in which lines differ; of a single line all that it sets."""
    names = {name for line in lines for name in line.knobs}
    if len(lines) == 1:
        return names
    return {name for name in names if len({line.knobs.get(name) for line in lines}) > 1}


def run_of(line: BatchLine) -> Run:
    """The line as the simulator takes it."""
    return Run(line.workload, line.knobs, line.seed or 1, _PROBE)


def write_page(path: Path, lines: Sequence[BatchLine], constants: Constants | None) -> None:
    """Write the page that plays the first two runs; UserError where one cannot be told."""
    if wrong := next((line for line in lines[:_SHOWN] if line.error is not None), None):
        raise UserError(f"--page: line {wrong.id}: {wrong.error}")
    if not lines:
        raise UserError("--page: there is no run to play")
    runs = [(line.id, run_of(line)) for line in lines[:_SHOWN]]
    films = [Film(name, run, recorded(run, constants)) for name, run in runs]
    write_file(path, render_films(films, is_calibrated=constants is not None), "page")
