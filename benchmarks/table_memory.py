"""Compare the estimated memory of indexes and filters with what RocksDB reports.

    .venv/bin/python benchmarks/table_memory.py [SCALE]

Six configs write random records into a tree at this scale (default 1/8), on RocksDB 11.8.1. The
property rocksdb.estimate-table-readers-mem of the settled tree is compared with the estimate for
its records. Writes results/table_memory.jsonl after every run and skips what it contains. Counts
only, so other programs may run.
"""

import json
import sys
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Places, Watch
from lsmtune.engines.libraries.installed import loaded_library
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.knobs.memory import memory
from lsmtune.knobs.types import Settings
from lsmtune.spaces import full_records, knob_space
from lsmtune.spec import StudySettings, make_spec
from lsmtune.study.opening import describe, rule_of_new
from lsmtune.system.workdir import workdir
from lsmtune.trials import Protocol, TrialSpec

RUNS = Path(__file__).parent / "results" / "table_memory.jsonl"
VERSION = "11.8.1"
WITHIN = 0.1
NUM = {1024: 800_000, 100: 6_000_000, 400: 2_000_000}
"""Records by the size of their values: about 800 MB of user data."""
CONFIGS: list[tuple[int, Settings]] = [
    (1024, {}),
    (1024, {"bloom_bits": 10}),
    (1024, {"bloom_bits": 14, "block_size": 16384, "compaction_style": 1}),
    (100, {"bloom_bits": 10}),
    (100, {"bloom_bits": 16, "use_ribbon_filter": True, "block_size": 8192}),
    (400, {"bloom_bits": 20, "block_size": 2048}),
]


def main() -> None:
    """Run what is missing, and print estimate and measurement of each config."""
    scale = Fraction(sys.argv[1]) if sys.argv[1:] else Fraction(1, 8)
    RUNS.parent.mkdir(exist_ok=True)
    RUNS.touch()
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        for number, (value_size, changes) in enumerate(CONFIGS):
            if not any((r["config"], r["scale"]) == (number, str(scale)) for r in stored()):
                row = {"config": number, "scale": str(scale), "value_size": value_size,
                       "changes": changes}  # fmt: skip
                row |= run(value_size, changes, scale, Path(folder))
                with RUNS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print("| value size | options | estimate | measured | ratio |\n|---|---|---|---|---|")
    for row in (row for row in stored() if row["scale"] == str(scale)):
        ratio = row["estimate_bytes"] / row["measured_bytes"]
        print(f"| {row['value_size']} | {row['changes']} | {row['estimate_bytes']:,} | "
              f"{row['measured_bytes']:,.0f} | {ratio:.3f} |")  # fmt: skip
        if abs(ratio - 1) > WITHIN:
            print("  differs by more than 10 %")


def stored() -> list[dict[str, Any]]:
    """Return the runs that are done."""
    return [json.loads(line) for line in RUNS.read_text().splitlines()]


def run(value_size: int, changes: Settings, scale: Fraction, folder: Path) -> dict[str, float]:
    """Return the estimate and the measurement of one config, in bytes."""
    engine = library_engine(loaded_library(VERSION, None))
    load = {"name": "fillrandom", "num": NUM[value_size], "value_size": value_size}
    spec: StudySettings = make_spec({"workload": load, "scale": str(scale)}, "table memory")
    _, ground = describe(spec, engine, folder, rule_of_new(spec))
    space = knob_space(spec, ground)
    base = space.settings(space.default())
    settings = space.settings(changes)
    trial = TrialSpec(
        settings=settings, base_settings=base, workload=spec.workload, protocol=Protocol(), seed=7
    )
    with workdir(folder, "trial") as directory:
        places = Places(directory, folder / "templates")
        result = engine.run(trial, ground.base, places, Watch(lambda _: None)).result
    if result.reason is not None:
        raise SystemExit(result.reason)
    full = full_records(spec)
    if full is None:
        raise SystemExit("the number of records is unknown")
    here = memory(settings, replace(full, count=full.count * float(scale)))
    return {"estimate_bytes": here.filters + here.indexes,
            "measured_bytes": result.metrics["table_readers_bytes"]}  # fmt: skip


if __name__ == "__main__":
    main()
