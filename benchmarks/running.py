"""Runs of configs on a running store, outside of a study, for the benchmarks of this way."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Engine, Places, Watch
from lsmtune.engines.registry import engine_of
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Value
from lsmtune.metrics.measurement import Measurement
from lsmtune.objective import log_deviation
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings, make_spec, without_load
from lsmtune.study.enough_data import with_enough_flushes
from lsmtune.study.opening import describe, rule_of_new
from lsmtune.system.workdir import scratch, workdir
from lsmtune.trials import Running, TrialSpec

RESULTS = Path(__file__).parent / "results"
VERSION = "11.8.1"
WORKLOADS: Mapping[str, Mapping[str, Any]] = {
    "overwrite": {"name": "overwrite"},
    "half": {"name": "mix", "direct_reads": False, "mix": {"get": 0.5, "put": 0.5}},
    "reads": {
        "name": "mix", "direct_reads": False,
        "mix": {"get": 0.525, "get_missing": 0.175, "scan": 0.1, "put": 0.2},
    },
}  # fmt: skip
"""Overwrites; half gets; and 70 % gets, of which a quarter miss, with 10 % scans."""
HALF = 0.5
"""The rate of a running study, as a share of the baseline's capacity."""


class Bed:
    """A RocksDB, a workload and the knobs of its study; runs one config after the other."""

    def __init__(self, spec: StudySettings, engine: Engine, ground: Ground, folder: Path) -> None:
        self.spec = spec
        self.space: KnobSpace = knob_space(spec, ground)
        self._engine = engine
        self._ground = ground
        self._folder = folder

    def at(self, rate: float) -> Running:
        """Return the steps of a trial at a rate, as a study has them."""
        base = without_load(self.space.settings(self.space.default()))
        return with_enough_flushes(Running(rate=rate), self.spec, base)

    def run(self, config: Config, seed: int, steps: Running) -> Measurement:
        """Run a config; SystemExit with the reason of a failed run."""
        trial = TrialSpec(
            settings=without_load(self.space.settings(config)),
            base_settings=without_load(self.space.settings(self.space.default())),
            workload=self.spec.workload,
            protocol=self.spec.protocol,
            seed=seed,
            running=steps,
        )
        with workdir(self._folder, "trial") as directory:
            places = Places(directory, self._folder / "templates")
            watch = Watch(lambda _: None)
            result = self._engine.run(trial, self._ground.base, places, watch).result
        if result.measurement is None:
            raise SystemExit(f"{config}: {result.status}: {result.reason}")
        return result.measurement

    def half_rate(self, seed: int = 1) -> float:
        """Return half of what the baseline can take, in operations per second."""
        found = self.run(self.space.default(), seed, Running(rate=None))
        return float(f"{HALF * found.metrics['capacity_ops_s']:.2g}")

    def config(self, changes: Mapping[str, Value]) -> Config:
        """Return the baseline with changes, with smaller caches if the memory limit needs it."""
        return self.space.legalise({**self.space.default(), **changes})


@contextmanager
def bed(workload: Mapping[str, Any], records: int, **settings: Any) -> Iterator[Bed]:
    """Make a bed whose stores lie in a temporary folder."""
    given = {"rocksdb": VERSION, "workload": {**workload, "num": records}, **settings}
    spec = make_spec(given, "benchmark")
    with scratch() as folder:
        engine = engine_of(spec)
        _, ground = describe(spec, engine, folder, rule_of_new(spec))
        yield Bed(spec, engine, ground, folder)


def rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return metrics with six significant digits, more than their accuracy."""
    return {name: float(f"{value:.6g}") for name, value in metrics.items()}


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows that a benchmark has written so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add_row(path: Path, row: Mapping[str, Any]) -> None:
    """Write the next row."""
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def deviation(name: str, runs: Sequence[Mapping[str, float]]) -> float | None:
    """Return the standard deviation of the log of a metric between runs of one config."""
    found = log_deviation(name, [runs])
    return None if found is None else round(found, 4)
