"""Break hosts, links and the command while a study runs, at places chosen from a seed.

    .venv/bin/python benchmarks/hosts_soak.py FOLDER

Three hosts in network namespaces (this needs root) run a study of 60 trials of a scripted engine.
At 30 numbers of stored trials, something breaks: ten times the command is killed, and 20 times a
host is killed, ended, frozen or cut off. A killed or ended worker starts again at once; a frozen
or cut-off host comes back after 2 to 15 s. The scheduler gives up a host that is silent for 5 s.

At the end, no finished trial may be lost, none counted twice, and nothing may be left: each result
that a host has kept must be stored, or be the second result of a stored run. Three seeds, counts
only, so other programs may run. Writes benchmarks/results/hosts_soak.json after every seed and
skips what it contains. FOLDER is a new folder for the studies.
"""

import json
import os
import random
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.host_processes import joined  # noqa: E402 - these modules are not in the package
from fakes.host_site import (  # noqa: E402
    NAMES,
    Faults,
    Site,
    begin,
    check_all_are_stored_once,
    running_site,
)
from fakes.scripted_tune import count, stored  # noqa: E402
from lsmtune.store.home import Home  # noqa: E402
from lsmtune.store.open_runs import run_of  # noqa: E402
from lsmtune.trials import Role  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "hosts_soak.json"
SEEDS = (1, 2, 3)
TRIALS, PLACES, COMMAND_KILLS = 60, 30, 10
REPAIRS = {"freeze": "thaw", "cut": "reconnect"}
BACK_S = (2.0, 15.0)
LEFT_S = 30.0
"""How long after the end of the study a host may still run something, in seconds."""
LIMIT_S = 1200.0


@dataclass
class Plan:
    """What breaks when a number of trials is stored, and what is broken now.

    `broken` has the repair of a host, and when it is due.
    """

    places: list[tuple[int, str, int]]
    chance: random.Random
    broken: dict[int, tuple[float, str]] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_seed(cls, seed: int) -> "Plan":
        """Choose places, faults and hosts."""
        chance = random.Random(seed)  # noqa: S311 - it decides what breaks
        where = sorted(chance.sample(range(1, TRIALS - 2), PLACES))
        faults = ["kill tune"] * COMMAND_KILLS
        faults += [chance.choice(["kill", "end", *REPAIRS]) for _ in range(PLACES - COMMAND_KILLS)]
        chance.shuffle(faults)
        hosts = [chance.randint(1, len(NAMES)) for _ in faults]
        return cls(list(zip(where, faults, hosts, strict=True)), chance)

    @property
    def is_over(self) -> bool:
        """Whether everything was broken and repaired."""
        return not self.places and not self.broken

    def step(self, faults: Faults) -> None:
        """Repair what is due, then break what comes next if its place is reached."""
        for host, (due_s, repair) in list(self.broken.items()):
            if time.monotonic() >= due_s:
                del self.broken[host]
                faults.do(repair, host)
        if not self.places or count(faults.home) < self.places[0][0]:
            return
        _, fault, host = self.places[0]
        if fault != "kill tune" and host in self.broken:
            whole = set(range(1, len(NAMES) + 1)) - set(self.broken)
            if not whole:
                return  # until one of them is repaired
            host = min(whole)
        self.places.pop(0)
        faults.do(fault, host)
        self.done[fault] += 1
        if fault in REPAIRS:
            self.broken[host] = time.monotonic() + self.chance.uniform(*BACK_S), REPAIRS[fault]


def soak(seed: int, folder: Path) -> dict[str, Any]:
    """Return what became of one study."""
    plan, home = Plan.of_seed(seed), folder / "home"
    row: dict[str, Any] = {"seed": seed, "trials": TRIALS, "problems": []}
    began_s = time.monotonic()
    with running_site(folder / "site") as site:
        faults = begin(site, home, TRIALS)
        while faults.tune.popen.poll() is None or not plan.is_over:
            plan.step(faults)
            if time.monotonic() - began_s > LIMIT_S:
                row["problems"].append(f"not done after {LIMIT_S:g} s: {faults.tune.text[-2000:]}")
                return row
            time.sleep(0.05)
        row |= {
            "seconds": round(time.monotonic() - began_s),
            "faults": dict(sorted(plan.done.items())),
        }
        if faults.tune.popen.returncode != 0:
            row["problems"].append(f"the command failed: {faults.tune.text[-2000:]}")
        row["problems"] += _left_on(site)
        waiting: list[str] = []
        try:
            waiting = check_all_are_stored_once(site, home, TRIALS)
        except AssertionError as error:
            row["problems"].append(f"{type(error).__name__}: {error}")
        row |= results(site, home, waiting)
    if row["lost"]:
        row["problems"].append(f"finished trials are lost: {row['lost']}")
    row["problems"] += [f"a process is left: {text}" for text in _processes(folder)]
    return row


def _left_on(site: Site) -> list[str]:
    """Return what hosts still run, or which work folders they have, after some time."""
    limit_s = time.monotonic() + LEFT_S
    problems = ["unknown"]
    with site.cluster.connect() as hosts:
        while problems and time.monotonic() < limit_s:
            infos = joined(hosts, *site.workers)
            problems = [
                f"{info.running} still runs on {info.host}" for info in infos if info.running
            ]
            folders = (path for one in site.workers for path in (one.home / "work").iterdir())
            problems += [f"a folder is left: {path.name}" for path in folders]
            time.sleep(0.5)
    return problems


def results(site: Site, home: Path, waiting: list[str]) -> dict[str, Any]:
    """Return what became of each result that a host has kept, as counts.

    `replaced` are runs that are no trials of the search: if one is lost, a new one replaces it.
    """
    with Home(home, create=False) as opened:
        study = opened.study("s")
        lost_runs = {row.attempt: row for row in opened.lost_runs(study)}
        late = {path.name.removeprefix("late-") for path in opened.evidence.glob("s/*/late-*")}
    trials = {trial.attempt: trial for trial in stored(home)}
    kept = [attempt for worker in site.workers for attempt in worker.kept]
    rest = [one for one in kept if one not in trials and one not in late and one not in waiting]
    replaced = [one for one in rest if one in lost_runs and lost_runs[one].role is not Role.TRIAL]
    return {
        "results_kept_by_hosts": len(kept),
        "stored": sum(attempt in trials for attempt in kept),
        "late_as_evidence": len(late),
        "late_on_hosts": len(waiting),
        "replaced": len(replaced),
        "lost": sorted(set(rest) - set(replaced)),
        "kept_twice": len(kept) - len(set(kept)),
        "stored_twice": len(trials) - len({run_of(attempt or "") for attempt in trials}),
        "lost_attempts": len(lost_runs),
        "lost_s": round(sum(row.lost_s for row in lost_runs.values()), 1),
    }


def _processes(folder: Path) -> list[str]:
    """Return the commands of processes that use the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            text = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in text and entry.parent.name != str(os.getpid()):
                found.append(text)
    return found


def main() -> None:
    """Run the seeds that are missing."""
    if os.geteuid() != 0:
        sys.exit("network namespaces need root")
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for seed in SEEDS:
        if str(seed) in found:
            continue
        folder = Path(sys.argv[1]).absolute() / f"seed-{seed}"
        (folder / "site").mkdir(parents=True)
        found[str(seed)] = soak(seed, folder)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        print(found[str(seed)], flush=True)


if __name__ == "__main__":
    main()
