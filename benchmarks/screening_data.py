"""Measure the screening data that ships with lsmtune, in src/lsmtune/data/jin2022.

    .venv/bin/python benchmarks/screening_data.py --home FOLDER

Takes about 50 minutes if nothing else runs on the machine. An interrupted call continues.
"""

import argparse
import json
import shlex
from pathlib import Path

from lsmtune.cli.main import run
from lsmtune.store.home import Home

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "lsmtune" / "data" / "jin2022"
COMMON = "screen --num 200000 --memory 1GiB --design sobol --replicated 20"
COMMANDS = {
    "honest": f"{COMMON} --knobs jin2022 --trials 840 --runs 4",
    "published": f"{COMMON} --knobs jin2022-published --trials 160 --runs 2",
}


def measure(mode: str, home: Path) -> None:
    """Measure a mode; write its runs and the facts of the machine."""
    command = f"{COMMANDS[mode]} --study jin2022-{mode}"
    runs = DATA / f"{mode}.jsonl"
    if run([*shlex.split(command), "--home", str(home), "-o", str(runs)]):
        raise SystemExit(1)
    with Home(home, create=False) as opened:
        study = opened.study(f"jin2022-{mode}")
    about = {
        "command": f"lsmtune {command}",
        "begun": study.created_at,
        "engine": {key: study.engine[key] for key in ("version", "assertions_enabled")},
        "host": {key: value for key, value in study.host.items() if key != "boot_id"},
    }
    (DATA / f"{mode}.json").write_text(json.dumps(about, indent=2) + "\n")


def main() -> None:
    """Measure both modes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    home = parser.parse_args().home
    for mode in COMMANDS:
        measure(mode, home)


if __name__ == "__main__":
    main()
