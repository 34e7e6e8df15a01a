"""The figures of benchmarks/results/ as the table of docs/measurements/what-to-expect.md.

.venv/bin/python benchmarks/table.py
"""

import json
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
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


def table() -> str:
    """Return the table in Markdown; the range in brackets is over the studies."""
    five, false, over = read("five_studies")["summary"], read("false_gains"), read("overhead")
    rows = [
        (text, f"{r['median']:.2f} ({r['lowest']:.2f} to {r['highest']:.2f})", "five_studies.py")
        for text, r in ((text, five["ratios"][name]) for name, text in _RATIOS.items())
    ]
    rows += [
        ("studies that ended in a verified gain",
         f"{five['claims_of_gain']} of {five['studies']}", "five_studies.py"),
        ("verifications of the baseline against itself that claimed a gain",
         f"{false['claims_of_gain']} of {false['verifications']}", "false_gains.py"),
        ("overhead of a trial, in addition to its load + settle time",
         f"{over['trial_beyond_load_and_settle_s']:.2f} s", "overhead.py"),
        ("time between the end of one db_bench and the start of the next db_bench",
         f"{1000 * over['between_db_benches_s']:.0f} ms", "overhead.py"),
        ("time of `tpe` to suggest a config for 80 knobs, after 200 trials (longest of ten)",
         _suggestion("tpe", 80, 200), "suggestion_cost.py"),
    ]  # fmt: skip
    lines = ["| figure | median (range) | made by |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {a} | {b} | `benchmarks/{c}` |" for a, b, c in rows)]) + "\n"


def _suggestion(optimizer: str, knobs: int, trials: int) -> str:
    wanted = {"optimizer": optimizer, "knobs": knobs, "trials": trials}
    found = next(row for row in read("suggestion_cost") if wanted.items() <= row.items())
    return f"{1000 * found['median_s']:.0f} ms ({1000 * found['longest_s']:.0f} ms)"


if __name__ == "__main__":
    sys.stdout.write(table())
