"""Run the four workloads and three complaints of the how-to pages as real studies.

    .venv/bin/python benchmarks/cases.py HOME [CASE …]

Each case is a study file of docs/studies: records of 16 B + 1,024 B, the tree at 1/64, equal
memory. The winners of the four workloads are also verified at 1/8 with eight times the records. An
interrupted call continues. Writes benchmarks/results/cases.json and HOME/results/four-loads.html.
Nothing else may run on the machine.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "cases.json"
STUDIES = ROOT / "docs" / "studies"
LOADS = ("write-heavy", "half-missing", "short-scans", "mixed")
COMPLAINTS = ("stalling-writer", "ssd-wearing-out", "full-disk")
LARGER_SCALE, LARGER_RECORDS = "1/8", 800_000


def measure(case: str, home: Path) -> dict[str, Any]:
    """Run or continue a study; return the JSON of `show` and the command that prints it."""
    file = STUDIES / f"{case}.toml"
    if run(["tune", str(file), "--home", str(home)]) != 0:
        sys.exit(f"study {case} failed")
    command = f"lsmtune tune {file.relative_to(ROOT)}"
    return {"command": command, **_shown(case, home)}


def verify_larger(case: str, home: Path) -> dict[str, Any]:
    """Verify the winner in a larger tree; return the verification."""
    size = ["--scale", LARGER_SCALE, "--num", str(LARGER_RECORDS)]
    if run(["verify", case, *size, "--home", str(home)]) != 0:
        sys.exit(f"verification of {case} failed")
    return next(v for v in _shown(case, home)["verifications"] if v["scale"] == LARGER_SCALE)


def _shown(case: str, home: Path) -> dict[str, Any]:
    with Home(home, create=False) as opened:
        return show_document(read_study(opened, case))


def main() -> None:
    """Run the named cases, or all, and write the results."""
    home = Path(sys.argv[1])
    wanted = [c for c in (*LOADS, *COMPLAINTS) if c in sys.argv[2:] or not sys.argv[2:]]
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for case in wanted:
        results[case] = measure(case, home)
        _write(results)
    for case in (c for c in wanted if c in LOADS and results[c]["best"]):
        results[case]["larger"] = verify_larger(case, home)
        _write(results)
    if all(case in wanted for case in LOADS):
        page = home / "results" / "four-loads.html"
        run(["report", *LOADS, "-o", str(page), "--home", str(home)])


def _write(results: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
