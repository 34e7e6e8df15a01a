"""Measure random configs on a running store, to compare the simulator with them.

    .venv/bin/python benchmarks/running_trials.py [COUNT]
    .venv/bin/python benchmarks/running_simulator.py

The configs are random ones of the default knobs, without blob files. The workload is overwrite with
200,000 records, at half of what the baseline can take. A trial takes about 20 seconds; by default
there are 60. Nothing else may run on the machine. Writes results/running.jsonl, in the batch
format, after each trial; an interrupted call continues.
"""

import json
import sys
from pathlib import Path

import numpy as np
from running import RESULTS, VERSION, Bed, add_row, bed, rounded, rows

from lsmtune.batch import BatchLine, as_flags
from lsmtune.knobs.types import Config, Value
from lsmtune.simulator import UNMODELLED_KNOBS
from lsmtune.spec import catalogue_of, without_load
from lsmtune.trials import Running

TRIALS = RESULTS / "running.jsonl"
COUNT, SEED, RECORDS = 60, 5, 200_000


def flags(store: Bed, config: Config) -> dict[str, Value]:
    """Return the knobs of a config as flags of db_bench."""
    catalogue = catalogue_of(store.spec.engine, store.spec.workload)
    return as_flags(without_load(store.space.settings(config)), catalogue)


def measure(store: Bed, count: int, path: Path) -> None:
    """Measure the configs that are missing; a failed one has its error."""
    done = rows(path)
    rate = done[0]["rate"] if done else store.half_rate()
    rng = np.random.default_rng(SEED)
    base = flags(store, store.space.default())
    for number in range(count):
        config = store.space.sample(rng)
        config = Config({**config, **dict.fromkeys(UNMODELLED_KNOBS & set(config), False)})
        if number < len(done):
            continue
        steps, knobs = Running(rate=rate), flags(store, config)
        metrics, error = {}, None
        try:
            metrics = rounded(store.run(config, number + 1, steps).metrics)
        except SystemExit as failed:
            error = str(failed)
        line = BatchLine(
            str(number), store.spec.workload, knobs, metrics, error, number + 1,
            rocksdb=VERSION, running=steps, base=base,
        )  # fmt: skip
        add_row(path, json.loads(line.to_json()))
        print(number, error or metrics.get("overload"), flush=True)


def main() -> None:
    """Measure all configs."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with bed({"name": "overwrite"}, RECORDS) as store:
        measure(store, count, TRIALS)


if __name__ == "__main__":
    main()
