"""Run five studies with different seeds: the verified gain after 16 trials.

    .venv/bin/python benchmarks/five_studies.py HOME

200,000 records of 16 B + 1,024 B, the tree at 1/64, equal memory, compactions on. An interrupted
call continues. Writes benchmarks/results/five_studies.json. Nothing else may run on the machine.
"""

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home

SEEDS = (1, 2, 3, 4, 5)
SHOWN = (
    "write_amp", "sustained_ops_s", "live_sst_bytes", "get_p99_us", "get_missing_p99_us",
    "scan_p99_us", "get_data_blocks", "get_missing_data_blocks", "scan_sorted_runs",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results" / "five_studies.json"


def measure(home: Path, seed: int) -> dict[str, Any]:
    """Run or continue the study of a seed; return the JSON of `show`."""
    name = f"seed-{seed}"
    flags = ["--num", "200000", "--trials", "16", "--seed", str(seed)]
    if run(["tune", *flags, "--study", name, "--home", str(home)]) != 0:
        sys.exit(f"study {name} failed")
    with Home(home, create=False) as opened:
        return show_document(read_study(opened, name))


def summary(studies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return median and range over the studies of each verified ratio, winner / baseline."""
    verified = [s["verification"] for s in studies if s["verification"]]
    ratios = {name: [v["ratios"][name]["median"] for v in verified] for name in SHOWN}
    return {
        "studies": len(studies),
        "claims_of_gain": sum(v["claim"] != "no gain" for v in verified),
        "ratios": {
            name: {"median": median(values), "lowest": min(values), "highest": max(values)}
            for name, values in ratios.items()
        },
    }


def main() -> None:
    """Run all studies and write the results."""
    studies = [measure(Path(sys.argv[1]), seed) for seed in SEEDS]
    document = {"summary": summary(studies), "studies": studies}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(document["summary"], indent=1) + "\n")


if __name__ == "__main__":
    main()
