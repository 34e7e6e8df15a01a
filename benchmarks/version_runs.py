"""Measure random configs on an installed version of RocksDB, to compare the simulator with them.

    .venv/bin/python benchmarks/version_runs.py VERSION --home FOLDER [--accept-noise]
    .venv/bin/python benchmarks/simulator.py
    .venv/bin/python benchmarks/figures.py

First it calibrates the simulator with the library of this version. Then it measures 60 configs of
random_configs.py with LZ4 and 200,000 records: 30 with level and 30 with universal compaction,
around the defaults of the library. It takes about ten minutes. Nothing else may run on the machine.
FOLDER keeps each run at once: an interrupted call continues. Writes results/rocksdb-VERSION.jsonl
and results/rocksdb-VERSION_machine.json.
"""

import argparse
from pathlib import Path

from random_configs import lines

from lsmtune.cli.main import run
from lsmtune.engines.registry import engine_of
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.calibration import calibrated
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results"
CODEC, COUNT, SEED, RECORDS = "lz4", 60, 5, 200_000


def calibrate(version: str, home_path: Path) -> str:
    """Return the calibration as JSON; it is made once for a folder."""
    with Home(home_path, create=True) as home:
        if not home.machine_path.exists():
            machine = calibrated(engine_of(StudySettings(rocksdb=version)), home.work, print)
            home.machine_path.write_text(machine.model_dump_json(indent=2) + "\n")
        return home.machine_path.read_text()


def measure(version: str, home: Path, flags: list[str]) -> None:
    """Measure the configs that are missing; write all runs."""
    batch = home / "configs.jsonl"
    configs = lines(CODEC, COUNT, SEED, Workload(num=RECORDS), version)
    batch.write_text("".join(f"{line.to_json()}\n" for line in configs))
    output = RESULTS / f"rocksdb-{version}.jsonl"
    command = ["screen", "--batch", str(batch), "--rocksdb", version, "--replicated", "0",
               "--jobs", "1", "--home", str(home), "-o", str(output), *flags]  # fmt: skip
    if run(command):
        raise SystemExit(1)


def main() -> None:
    """Calibrate and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--accept-noise", action="store_true")
    asked = parser.parse_args()
    calibration = calibrate(asked.version, asked.home)
    measure(asked.version, asked.home, ["--accept-noise"] if asked.accept_noise else [])
    (RESULTS / f"rocksdb-{asked.version}_machine.json").write_text(calibration)


if __name__ == "__main__":
    main()
