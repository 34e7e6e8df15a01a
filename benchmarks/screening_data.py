"""Measure the screening data that ships with lsmtune, in src/lsmtune/data/jin2022.

    .venv/bin/python benchmarks/screening_data.py --home FOLDER
    .venv/bin/python benchmarks/screening_data.py --home FOLDER --rocksdb 11.8.1 [--configs N]

The first command measures both modes on db_bench, in about 50 minutes. The second command measures
280 configs, 20 of them twice, with a fixed workload on an installed version of RocksDB. Nothing
else may run on the machine. An interrupted call continues. With --configs, files go into the
folder --home, to try the command.
"""

import argparse
import gzip
import json
import shlex
from pathlib import Path

from lsmtune.cli.main import run
from lsmtune.recipes.jin2022.shipped import Mode, data_name
from lsmtune.store.home import Home

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "lsmtune" / "data" / "jin2022"
COMMON = "screen --num 200000 --memory 1GiB --design sobol --replicated 20"
COMMANDS: dict[Mode, str] = {
    "honest": f"{COMMON} --knobs jin2022 --trials 840 --runs 4 --db-bench db_bench",
    "published": f"{COMMON} --knobs jin2022-published --trials 160 --runs 2 --db-bench db_bench",
}
OF_VERSION, CONFIGS = f"{COMMON} --knobs jin2022 --runs 2", 280


def measure(command: str, name: str, home: Path, folder: Path = DATA) -> None:
    """Measure a screening; write its compressed runs and the facts of the machine to the folder."""
    command = f"{command} --study jin2022-{name}"
    runs = home / f"{name}.jsonl"
    if run([*shlex.split(command), "--home", str(home), "-o", str(runs)]):
        raise SystemExit(1)
    # Without a time, so that the same runs are the same file.
    (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(runs.read_bytes(), mtime=0))
    with Home(home, create=False) as opened:
        study = opened.study(f"jin2022-{name}")
    facts = ("version", "assertions_enabled", "origin")
    about = {
        "command": f"lsmtune {command}",
        "begun": study.created_at,
        "engine": {key: study.engine[key] for key in facts if study.engine[key] is not None},
        "host": {key: value for key, value in study.host.items() if key != "boot_id"},
    }
    (folder / f"{name}.json").write_text(json.dumps(about, indent=2) + "\n")


def main() -> None:
    """Measure both modes on db_bench, or a version of RocksDB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--rocksdb")
    parser.add_argument("--configs", type=int)
    asked = parser.parse_args()
    if asked.rocksdb is None:
        for mode, command in COMMANDS.items():
            measure(command, data_name(mode), asked.home)
        return
    command = f"{OF_VERSION} --trials {asked.configs or CONFIGS} --rocksdb {asked.rocksdb}"
    folder = DATA if asked.configs is None else asked.home
    measure(command, data_name("honest", asked.rocksdb), asked.home, folder)


if __name__ == "__main__":
    main()
