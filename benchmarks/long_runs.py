"""Compare the simulator's write amplification with long real runs: large trees at scale 1/64.

    .venv/bin/python benchmarks/long_runs.py FOLDER

Runs db_bench four times with 3,000,000 records and twice with 10,000,000, two runs at a time. Only
bytes are compared, which do not depend much on other programs. Writes results/long_runs.jsonl
after every run, skips what it contains, and writes the comparison to results/long_runs.json.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from lsmtune.api.simulate import run_of
from lsmtune.batch import BatchLine, as_flags, read_batch
from lsmtune.engines.base import Places, Watch
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.errors import LsmtuneError
from lsmtune.knobs.types import Settings, Value
from lsmtune.simulator import predict
from lsmtune.spec import StudySettings, catalogue_of, without_load
from lsmtune.study.opening import describe
from lsmtune.system.workdir import workdir
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.workloads import Workload

FOLDER = Path(__file__).parent / "results"
RUNS_FILE, RESULTS = FOLDER / "long_runs.jsonl", FOLDER / "long_runs.json"
MEDIUM, LARGE = 3_000_000, 10_000_000
RUNS: tuple[tuple[str, int, dict[str, Value]], ...] = (
    ("defaults", MEDIUM, {}),
    ("zstd, larger memtables", MEDIUM,
     {"compression_type": "zstd", "write_buffer_size": 2 << 20}),
    ("dynamic levels", MEDIUM, {"level_compaction_dynamic_level_bytes": True}),
    ("small multiplier, more jobs", MEDIUM,
     {"max_bytes_for_level_multiplier": 5, "max_background_compactions": 2}),
    ("defaults, large", LARGE, {}),
    ("larger first level, large", LARGE,
     {"max_bytes_for_level_base": 16 << 20, "target_file_size_base": 2 << 20}),
)  # fmt: skip
SCALE = 1 / 64
MB = 1e6
PROTOCOL = Protocol(probe_reads=1000, wall_limit_s=4 * 3600)
AT_ONCE = 2


def settings_of(changes: dict[str, Value]) -> Settings:
    """Return the settings of a run; sizes are those of the tree at scale 1/64."""
    return {**catalogue_of("rocksdb", Workload()).defaults(SCALE), **changes}


def measured(run: tuple[str, int, dict[str, Value]], folder: Path) -> BatchLine:
    """Run db_bench once."""
    name, num, changes = run
    load = Workload(name="fillrandom", num=num)
    engine = RocksDB(DbBench("db_bench"))
    _, ground = describe(StudySettings(workload=load, knobs="compression_type"), engine, folder)
    known = ground.base.settings
    settings = {name: v for name, v in settings_of(changes).items() if name in known}
    trial = TrialSpec(settings=settings, workload=load, protocol=PROTOCOL, seed=1)
    with workdir(folder, "long") as directory:
        watch = Watch(lambda phase: None)
        result = engine.run(trial, ground.base, Places(directory, folder), watch).result
    if not result.metrics:
        raise LsmtuneError(f"{name}: {result.reason}")
    flags = as_flags(without_load(settings), catalogue_of("rocksdb", load))
    return BatchLine(name, load, flags, metrics=result.metrics, seed=1)


def compared(runs: list[BatchLine]) -> list[dict[str, object]]:
    """Return the write amplification of each real run and of its prediction."""
    real = [line for line in runs if line.metrics]
    told = predict(list(map(run_of, real)))
    return [
        {
            "run": line.id,
            "records": line.workload.num,
            "flush_mb": line.metrics["flush_write_bytes"] / MB,
            "real": line.metrics["write_amp"],
            "predicted": prediction.metrics["write_amp"],
            "ratio": prediction.metrics["write_amp"] / line.metrics["write_amp"],
        }
        for line, prediction in zip(real, told, strict=True)
    ]


def main() -> None:
    """Run what is missing and compare all."""
    folder = Path(sys.argv[1]).absolute()
    for place in range(len(RUNS)):
        (folder / str(place)).mkdir(parents=True, exist_ok=True)
    done = read_batch(RUNS_FILE) if RUNS_FILE.is_file() else []
    missing = [run for run in RUNS if run[0] not in {line.id for line in done}]
    with ProcessPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(measured, run, folder / str(n)) for n, run in enumerate(missing)]
        for future in as_completed(waiting):
            with RUNS_FILE.open("a") as file:
                file.write(future.result().to_json() + "\n")
    RESULTS.write_text(json.dumps(compared(read_batch(RUNS_FILE)), indent=2) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
