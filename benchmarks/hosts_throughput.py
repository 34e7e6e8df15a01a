"""Measure how many trials per second many hosts run, compared with one host.

    .venv/bin/python benchmarks/hosts_throughput.py [HOSTS ...]

Hosts are processes on this machine, by default 1, 8 and 32. Each runs trials that sleep for 2 s, so
that they need no CPU. Each number of hosts runs a search with 40 random configs per host. The
throughput is the number of trials, divided by the time from the start of the first trial to the end
of the last one. With 32 hosts, the start of the processes takes minutes and about 4 GB of memory.

Writes benchmarks/results/hosts_throughput.json after each number of hosts and skips what it
contains. Times need a quiet machine; the load before each measurement is stored.
"""

import json
import os
import resource
import sys
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.host_processes import joined, new_cluster  # noqa: E402 - it is not in the package
from fakes.scripted_tune import searched, settings, tune  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "hosts_throughput.json"
TRIAL_S, TRIALS_PER_HOST = 2, 40
KNOBS = (
    "block_size,write_buffer_size,target_file_size_base,max_bytes_for_level_base,bloom_bits,"
    "max_background_jobs,level0_file_num_compaction_trigger,max_bytes_for_level_multiplier"
)
"""Enough configs for all trials."""


def measure(number: int) -> dict[str, float]:
    """Return the trials per second on a number of hosts, and what they cost the commander."""
    with TemporaryDirectory() as folder:
        cluster = new_cluster(Path(folder))
        try:
            cluster.start_scheduler()
            names = [f"host-{index}" for index in range(number)]
            workers = [cluster.start_worker(name, TEST_SECONDS=str(TRIAL_S)) for name in names]
            with cluster.connect(alive_s=20.0) as hosts:
                joined(hosts, *workers)
                load, before_s = os.getloadavg()[0], _cpu_s()
                trials = tune(
                    Path(folder) / "home",
                    hosts,
                    settings(trials=TRIALS_PER_HOST * number, base_runs=1, knobs=KNOBS),
                )
                cpu_s = _cpu_s() - before_s
        finally:
            cluster.end()
    found = searched(trials)
    began_s = min(datetime.fromisoformat(trial.started_at).timestamp() for trial in found)
    ended_s = max(
        datetime.fromisoformat(trial.started_at).timestamp() + trial.duration_s for trial in found
    )
    return {
        "hosts": number,
        "trials": len(found),
        "trials_per_s": round(len(found) / (ended_s - began_s), 4),
        "commander_cpu_ms_per_trial": round(1000 * cpu_s / len(trials), 2),
        "load_before": round(load, 2),
    }


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(asked: list[int]) -> None:
    """Measure what is missing; print all."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for number in asked:
        if str(number) not in found:
            found[str(number)] = measure(number)
            RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    for number, each in found.items():
        times = each["trials_per_s"] / found["1"]["trials_per_s"] if "1" in found else 0.0
        print(
            f"{number} hosts: {each['trials_per_s']:.3f} trials/s, {times:.2f} times one host; "
            f"commander: {each['commander_cpu_ms_per_trial']:.1f} ms of CPU per trial"
        )


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]] or [1, 8, 32])
