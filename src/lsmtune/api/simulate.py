"""Predictions of runs, without a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import view_of
from lsmtune.batch import BatchLine, as_flags, knob_value, read_batch
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import Argument, Message, UserError
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.knob_text import find_knob, parse_value, readable_value
from lsmtune.knobs.types import Config, Settings, Value
from lsmtune.progress import Observer
from lsmtune.report.simulation_page import Film, render_films
from lsmtune.simulator import (
    MODELLED_VERSION,
    Constants,
    Prediction,
    Probe,
    Run,
    known_knobs,
    load_machine,
    modelled,
    modelled_text,
    predict,
    recorded,
    why_unmodelled,
)
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, load_at, make_spec, without_load
from lsmtune.store.home import MACHINE, Home
from lsmtune.study.foretelling import running_store
from lsmtune.study.opening import rule_of_new
from lsmtune.study.record import read_record
from lsmtune.study_keys import VERSION
from lsmtune.system.host import describe_host
from lsmtune.system.write import write_file
from lsmtune.trials import Base, Protocol

_CHANGES = Message(Argument("changes", flag="--set"))
SHOWN = 2
_PROTOCOL = Protocol()
_PROBE = Probe(_PROTOCOL.probe_reads, _PROTOCOL.scan_length)
"""The reads after a load, as in a trial."""
_NAMED = 4
"""Runs that the short form of a simulation names."""
_AT_ONCE = 64
"""Runs that are predicted between two lines of progress."""
_IGNORED = "the simulator ignores these knobs"


@dataclass(frozen=True, slots=True)
class AskedRuns:
    """The runs to predict with their labels, the constants of this machine, remarks.

    `scale` is that of the tree, if it is known.
    """

    lines: list[BatchLine]
    labels: list[str]
    constants: Constants | None
    remarks: list[str]
    scale: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Simulation:
    """Runs and their predictions, in the same order.

    An answer has the keys `id` and `metrics`, or `id` and `error`. `remarks` say what the
    predictions are for, and what they leave out.
    """

    asked: AskedRuns
    answers: list[dict[str, Any]]
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the names of the runs; their settings would be pages of text."""
        return f"<lsmtune.Simulation of {', '.join(self.asked.labels[:_NAMED])}>"

    def page(self, path: str | Path | None = None) -> str:
        """Return the page that plays the first two runs; write it to `path`.

        UserError if one of the runs cannot be simulated.
        """
        text = _page(self.asked.lines, self.asked.constants)
        if path is not None:
            write_file(Path(path), text, "page")
        return text


def simulate(
    home: Path,
    *,
    study: str | None = None,
    batch: Path | None = None,
    num: int = 1_000_000,
    scale: str = "1/64",
    changes: Sequence[str] = (),
    observer: Observer | None = None,
) -> Simulation:
    """Predict runs of RocksDB: of a file, of a study, or of the defaults with and without changes.

    `changes` are texts such as "write_buffer_size=64MiB". The home may have the constants of this
    machine. UserError for runs that cannot be predicted.
    """
    sources = ((Argument("study", flag="STUDY"), study), (Argument("batch"), batch))
    given: list[str | Argument] = [name for name, value in sources if value is not None]
    given += [_CHANGES] if given and changes else []
    if len(given) > 1:
        raise UserError("simulate: use only one of ", given[0], " and ", given[1])
    asked = _asked_runs(home, study=study, batch=batch, num=num, scale=scale, changes=changes)
    answers = predicted(asked.lines, asked.constants, observer)
    if batch is None and (wrong := next((a for a in answers if "error" in a), None)):
        raise UserError(f"simulate: {wrong['id']}: {wrong['error']}")
    return Simulation(asked, answers, (*_modelled_texts(asked.lines), *asked.remarks))


def _asked_runs(
    home: Path,
    *,
    study: str | None,
    batch: Path | None,
    num: int,
    scale: str,
    changes: Sequence[str],
) -> AskedRuns:
    """Return the runs to predict, with the constants of this machine if they are known."""
    machine = load_machine(home / MACHINE, describe_host())
    constants, remarks = (machine.constants if machine else None), []
    if machine is None:
        remarks.append(
            "times are estimates for a machine with two cores; `lsmtune doctor --calibrate` "
            "fits the estimates to this machine"
        )
    if batch is not None:
        lines = asked_lines(batch)
    elif study is not None:
        lines = of_study(study, home)
    else:
        return _defaults(num, scale, changes, remarks, constants)
    if ignored := sorted(_differing(lines) - known_knobs()):
        remarks.append(f"{_IGNORED}: {', '.join(ignored)}")
    labels = [{"base": "baseline"}.get(line.id, line.id) for line in lines]
    return AskedRuns(lines, labels, constants, remarks)


def asked_lines(batch: Path) -> list[BatchLine]:
    """Return the lines of a file; a line that cannot be predicted has an error.

    UserError for runs of an engine that is not simulated.
    """
    lines = read_batch(batch)
    for engine in sorted({line.engine for line in lines}):
        _check_engine(f"batch {batch}", engine)
    return list(map(_checked, lines))


def _check_engine(place: str, engine: str) -> None:
    """Raise UserError if the simulator neither predicts runs of an engine nor is the engine."""
    if ENGINES[engine].predicted_by is not None:
        return
    predictors = {one.name: one.predicted_by for one in ENGINES.usable() if one.predicted_by}
    if engine not in predictors.values():
        raise UserError(
            f"{place}: lsmtune cannot simulate the engine {engine}; "
            f"supported: {', '.join(predictors)}"
        )


def _checked(line: BatchLine) -> BatchLine:
    """Return the line, with an error if the simulator does not model one of its values."""
    reason = why_unmodelled(line.knobs) if line.error is None else None
    return line if reason is None else replace(line, error=reason)


def of_study(name: str, home_path: Path) -> list[BatchLine]:
    """Return the baseline of a study, and its winner if it has one."""
    with Home(home_path, create=False) as home:
        record = read_record(home, name)
        view, spec = view_of(home, record), record.spec
    _check_engine(f"study {name!r}", spec.engine)
    space = record.spaces.at()
    configs = {"base": space.default()}
    if view.best_trial is not None:
        configs[f"trial {view.best_trial.number}"] = Config(view.best_trial.config)
    runs = (
        (label, load_at(spec.workload, at), space.settings(at)) for label, at in configs.items()
    )
    return [_line(*run, spec.seed, space.version) for run in runs]


def _defaults(
    num: int,
    scale: str,
    changes: Sequence[str],
    remarks: Sequence[str],
    constants: Constants | None,
) -> AskedRuns:
    """RocksDB's defaults at that scale, and the same with the changes."""
    given = {"workload": {"name": "fillrandom", "num": num}, "scale": scale}
    spec = make_spec(given, "lsmtune simulate", {"workload.num": "--num", "scale": "--scale"})
    catalogue = rocksdb_catalogue()
    base = Base(options="", settings=catalogue.defaults(1))
    files = describe_host().max_open_files
    space = knob_space(spec, Ground(catalogue, base, files, rule_of_new(spec)))
    settings = space.settings(space.default())
    lines = [_line("defaults", spec.workload, settings, spec.seed)]
    if not changes:
        return AskedRuns(lines, ["defaults"], constants, list(remarks), spec.scale)
    changed = dict(map(_change, changes))
    ident = ", ".join(f"{name} = {value}" for name, value in changed.items())
    lines.append(_checked(_line(ident, spec.workload, {**settings, **changed}, spec.seed)))
    knobs = [catalogue.knob(name) for name in changed]
    words = {knob.name: readable_value(knob, changed[knob.name]) for knob in knobs}
    notes = [
        f"{knob.name}: the default at scale {spec.scale} is "
        f"{readable_value(knob, settings[knob.name])}; lsmtune keeps your {words[knob.name]}"
        for knob in knobs
        if knob.scales and spec.scale_value != 1
    ]
    if ignored := sorted(set(changed) - known_knobs()):
        notes.append(f"{_IGNORED}: {', '.join(ignored)}")
    label = ", ".join(f"{name} = {text}" for name, text in words.items())
    return AskedRuns(lines, ["defaults", label], constants, [*remarks, *notes], spec.scale)


def _line(
    name: str, workload: Any, settings: Settings, seed: int, version: str = MODELLED_VERSION
) -> BatchLine:
    flags = as_flags(without_load(settings), rocksdb_catalogue())
    return BatchLine(name, workload, flags, seed=seed, rocksdb=version)


def _change(text: str) -> tuple[str, Value]:
    name, separator, value = text.partition("=")
    if not separator:
        raise UserError(
            _CHANGES, f": invalid change {text!r}; use KNOB=VALUE, e.g. write_buffer_size=64MiB"
        )
    catalogue = rocksdb_catalogue()
    knob = modelled(find_knob(catalogue, name.strip(), _CHANGES))
    return knob.name, knob_value(catalogue, knob.name, parse_value(knob, value.strip(), _CHANGES))


def predicted(
    lines: Sequence[BatchLine], constants: Constants | None, observer: Observer | None = None
) -> list[dict[str, Any]]:
    """Return the answer to each line, in their order."""
    good = [line for line in lines if line.error is None]
    predictions: list[Prediction] = []
    with (observer or Observer()).working(f"simulating {len(good)} runs") as show:
        for start in range(0, len(good), _AT_ONCE):
            show(f"simulating run {start + 1} of {len(good)}")
            predictions += predict(list(map(run_of, good[start : start + _AT_ONCE])), constants)
    return list(_answers(lines, iter(predictions)))


def _answers(
    lines: Sequence[BatchLine], predictions: Iterator[Prediction]
) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.error is not None:
            yield {"id": line.id, "error": line.error}
            continue
        prediction = next(predictions)
        if prediction.error:
            yield {"id": line.id, "error": prediction.error}
        else:
            yield {"id": line.id, VERSION: version_of(line), "metrics": prediction.metrics}


def _differing(lines: Sequence[BatchLine]) -> set[str]:
    """The knobs in which lines differ; of a single line all that it sets."""
    good = [line for line in lines if line.error is None]
    names = {name for line in good for name in line.knobs}
    if len(good) == 1:
        return names
    return {name for name in names if len({line.knobs.get(name) for line in good}) > 1}


def run_of(line: BatchLine) -> Run:
    """Return the line in the form of the simulator."""
    built_by = line.knobs if line.base is None else line.base
    running = None if line.running is None else running_store(line.running, built_by, line.knobs)
    return Run(line.workload, line.knobs, line.seed or 1, _PROBE, version_of(line), running)


def version_of(line: BatchLine) -> str:
    """Return the version of RocksDB whose rules the line's prediction follows."""
    return line.rocksdb or MODELLED_VERSION


def _modelled_texts(lines: Sequence[BatchLine]) -> list[str]:
    """Return which versions the predictions of the lines are for, one sentence per version."""
    good = (line for line in lines if line.error is None)
    return [modelled_text(version) for version in dict.fromkeys(map(version_of, good))]


def _page(lines: Sequence[BatchLine], constants: Constants | None) -> str:
    if wrong := next((line for line in lines[:SHOWN] if line.error is not None), None):
        raise UserError(Argument("page"), f": line {wrong.id}: {wrong.error}")
    if not lines:
        raise UserError(Argument("page"), ": the batch file has no runs to show")
    runs = [(line.id, run_of(line)) for line in lines[:SHOWN]]
    films = [Film(name, run, recorded(run, constants)) for name, run in runs]
    return render_films(films, is_calibrated=constants is not None)
