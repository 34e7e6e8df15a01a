"""Install, tune, verify and export on eight versions of RocksDB, and read the exported file back.

    .venv/bin/python benchmarks/eight_versions.py FOLDER [RECORDS]

Runs the commands of lsmtune for each version: `engines install`, `tune` with 4 trials, `verify` of
a trial that has a filter, `export`. Then that version opens a store with the exported OPTIONS: each
tuned value must be read back as exported, and the filter of its tables must have as many bits as
exported. Writes results/eight_versions.jsonl after every version and skips what it contains; prints
it as a table. FOLDER keeps the studies. Downloads up to 0.8 GB if nothing is installed.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsmtune.engines.base import OwnBase, Places, Watch
from lsmtune.engines.libraries.loaded import loaded_library
from lsmtune.engines.read_back import is_as_wanted
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.engines.rocksdb.driver import Driver
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.option_text import read_value
from lsmtune.knobs.types import Value
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.options_file import parse_options
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "eight_versions.jsonl"
VERSIONS = ("6.29.5", "7.10.2", "8.10.2", "9.11.2", "10.1.3", "10.10.1", "11.1.2", "11.8.1")
RECORDS = 50_000
FILTER = "bloom_bits"
KNOBS = (
    "write_buffer_size", "max_bytes_for_level_base", "level0_file_num_compaction_trigger",
    "target_file_size_base", "compression_type", "block_size", "max_background_jobs", FILTER,
)  # fmt: skip
BITS_OFF = 0.05
"""A filter is rounded up to whole cache lines."""
LSMTUNE = "from lsmtune.cli.main import main; main()"
Row = dict[str, Any]


def main() -> None:
    """Run what is missing, and print the table."""
    folder = Path(sys.argv[1])
    records = int(sys.argv[2]) if len(sys.argv) > 2 else RECORDS  # noqa: PLR2004
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.touch()
    for version in VERSIONS:
        if version not in {row["version"] for row in stored()}:
            row = {"version": version, **tried(version, records, folder)}
            with RESULTS.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print("| version | tuned values | read back otherwise | filter | filter of the tables | s |")
    print("|---|---|---|---|---|---|")
    for row in stored():
        values, seconds = row["exported"], sum(row["seconds"].values())
        cells = (
            row["version"], len(values), row["differing"] or "none", values[FILTER],
            f"{row['bits']:.2f}",
            f"{seconds:.0f}",
        )  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |")


def stored() -> list[Row]:
    """Return the versions that were tried."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def tried(version: str, records: int, folder: Path) -> Row:
    """Run all commands for a version, and read the exported file back."""
    study, file = f"rocksdb-{version}", folder / f"OPTIONS-{version}"
    seconds: dict[str, float] = {}

    def lsmtune(command: str, *words: str) -> str:
        began = time.monotonic()
        argv = [sys.executable, "-c", LSMTUNE, command, *words]
        done = subprocess.run(argv, check=True, text=True, stdout=subprocess.PIPE)
        seconds[command] = time.monotonic() - began
        return done.stdout

    home = ("--home", str(folder / "home"))
    lsmtune("engines", "install", f"rocksdb@{version}")
    lsmtune(
        "tune", "--rocksdb", version, "--num", str(records), "--trials", "4", "--study", study,
        "--knobs", ",".join(KNOBS), "--accept-noise", *home,
    )  # fmt: skip
    trial, config = with_filter(json.loads(lsmtune("trials", study, "--json", *home)))
    lsmtune("verify", study, "--trial", str(trial), "--accept-noise", *home)
    lsmtune("export", study, "--trial", str(trial), "--format", "options", "-o", str(file), *home)
    return {"trial": trial, "config": config, **read_back(version, file, config, records)} | {
        "seconds": seconds
    }


def with_filter(trials: list[Row]) -> tuple[int, dict[str, Value]]:
    """Return number and config of the first complete trial whose tables have a filter."""
    for trial in trials:
        usable = trial["role"] == "trial" and trial["status"] == "complete"
        if usable and trial["config"][FILTER] > 0:
            return trial["trial"], trial["config"]
    raise SystemExit("no trial has a filter")


def read_back(version: str, file: Path, config: Mapping[str, Value], records: int) -> Row:
    """Open a store with the exported file; return what was exported and what is in force."""
    driver = Driver(loaded_library(version, None))
    text = file.read_text()
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        ran = parse_options(driver.as_run(text, Path(folder))).sections
        bits = filter_bits(RocksDB(driver), text, records, Path(folder))
    given = parse_options(text).sections
    knobs = [knob for knob in load("rocksdb").knobs if knob.name in config]
    exported = {knob.name: read_value(knob, given) for knob in knobs}
    # RocksDB 6 does not write down the bits of a filter.
    in_force = {knob.name: read_value(knob, ran) for knob in knobs if knob.name != FILTER}
    differing = {
        name: (wanted, in_force[name])
        for name, wanted in exported.items()
        if name != FILTER and (wanted is None or not is_as_wanted(name, wanted, in_force[name]))
    }
    wanted = exported[FILTER]
    if not isinstance(wanted, int) or abs(bits - wanted) > BITS_OFF * wanted:
        differing[FILTER] = (wanted, bits)
    return {"exported": exported, "differing": differing, "bits": bits}


def filter_bits(engine: RocksDB, text: str, records: int, folder: Path) -> float:
    """Return the bits per key of the filters that a trial with these options has written."""
    work = folder / "work"
    work.mkdir()
    base = engine.base(engine.describe(work), OwnBase(text, "default"), work)
    trial = TrialSpec(
        settings={}, base_settings={}, workload=Workload(name="fillseq", num=records),
        protocol=Protocol(probe_reads=100), seed=1,
    )  # fmt: skip
    outcome = engine.run(trial, base, Places(work, folder / "templates"), Watch(lambda _: None))
    if outcome.result.reason is not None:
        raise SystemExit(outcome.result.reason)
    tables = [
        json.loads(line.partition("EVENT_LOG_v1 ")[2])
        for line in read_lines(outcome.evidence["LOG"], [])
        if '"table_file_creation"' in line
    ]
    sums = [
        sum(t["table_properties"][key] for t in tables) for key in ("filter_size", "num_entries")
    ]
    return float(8 * sums[0] / sums[1])


if __name__ == "__main__":
    main()
