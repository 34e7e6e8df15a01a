"""Compare the simulator's write amplification with long real runs: large trees at scale 1/64.

    .venv/bin/python benchmarks/long_runs.py > FILE
    .venv/bin/lsmtune screen --batch FILE --accept-noise --home HOME \
        -o benchmarks/results/long_runs.jsonl
    .venv/bin/python benchmarks/long_runs.py benchmarks/results/long_runs.jsonl

The first command prints the runs: four of 3,000,000 records and two of 10,000,000. The second
command runs RocksDB; it writes after every run and resumes. Only bytes are compared, which do not
depend much on other programs. The last command writes results/long_runs.json.
"""

import json
import sys
from pathlib import Path

from lsmtune.batch import BatchLine, as_flags, read_batch
from lsmtune.cli.simulating import run_of
from lsmtune.knobs.types import Value
from lsmtune.simulator import predict
from lsmtune.spec import catalogue_of, without_load
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "long_runs.json"
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


def lines() -> list[BatchLine]:
    """Return the runs; sizes are those of the tree at scale 1/64."""
    found = []
    for name, num, changes in RUNS:
        load = Workload(name="fillrandom", num=num)
        catalogue = catalogue_of("rocksdb", load)
        settings = {**catalogue.defaults(SCALE), **changes}
        found.append(BatchLine(name, load, as_flags(without_load(settings), catalogue)))
    return found


def compared(runs: Path) -> list[dict[str, object]]:
    """Return the write amplification of each real run and of its prediction."""
    real = [line for line in read_batch(runs) if line.metrics and line.id != "base"]
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
    if len(sys.argv) == 1:
        print("\n".join(line.to_json() for line in lines()))
        return
    RESULTS.write_text(json.dumps(compared(Path(sys.argv[1])), indent=2) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
