"""The figures of benchmarks/results/ as the table of docs/measurements/what-to-expect.md.

.venv/bin/python benchmarks/table.py
"""

import json
import sys
from pathlib import Path
from typing import Any

from figures_text import BUILDS, table_text

RESULTS = Path(__file__).parent / "results"
_OLD = "7.8.3"
"""The version of db_bench whose results name no version."""
_RATIOS = {
    "write_amp": "exact write amplification, winner / baseline",
    "sustained_ops_s": "operations per second over load + settle time, winner / baseline",
    "live_sst_bytes": "live space, winner / baseline",
    "get_p99_us": "99th percentile of gets that hit, winner / baseline",
    "get_missing_p99_us": "99th percentile of gets that miss, winner / baseline",
    "scan_p99_us": "99th percentile of scans of 10 records, winner / baseline",
}


def read(name: str) -> Any:
    """Return the recorded results of a benchmark."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def builds() -> str:
    """Return the versions of RocksDB that the table names, with their builds."""
    version = read("five_studies")["studies"][0]["engine_version"]
    return (
        f"We measured with RocksDB {version} {BUILDS[version]}, and with RocksDB {_OLD} "
        f"{BUILDS[_OLD]}"
    )


def table() -> str:
    """Return the table in Markdown; the range in brackets is over the studies."""
    five, false, trial = read("five_studies"), read("false_gains"), read("trial_seconds")
    of_five = (f"RocksDB {five['studies'][0]['engine_version']}", "five_studies.py")
    old = f"RocksDB {_OLD}"
    summary = five["summary"]
    rows = [
        (text, f"{r['median']:.2f} ({r['lowest']:.2f} to {r['highest']:.2f})", *of_five)
        for text, r in ((text, summary["ratios"][name]) for name, text in _RATIOS.items())
    ]
    rows += [
        ("studies that ended in a verified gain",
         f"{summary['claims_of_gain']} of {summary['studies']}", *of_five),
        ("verifications of the baseline against itself that claimed a gain",
         f"{false['claims_of_gain']} of {false['verifications']}", old, "false_gains.py"),
        ("time of a trial in addition to load, settling and reads",
         f"{trial['medians']['beyond_s']:.2f} s", f"RocksDB {trial['version']}",
         "trial_seconds.py"),
        ("time of `tpe` to suggest a config for 80 knobs, after 200 trials (longest of ten)",
         _suggestion("tpe", 80, 200), "no runs", "suggestion_cost.py"),
    ]  # fmt: skip
    heads = ["figure", "median (range)", "measured with", "made by"]
    return table_text(heads, [[*cells, f"`benchmarks/{file}`"] for *cells, file in rows])


def _suggestion(optimizer: str, knobs: int, trials: int) -> str:
    wanted = {"optimizer": optimizer, "knobs": knobs, "trials": trials}
    found = next(row for row in read("suggestion_cost") if wanted.items() <= row.items())
    return f"{1000 * found['median_s']:.0f} ms ({1000 * found['longest_s']:.0f} ms)"


if __name__ == "__main__":
    sys.stdout.write(table())
