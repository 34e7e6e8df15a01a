"""The constants of a machine: what records, bytes, blocks and files take on it.

Those that the core has by default are of the machine that the shipped screening ran on. Another
one is told from a few short runs: what of a second its cores give, its writer, its background
jobs, its reads and how each codec compresses are more or less by a factor of their own, and the
proportions within each stay.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from lsmtune.errors import UserError
from lsmtune.learning.factors import Floats
from lsmtune.simulator.native import Constants, Run, default_constants, is_installed, predict
from lsmtune.system.host import HostFacts

_WRITER = ("put_s", "memtable_s_per_doubling", "wal_s_per_byte")
_BACKGROUND = ("flush_s", "flush_s_per_record", "compaction_s", "compaction_s_per_record", "file_s",
               "read_s_per_byte", "write_s_per_byte", "mmap_write_s_per_byte",
               "block_s")  # fmt: skip
_READS = ("get_s", "scan_s", "next_s", "table_s", "filter_s", "index_s", "run_s", "cached_s",
          "fetch_s", "map_s", "fetch_s_per_byte", "fresh_s_per_byte", "open_s",
          "pause_s")  # fmt: skip
_TOLD_BY = ("load_s", "total_s", "cpu_s", "get_p75_us", "scan_p50_us", "scan_p75_us")
_RUNNING_TOLD_BY = ("capacity_ops_s", "cpu_us_per_op")
"""Metrics that tell how fast a machine is: those of filled stores, and of running stores."""
_USUAL_SPREAD, _UNLIKE = 0.7, 0.3
"""Machines differ by a factor of two or so, and much less in one thing than in another: what the
runs do not tell of is as much slower as all else."""
_RUN_SPREAD = 0.1
_MOST_FACTOR = 20.0
_STEP, _MOST_STEPS = 0.1, 10
_MOST = 1e12
"""Maximum value of a constant."""
_ENDLESS = log(1e9)
_SPEEDS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
"""Of the writer, and of all else: the fit starts from those that tell the runs best."""


class Machine(BaseModel):
    """The constants of a machine as calibrated, which machine it is, and which RocksDB ran."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    cpu_model: str | None
    logical_cpus: int
    calibrated_at: str
    rocksdb: str
    constants: dict[str, Any]

    def is_of(self, host: HostFacts) -> bool:
        """Whether it was calibrated on this host, or on one like it."""
        return (self.cpu_model, self.logical_cpus) == (host.cpu_model, host.logical_cpus)


@dataclass(frozen=True, slots=True)
class Measured:
    """A run that was really made, and its metrics."""

    run: Run
    metrics: Mapping[str, float]


def fitted_constants(measured: Sequence[Measured], cores: int) -> Constants:
    """The constants under which the runs would most nearly have come to what they did."""
    from scipy.optimize import least_squares  # noqa: PLC0415 - every command would wait for it

    codecs = sorted({str(m.run.knobs.get("compression_type", "snappy")) for m in measured})
    usual = {**default_constants(), "cores": float(cores)}
    # Of a tiny load something may be too short to be measured.
    asked = _RUNNING_TOLD_BY if measured[0].run.running is not None else _TOLD_BY
    names = [n for n in asked if all(m.metrics.get(n, 0) > 0 for m in measured)]
    real = np.array([_logarithms(m.metrics, names) for m in measured])
    runs = [m.run for m in measured]
    # What is foretold wrong of one config is wrong of all its runs: together they count as one.
    alike = [sum(run.knobs == other.knobs for other in runs) for run in runs]
    spread = _RUN_SPREAD * np.sqrt(alike)[:, None]

    def off(factors: Floats) -> Floats:
        told = predict(runs, _scaled(usual, codecs, factors))
        apart = (np.array([_logarithms(p.metrics, names) for p in told]) - real) / spread
        share, writer, background, *rest = np.log(factors)
        unlike = np.array([writer, *rest]) - background
        unusual = np.array([share, background]) / _USUAL_SPREAD
        return np.concatenate([apart.ravel(), unusual, unlike / _UNLIKE])

    # What a speed does to queues and stalls is no smooth curve: from afar the fit ends anywhere.
    rest = np.ones(2 + len(codecs))
    starts = (np.array([1.0, w, *(other * rest)]) for w, other in product(_SPEEDS, repeat=2))
    start = min(starts, key=lambda factors: float(np.sum(off(factors) ** 2)))
    found = least_squares(
        off, start, bounds=(1 / _MOST_FACTOR, _MOST_FACTOR), diff_step=[_STEP] * len(start),
        x_scale=0.3, max_nfev=_MOST_STEPS,
    )  # fmt: skip
    return _scaled(usual, codecs, found.x)


def _logarithms(metrics: Mapping[str, float], names: Sequence[str]) -> list[float]:
    if not metrics:  # of a run that would never end on such a machine
        return [_ENDLESS] * len(names)
    return [log(metrics[name]) for name in names]


def _scaled(usual: Constants, codecs: Sequence[str], scales: Floats) -> Constants:
    """The constants, those of each group times their factor."""
    share, writer, background, reads, *of_codecs = scales.tolist()
    factors = dict.fromkeys(_WRITER, writer) | dict.fromkeys(_BACKGROUND, background)
    factors |= dict.fromkeys(_READS, reads) | {"cpu_share": share}
    scaled = {name: value * factors.get(name, 1.0) for name, value in usual.items()
              if name != "codecs"}  # fmt: skip
    compressing = dict(zip(codecs, of_codecs, strict=True))
    scaled["codecs"] = {
        codec: {
            "compress_s_per_byte": speed["compress_s_per_byte"]
            * compressing.get(codec, background),
            # Reads have little else to wait for, and tell it best.
            "decompress_s_per_byte": speed["decompress_s_per_byte"] * reads,
        }
        for codec, speed in usual["codecs"].items()
    }
    return scaled


def load_machine(path: Path, host: HostFacts) -> Machine | None:
    """The machine that the file keeps; None where there is none, or it is of another host.

    UserError when the file cannot be read, or lacks a constant.
    """
    if not path.is_file():
        return None
    try:
        machine = Machine.model_validate(json.loads(path.read_text(encoding="utf-8")))
        if is_installed():
            _check(machine.constants)
    except (OSError, ValueError, ValidationError, RecursionError) as error:
        why = str(error).partition("\n")[0]
        raise UserError(
            f"{path}: cannot read the calibration ({why}); run `lsmtune doctor --calibrate` again"
        ) from None
    return machine if machine.is_of(host) else None


def _check(constants: Constants) -> None:
    """Raise ValueError unless there is a possible number for every constant."""
    given = _flat(constants)
    for name in _flat(default_constants()):
        if name not in given:
            raise ValueError(f"the constant {name} is missing")
        value = given[name]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MOST:
            raise ValueError(
                f"the constant {name} is {value!r}, but must be a number from 0 to {_MOST:g}"
            )


def _flat(constants: Constants, above: str = "") -> Constants:
    """Return the constants of all groups, by dotted names."""
    found: Constants = {}
    for name, value in constants.items():
        told = _flat(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
        found |= told
    return found
