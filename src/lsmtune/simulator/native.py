"""The native core, which is a wheel of its own: `lsmsim`, from native/."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lsmtune.errors import UserError
from lsmtune.knobs.types import Value
from lsmtune.units import format_bytes
from lsmtune.workloads import Workload

_WHEEL = "lsmsim"
MODELLED_WORKLOADS = ("fillrandom", "fillseq", "overwrite")
"""Workloads that the simulator runs."""
RUNNING_WORKLOADS = ("overwrite",)
"""Those of them whose trials can measure a running store."""
UNMODELLED_KNOBS = frozenset({"enable_blob_files"})
"""Options that change so much that the simulator must not ignore them: it would lead a search away
from their gains."""
MODELLED_VERSION = "7.8.3"
"""The RocksDB that a run has if it names no version. Its machine constants and codecs were measured
with this version."""
_WRITE_SKEW = "write_skew"
_OF_LOAD = {"name", "num", "operations", "key_size", "value_size", "threads",
            "compression_ratio", _WRITE_SKEW}  # fmt: skip
"""What the core knows of a load; everything else has to be left as it is by default."""


MOST_MEMTABLES = 10_600
"""Maximum number of memtables that a run fills: the number of the longest real runs that were
compared with the simulator (benchmarks/long_runs.py)."""
_WRITE_BUFFER_SIZE, _ENTRY_BYTES = 64 << 20, 63
"""db_bench's default, and what a memtable needs per record in addition to key and value."""
_LEAST_MEMTABLE = 64 << 10
"""Size to which RocksDB raises smaller memtables."""

_PLACE = re.compile(r" at line \d+ column \d+$")

Constants = dict[str, Any]
"""Those of a machine: seconds, bytes a second, and for each codec its own (see machine.rs)."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The reads behind a load: so many gets that hit, gets that miss, and scans of some records."""

    reads: int
    scan_length: int


@dataclass(frozen=True, slots=True)
class RunningStore:
    """A store that runs: the knobs that built it, operations per second, and the steps of a trial.

    The steps are those of `lsmtune.trials.Running`.
    """

    baseline: Mapping[str, Value]
    rate: float
    turn_over: float
    capacity_s: float
    calm_s: float
    window_s: float


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be predicted: values are those of db_bench's flags, others at its defaults.

    Without a `probe` no latencies of reads are told. `version` is the RocksDB whose rules it has.
    With a `running` store, the metrics are those of a window at its rate.
    """

    workload: Workload
    knobs: Mapping[str, Value]
    seed: int = 1
    probe: Probe | None = None
    version: str = MODELLED_VERSION
    running: RunningStore | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """The metrics that the run would have, by name; or why none can be told.

    A run that `hangs` would never end: writes are stopped, and nothing is left to compact.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    hangs: bool = False


def is_installed() -> bool:
    """Whether the native core is there."""
    return find_spec(_WHEEL) is not None


def known_knobs() -> frozenset[str]:
    """The knobs that a prediction hangs on; all others are taken to change nothing.

    UserError where the native core is not installed.
    """
    return frozenset(_core().known_options())


def default_constants() -> Constants:
    """The constants of the machine that the core has by default, by name.

    UserError where the native core is not installed.
    """
    constants: Constants = json.loads(_core().default_machine())
    return constants


def predict(runs: Sequence[Run], constants: Constants | None = None) -> list[Prediction]:
    """What each run comes to, in their order, on all cores; a run that cannot be told has an error.

    `constants` are those of the machine, None the core's own.

    UserError where the native core is not installed.
    """
    core = _core()
    refused = [_refusal(run) for run in runs]
    lines = [_line(run) for run, reason in zip(runs, refused, strict=True) if reason is None]
    try:
        answers = iter(core.simulate_lines(lines, _machine(constants)))
    except ValueError as error:
        raise UserError(
            f"calibration: {_without_place(error)}; run `lsmtune doctor --calibrate` again"
        ) from None
    return [
        _prediction(next(answers)) if reason is None else Prediction(error=reason)
        for reason in refused
    ]


def recorded(run: Run, constants: Constants | None = None, frames: int = 600) -> dict[str, Any]:
    """The run as a film of so many frames at most: the document of the core's `Recording`.

    UserError for a run that cannot be told.
    """
    core = _core()
    reason = "a running store has no film" if run.running is not None else _refusal(run)
    if reason is not None:
        raise UserError(reason)
    try:
        film: dict[str, Any] = json.loads(core.record_line(_line(run), _machine(constants), frames))
    except ValueError as error:
        raise UserError(f"cannot simulate this run: {_without_place(error)}") from None
    return film


def _machine(constants: Constants | None) -> str:
    return json.dumps(default_constants() if constants is None else constants)


def _core() -> Any:
    if not is_installed():
        raise UserError(
            "the simulator is not installed; install Rust's cargo, then run `make setup`"
        )
    return import_module(_WHEEL)


def _prediction(answer: str) -> Prediction:
    found = Prediction(**json.loads(answer))
    return found if found.error is None else replace(found, error=_without_place(found.error))


def _without_place(error: object) -> str:
    """Return a message of the core without the place in its JSON, which no user has seen."""
    return _PLACE.sub("", str(error))


def _refusal(run: Run) -> str | None:
    """Return why a run cannot be simulated; None when it can."""
    for name in sorted(UNMODELLED_KNOBS):
        if run.knobs.get(name) or (run.running and run.running.baseline.get(name)):
            return f"knobs.{name}: the simulator does not model the value true; remove the knob"
    if run.running is not None and (reason := _running_refusal(run.workload.name)) is not None:
        return reason
    given = run.workload.model_dump(exclude_defaults=True).keys()
    others = given - _OF_LOAD
    if not others and _WRITE_SKEW in given and not _skews_writes():
        return (
            f"workload: not modelled: {_WRITE_SKEW}: the installed package {_WHEEL} is too old; "
            "install the one of this version, or run `make setup` again"
        )
    if not others:
        return _too_long(run)
    if run.workload.name not in MODELLED_WORKLOADS:
        return (
            f"workload: the simulator cannot run {run.workload.name}; available: "
            f"{', '.join(MODELLED_WORKLOADS)}"
        )
    return (
        f"workload: the simulator does not support these parameters: {', '.join(sorted(others))}; "
        f"supported: {', '.join(sorted(_OF_LOAD))}"
    )


def _running_refusal(name: str) -> str | None:
    """Return why a running store with a workload cannot be simulated; None when it can."""
    if name not in RUNNING_WORKLOADS:
        return (
            f'measure: the simulator cannot predict "running" for the workload {name}; available: '
            f"{', '.join(RUNNING_WORKLOADS)}"
        )
    if not hasattr(_core(), "known_steps"):  # it would predict a filled store
        return (
            f"measure: not modelled: running: the installed package {_WHEEL} is too old; install "
            "the one of this version, or run `make setup` again"
        )
    return None


def _skews_writes() -> bool:
    """Return whether the core models skewed writes. An older one would ignore the parameter."""
    known: Callable[[], list[str]] = getattr(_core(), "known_parameters", list)
    return _WRITE_SKEW in known()


def _too_long(run: Run) -> str | None:
    """Return why a run is too long: no real run of its length was compared with the simulator."""
    load = run.workload
    size = max(_LEAST_MEMTABLE, int(run.knobs.get("write_buffer_size", _WRITE_BUFFER_SIZE)))
    written = (load.client_operations or load.num) * load.threads
    most = MOST_MEMTABLES * size // (load.record_bytes + _ENTRY_BYTES)
    if written <= most:
        return None
    most_num = load.num * most // written
    return (
        f"num: {load.num} is too large for the simulator: the run would fill more than "
        f"{MOST_MEMTABLES} memtables of {format_bytes(size)}; use at most {most_num}, larger "
        "memtables, or a larger scale"
    )


def _line(run: Run) -> str:
    """Return a run as one line of the core's input."""
    told = run.workload.model_dump(include=_OF_LOAD)
    line: dict[str, Any] = {
        "workload": told, "knobs": dict(run.knobs), "version": run.version, "seed": run.seed,
    }  # fmt: skip
    if run.running is not None:
        line["running"] = asdict(run.running)
    if run.probe is not None:
        reads = run.workload.probe_reads(run.probe.reads)
        line["probe"] = {**asdict(run.probe), "reads": reads}
    return json.dumps(line)
