"""Verify two winners of benchmarks/simplified_winners.py with larger trees.

    .venv/bin/python benchmarks/larger_scale.py HOME

HOME is that of benchmarks/simplified_winners.py, which must have run. The winner of overwrites runs
at 1/8 of the size, that of gets and puts at 1/32, because its runs take long. It takes about 15
minutes on two cores. An interrupted call continues. Writes benchmarks/results/larger_scale.json.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home

RESULTS = Path(__file__).parent / "results" / "larger_scale.json"
SCALES = {"overwrite-1": "1/8", "mix-2": "1/32"}


def verified(home: Path, study: str, scale: str) -> dict[str, Any]:
    """Verify the winner of a study at a scale; return all its verifications."""
    if run(["verify", study, "--scale", scale, "--home", str(home)]) != 0:
        sys.exit(f"the verification of {study} failed")
    with Home(home, create=False) as opened:
        found = show_document(read_study(opened, study))["verifications"]
    return {"study": study, "verifications": found}


def main() -> None:
    """Verify the winners that have no result yet."""
    if len(sys.argv) != 2:  # noqa: PLR2004 - the home
        sys.exit(__doc__)
    home = Path(sys.argv[1]) / "home"
    done = json.loads(RESULTS.read_text())["found"] if RESULTS.exists() else []
    for study, scale in SCALES.items():
        if any(found["study"] == study for found in done):
            continue
        done.append(verified(home, study, scale))
        RESULTS.write_text(json.dumps({"found": done}, indent=1) + "\n")


if __name__ == "__main__":
    main()
