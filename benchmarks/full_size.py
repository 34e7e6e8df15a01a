"""Verify the winner of a study of benchmarks/five_studies.py with a full-size tree.

    .venv/bin/python benchmarks/full_size.py HOME [SEED]

The study of the seed (default 1) in HOME found its winner at scale 1/64. This command runs pairs of
winner and baseline at scale 1, with 64 times the records: 12,800,000, about 40 minutes on two
cores. An interrupted call continues. Writes benchmarks/results/full_size.json with the verification
at both scales. Nothing else may run on the machine.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.cli.showing import show_document
from lsmtune.store.home import Home

RECORDS = 64 * 200_000
RESULTS = Path(__file__).parent / "results" / "full_size.json"


def main() -> None:
    """Verify at scale 1 and write the results."""
    home, seed = Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else "1"
    name = f"seed-{seed}"
    scale = ["--scale", "1", "--num", str(RECORDS)]
    code = run(["verify", name, *scale, "--home", str(home)])
    if code != 0:
        sys.exit(code)
    with Home(home, create=False) as opened:
        found: dict[str, Any] = show_document(read_study(opened, name))
    RESULTS.write_text(json.dumps({"records": RECORDS, "study": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
