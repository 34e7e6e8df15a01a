"""Verify the winner of a study of benchmarks/five_studies.py with a full-size tree.

    .venv/bin/python benchmarks/full_size.py HOME SEED [RECORDS]

The study of the seed in HOME found its winner at scale 1/64. This command runs pairs of winner and
baseline with the options of the exported file, at scale 1. With 64 times the records (12,800,000,
the default) the tree has its full size; it takes about 40 minutes on two cores. With fewer records,
memtables, files and caches have their full size, and the tree has fewer files. An interrupted call
continues. Writes benchmarks/results/full_size.json with the verification at both scales. Nothing
else may run on the machine.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home

RECORDS = 64 * 200_000
RESULTS = Path(__file__).parent / "results" / "full_size.json"


def main() -> None:
    """Verify at scale 1 and write the results."""
    home, seed = Path(sys.argv[1]), sys.argv[2]
    records = int(sys.argv[3]) if sys.argv[3:] else RECORDS
    name = f"seed-{seed}"
    scale = ["--scale", "1", "--num", str(records)]
    code = run(["verify", name, *scale, "--home", str(home)])
    if code != 0:
        sys.exit(code)
    with Home(home, create=False) as opened:
        found: dict[str, Any] = show_document(read_study(opened, name))
    RESULTS.write_text(json.dumps({"records": records, "study": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
