"""Four loads and three complaints, tuned for real: what the how-to pages show.

    .venv/bin/python benchmarks/cases.py HOME [CASE …]

80,000 records of 16 B + 1,024 B, the tree at 1/64, equal memory, 24 trials for each of the four
loads and 16 for each complaint. The winners of the four loads are verified at 1/8 too, on eight
times the records. Resumes; writes benchmarks/results/cases.json and docs/four-loads.html. Nothing
else may run on the machine meanwhile.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.cli.showing import show_document
from lsmtune.store.home import Home

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "cases.json"
OVERVIEW = ROOT / "docs" / "four-loads.html"
RECORDS = 80_000
LARGER = ("1/8", 8 * RECORDS)
LOADS = ("write-heavy", "half-missing", "short-scans", "mixed")


@dataclass(frozen=True, slots=True)
class Case:
    """A study by name: the flags of its `lsmtune tune`, those on size and name aside."""

    name: str
    flags: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The command line behind `lsmtune`."""
        return ["tune", *self.flags, "--num", str(RECORDS), "--study", self.name]


CASES = (
    # The cache is given as it would be for a full-size tree, so that it scales with it.
    Case("write-heavy", ("--workload", "fillrandom", "--cache", "512MiB", "--trials", "24")),
    Case("half-missing", ("--workload", "readhalfmissing", "--cache", "512MiB", "--trials", "24")),
    Case("short-scans", ("--workload", "scanshort", "--cache", "512MiB", "--trials", "24")),
    Case("mixed", ("--workload", "readrandomwriterandom", "--cache", "512MiB", "--trials", "24")),
    Case("stalling-writer", ("--workload", "fillrandom", "--objective", "write_p999_us",
                             "--trials", "16")),
    Case("ssd-wearing-out", ("--workload", "overwrite", "--objective", "write_amp",
                             "--limit", "throughput_ops_s >= 0.9 * base", "--trials", "16")),
    Case("full-disk", ("--workload", "overwrite", "--knobs", "space",
                       "--objective", "live_sst_bytes", "--limit", "throughput_ops_s >= 0.8 * base",
                       "--trials", "16")),
)  # fmt: skip


def measure(case: Case, home: Path) -> dict[str, Any]:
    """Run or resume a study; the JSON of `show` and the command that gives it."""
    flags = ["--home", str(home)]
    if run([*case.command, *flags]) != 0:
        sys.exit(f"study {case.name} failed")
    return {"command": ["lsmtune", *case.command], **_shown(case, home)}


def verify_larger(case: Case, home: Path) -> dict[str, Any]:
    """Verify the winner in a larger tree; what that verification shows."""
    scale, records = LARGER
    flags = ["--scale", scale, "--num", str(records), "--home", str(home)]
    if run(["verify", case.name, *flags]) != 0:
        sys.exit(f"verification of {case.name} failed")
    return next(v for v in _shown(case, home)["verifications"] if v["scale"] == scale)


def _shown(case: Case, home: Path) -> dict[str, Any]:
    with Home(home, create=False) as opened:
        return show_document(read_study(opened, case.name))


def main() -> None:
    """Run the cases that are named, or all, and write what came out."""
    home, wanted = Path(sys.argv[1]), sys.argv[2:]
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for case in (c for c in CASES if not wanted or c.name in wanted):
        results[case.name] = measure(case, home)
        _write(results)
    for case in (c for c in CASES if c.name in LOADS and (not wanted or c.name in wanted)):
        if results[case.name]["best"]:
            results[case.name]["larger"] = verify_larger(case, home)
            _write(results)
    if all(name in results for name in LOADS):
        run(["report", *LOADS, "-o", str(OVERVIEW), "--home", str(home)])


def _write(results: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
