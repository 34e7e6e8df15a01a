"""Kill lsmtune at every place of a small study, and at random moments of longer commands.

    .venv/bin/python benchmarks/kills.py FOLDER

Uses a stand-in for db_bench, so it takes no engine and counts no times. For `tune` and for `verify`
it ends the process before the n-th change (a file, a folder, a process, a record), for n = 1, 2, 3
and so on; `screen` and `sweep` are killed at 40 random moments each. After each kill the same
command must complete the study: no finished trial lost, no process and no work folder left. Writes
benchmarks/results/kills.json after every kill and skips what it contains.
"""

import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes import steps  # noqa: E402 - it is not in the package

RESULTS = ROOT / "benchmarks" / "results" / "kills.json"
KILLS, SEED = 40, 20261125
SCREEN = ["screen", "study.toml", "--trials", "12", "--json"]
EXPERIMENT = """\
study = "it"
[workload]
name = "fillrandom"
num = 5000
[protocol]
quiet_s = 0.05
probe_reads = 100
[sweep]
repeats = 2
metrics = ["write_amp"]
[sweep.factors.memtable]
write_buffer_size = ["512KiB", "1MiB"]
[sweep.factors.trigger]
level0_file_num_compaction_trigger = [2, 4]
"""


def places(name: str, folder: Path, known: int) -> Iterator[steps.Place]:
    """Yield what became of the study after a kill at each place that is not known yet."""
    if name in ("tune", "verify"):
        site, command = {"tune": steps.tune_site, "verify": steps.verify_site}[name](folder)
        yield from steps.places(site, command, count(known + 1))
        return
    site, command = steps.tune_site(folder)[0], SCREEN
    if name == "sweep":
        (site.folder / "study.toml").write_text(EXPERIMENT)
        site.save()
        command = ["sweep", "study.toml", "--json"]
    began = time.monotonic()
    whole = site.run(command)
    if whole.code != 0:
        sys.exit(whole.err)
    takes_s = time.monotonic() - began
    moments = np.random.default_rng(SEED).uniform(0, takes_s, KILLS)
    for after_s in moments[known:].tolist():
        yield steps.killed_after(site, command, after_s)


def main() -> None:
    """Do what the module says."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in ("tune", "verify", "screen", "sweep"):
        done = found.setdefault(name, {"complete": False, "kills": 0, "problems": []})
        if done["complete"]:
            continue
        folder = Path(sys.argv[1]) / f"{name}-{done['kills']}"
        for place in places(name, folder, done["kills"]):
            done["kills"] += 1
            if place.problems:
                done["problems"].append(place._asdict())
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        done["complete"] = True
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        print(name, done["kills"], "kills,", len(done["problems"]), "with problems", flush=True)


if __name__ == "__main__":
    main()
