"""Measure the memory of the command that gives thousands of trials to hosts.

    .venv/bin/python benchmarks/hosts_memory.py FOLDER

Four workers on this machine run a random search of a scripted engine whose trials take no time:
2,000, 4,000 and 10,000 trials, each in a process of its own. The figures are the peak memory of
this process after the search, and after the result and its page were made. Writes
benchmarks/results/hosts_memory.json after each of them and skips what it contains. FOLDER is a new
folder for the studies. Other programs may run; they only make it take longer.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from opened import open_study  # noqa: E402

from fakes.host_processes import joined, new_cluster  # noqa: E402 - it is not in the package
from fakes.scripted_tune import settings  # noqa: E402
from lsmtune.api.study_result import result_of  # noqa: E402
from lsmtune.report.page import render_page  # noqa: E402
from lsmtune.store.home import Home  # noqa: E402
from lsmtune.study.search import run_search  # noqa: E402
from lsmtune.testing.scripted import ScriptedEngine, measured  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "hosts_memory.json"
TRIALS = (2000, 4000, 10_000)
WORKERS = 4
MOST_MB = 500


def peak_mb() -> float:
    """Return the most memory that this process has used so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, 1)


def measure(trials: int, folder: Path) -> dict[str, Any]:
    """Run one study and return its figures."""
    cluster = new_cluster(folder)
    spec = settings(trials=trials, knobs="core")
    try:
        cluster.start_scheduler()
        workers = [cluster.start_worker(f"worker-{n}", TEST_SECONDS="0") for n in range(WORKERS)]
        with cluster.connect() as hosts, Home(folder / "home", create=True) as home:
            joined(hosts, *workers)
            row: dict[str, Any] = {"trials": trials, "mb_before": peak_mb()}
            began_s = time.monotonic()
            engine = ScriptedEngine(lambda _: measured())
            with open_study(home, spec, engine, hosts=hosts) as study:
                run_search(study)
                row |= {"search_s": round(time.monotonic() - began_s), "mb_search": peak_mb()}
                result = result_of(home, study.record)
            render_page(result.view, result.claim)
            return {**row, "mb_page": peak_mb(), "stored": len(result.view.searched)}
    finally:
        cluster.end()


def main() -> None:
    """Measure what is missing, each in a process of its own."""
    folder = Path(sys.argv[1]).absolute()
    if len(sys.argv) > 2:  # noqa: PLR2004 - FOLDER and the number of trials
        print(json.dumps(measure(int(sys.argv[2]), folder)))
        return
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for trials in TRIALS:
        if str(trials) in found:
            continue
        place = folder / str(trials)
        place.mkdir(parents=True)
        done = subprocess.run(
            [sys.executable, __file__, str(place), str(trials)],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        found[str(trials)] = json.loads(done.stdout.splitlines()[-1])
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        print(found[str(trials)], flush=True)
    if found[str(TRIALS[-1])]["mb_page"] > MOST_MB:
        sys.exit(f"more than {MOST_MB} MB")


if __name__ == "__main__":
    main()
