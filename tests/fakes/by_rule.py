"""Results by rule instead of by measurement: the same trial gives the same numbers on any day."""

import zlib
from collections.abc import Callable, Iterable, Mapping

from lsmtune.knobs.families import PLAIN
from lsmtune.metrics.definitions import METRICS, RUNNING
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.testing.scripted import SCRIPTED, ScriptedEngine
from lsmtune.trials import Status, TrialResult, TrialSpec

MIB = 1 << 20
_SIZES = {"bytes": 30.0 * MIB, "s": 12.0, "us": 40.0, "ops/s": 50_000.0, "%": 20.0}
_NOISE = 0.01


def measurement(trial: TrialSpec, names: Iterable[str] = SCRIPTED) -> TrialResult:
    """Return a complete result of a filled store whose metrics follow from settings and seed."""
    usual = (name for name in names if METRICS[name].group != RUNNING)
    metrics = {name: float(f"{_value(name, trial):.6g}") for name in usual}
    metrics |= {"others_cpu_percent": 0.0, "flushes": 100.0}
    return TrialResult(
        status=Status.COMPLETE,
        measurement=Measurement(
            metrics=metrics,
            levels=_levels(metrics["write_amp"]),
            stalls={"total-slowdown": 3, "total-stop": 0},
            engine_version="0.0.0",
            assertions_enabled=False,
            as_run={},
        ),
    )


def engine(
    name: str, options: str = "", script: Callable[[TrialSpec], TrialResult] = measurement
) -> ScriptedEngine:
    """Return a scripted engine with the knobs of the named one."""
    return ScriptedEngine(script, name, options)


def failing(
    statuses: Mapping[int, TrialResult | None],
    script: Callable[[TrialSpec], TrialResult] = measurement,
) -> Callable[[TrialSpec], TrialResult]:
    """Return a script whose n-th run, from 1, ends as given; None is Ctrl-C."""
    count = 0

    def counted(trial: TrialSpec) -> TrialResult:
        nonlocal count
        count += 1
        result = statuses[count] if count in statuses else script(trial)
        if result is None:
            raise KeyboardInterrupt
        return result

    return counted


def _value(name: str, trial: TrialSpec) -> float:
    found = METRICS[name]
    size = _SIZES.get(found.unit, 4.0)
    size *= 1 + _share("size", name)
    factor = _factor(trial)
    cost = factor if found.better == "lower" else 1 / factor
    return size * cost * (1 + _NOISE * _share(name, str(trial.seed), str(trial.settings)))


def _factor(trial: TrialSpec) -> float:
    """How much the settings cost: large blocks, zstd and LevelDB are cheaper."""
    named = {PLAIN.option(name): value for name, value in trial.settings.items()}
    factor = 1.0
    for name in ("block_size", "block-size"):
        if name in named:
            factor *= (4096 / float(named[name])) ** 0.1
    factor *= 0.9 if named.get("compression_type") == "zstd" else 1.0
    return factor * (0.8 if named.get("store") == "leveldb" else 1.0)


def _share(*parts: str) -> float:
    """Return a number from 0 to 1 that the texts decide."""
    return zlib.crc32("\0".join(parts).encode()) / 2**32


def _levels(amp: float) -> tuple[Level, ...]:
    sizes = ((0, 2, 4), (1, 5, 10), (2, 30, 60))
    return tuple(
        Level(
            level=f"L{number}", files=files, size_bytes=size * MIB,
            read_bytes=round(size * amp * MIB), write_bytes=round(size * amp * MIB) + MIB,
            w_amp_table=1.5 if number else None,
        )
        for number, files, size in sizes
    )  # fmt: skip
