"""The native core, which is a wheel of its own: `lsmsim`, from native/."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lsmtune.errors import UserError
from lsmtune.knobs.types import Value
from lsmtune.workloads import Workload

_WHEEL = "lsmsim"
MODELLED_VERSION = "7.8.3"
"""The RocksDB whose sources the core follows."""
_OF_LOAD = {"name", "num", "operations", "key_size", "value_size", "threads",
            "compression_ratio"}  # fmt: skip
"""What the core knows of a load; everything else has to be left as it is by default."""


Constants = dict[str, Any]
"""Those of a machine: seconds, bytes a second, and for each codec its own (see machine.rs)."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The reads behind a load: so many gets that hit, gets that miss, and scans of some records."""

    reads: int
    scan_length: int


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be predicted: values are those of db_bench's flags, others at its defaults.

    Without a `probe` no latencies of reads are told.
    """

    workload: Workload
    knobs: Mapping[str, Value]
    seed: int = 1
    probe: Probe | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """The metrics that the run would have, by name; or why none can be told.

    A run that `hangs` would never end: writes are stopped, and nothing is left to compact.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    hangs: bool = False


_NOT_SIMULATED = Prediction(
    error=f"the load has parameters that are not simulated; known are {', '.join(sorted(_OF_LOAD))}"
)


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
    lines = [_asked(run) for run in runs]
    answers = iter(core.simulate_lines([a for a in lines if a is not None], _machine(constants)))
    return [
        _NOT_SIMULATED if asked is None else Prediction(**json.loads(next(answers)))
        for asked in lines
    ]


def recorded(run: Run, constants: Constants | None = None, frames: int = 600) -> dict[str, Any]:
    """The run as a film of so many frames at most: the document of the core's `Recording`.

    UserError for a run that cannot be told.
    """
    core, line = _core(), _asked(run)
    if line is None:
        raise UserError(str(_NOT_SIMULATED.error))
    try:
        film: dict[str, Any] = json.loads(core.record_line(line, _machine(constants), frames))
    except ValueError as error:
        raise UserError(f"the run cannot be simulated: {error}") from None
    return film


def _machine(constants: Constants | None) -> str:
    return json.dumps(default_constants() if constants is None else constants)


def _core() -> Any:
    if not is_installed():
        raise UserError(
            "the simulator is not installed; with Rust's cargo at hand, `make setup` builds it"
        )
    return import_module(_WHEEL)


def _asked(run: Run) -> str | None:
    load = run.workload.model_dump(exclude_defaults=True)
    if load.keys() - _OF_LOAD:
        return None
    told = run.workload.model_dump(include=_OF_LOAD)
    line = {"workload": told, "knobs": dict(run.knobs), "seed": run.seed}
    if run.probe is not None:
        most = run.workload.client_operations or run.probe.reads
        line["probe"] = {**asdict(run.probe), "reads": min(run.probe.reads, most)}
    return json.dumps(line)
