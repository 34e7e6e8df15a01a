"""How much do runs of one config differ, in a running store and in a filled one?

    .venv/bin/python benchmarks/running_noise.py [--runs 20] [--records 200000]

Runs the baseline with three workloads in a running store: overwrites; half gets and half puts; and
70 % gets of which a quarter miss, 10 % scans, 20 % puts. Each run has its own seed. Writes
results/running_noise.jsonl after every run and continues there. Then it writes the standard
deviations of the logs to results/running_noise.json, beside those of a filled store in
results/read_counts.json. A run takes about 20 s on two cores. Nothing else may run on the machine.
"""

import argparse
import json
from collections.abc import Mapping

from running import RESULTS, WORKLOADS, add_row, bed, deviation, rounded, rows

from lsmtune.study.runner import DISTURBED_PERCENT

ROWS, SUMMARY, FILLED = (
    RESULTS / name for name in ("running_noise.jsonl", "running_noise.json", "read_counts.json")
)
WANTED = {
    "live_sst_bytes": 0.02, "write_amp": 0.03, "scan_sorted_runs": 0.07, "get_data_blocks": 0.05,
    "get_missing_data_blocks": 0.05, "write_p99_us": 0.15, "get_p99_us": 0.15,
}  # fmt: skip
"""The largest deviations that fixed limits need."""
ALSO = ("capacity_ops_s", "cpu_us_per_op", "read_cost", "write_p50_us", "get_p50_us",
        "get_missing_p50_us", "scan_p50_us", "scan_p99_us", "peak_space_bytes")  # fmt: skip


def measure(name: str, wanted: int, records: int) -> None:
    """Run the baseline until as many runs are stored as wanted."""
    done = [row for row in rows(ROWS) if (row["workload"], row["records"]) == (name, records)]
    if len(done) >= wanted:
        return
    with bed(WORKLOADS[name], records) as one:
        rate = done[0]["rate"] if done else one.half_rate()
        for run in range(len(done) + 1, wanted + 1):
            while is_disturbed(found := one.run(one.space.default(), run, one.at(rate)).metrics):
                print(f"{name}, run {run}: other programs used the CPU; it runs again", flush=True)
            row = {"workload": name, "records": records, "run": run, "rate": rate}
            add_row(ROWS, {**row, "metrics": rounded(found)})


def is_disturbed(metrics: Mapping[str, float]) -> bool:
    """Return whether a study would repeat the run, because other programs used the CPU."""
    return metrics["others_cpu_percent"] > DISTURBED_PERCENT


def summary() -> dict[str, object]:
    """Return the deviation of each metric by workload, with those of a filled store."""
    stored, names = rows(ROWS), (*WANTED, *ALSO)
    found = {}
    for name in WORKLOADS:
        runs = [row["metrics"] for row in stored if row["workload"] == name]
        deviations = {metric: deviation(metric, runs) for metric in names}
        found[name] = {"runs": len(runs), **{k: v for k, v in deviations.items() if v is not None}}
    filled = json.loads(FILLED.read_text())["deviations"]
    return {"wanted": WANTED, "running": found, "filled": filled}


def main() -> None:
    """Measure, then summarise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--records", type=int, default=200_000)
    given = parser.parse_args()
    for name in WORKLOADS:
        measure(name, given.runs, given.records)
    SUMMARY.write_text(json.dumps(summary(), indent=1) + "\n")


if __name__ == "__main__":
    main()
