"""Show that a host with half the CPU is recognised, and what it does to a ranking if it is not.

    .venv/bin/python benchmarks/slow_host.py

Needs root, control groups of version 1 or 2, and an installed RocksDB. Three workers on this
machine run fillrandom one after the other, because they share the lock of the host. Control groups
give one core to each, and half a core to the last one.

First, a study of 12 random configs runs on all three: it must set the slow host aside. Then each
host runs the baseline 3 times and 18 random configs once, and the first host runs each config 2
more times. These repeats give the reference ranking. In 1,000 draws, each config is measured by a
host that is drawn. An error of a ranking is a pair of configs in another order than in the
reference. The ranking is that of the time of a run, compared with the baseline of all hosts, with
the baseline of its own host, and without the slow host.

Writes benchmarks/results/slow_host.json after every run and continues with what it contains. Times
need a quiet machine.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from math import log
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil

from lsmtune.engines.libraries.installed import DEFAULT_VERSION
from lsmtune.host_levels import HostLevels
from lsmtune.hosts.commander import Finished, Hosts
from lsmtune.hosts.local import local_hosts
from lsmtune.hosts.task import HostTask
from lsmtune.knobs.types import Config
from lsmtune.progress import Observer
from lsmtune.spec import make_spec
from lsmtune.stats import Interval
from lsmtune.store.home import Home
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.search import search
from lsmtune.study.session import Session

RESULTS = Path(__file__).parent / "results" / "slow_host.json"
HOSTS, SLOW = ("worker-0", "worker-1", "worker-2"), "worker-2"
STUDY_TRIALS, CONFIGS, BASE_RUNS, REPEATS, DRAWS = 12, 18, 3, 2, 1000
METRIC = "total_s"
SETTINGS: dict[str, Any] = {
    "study": "slow", "objective": METRIC, "limits": ["write_amp <= none"], "optimizer": "random",
    "rocksdb": DEFAULT_VERSION, "trials": STUDY_TRIALS, "pairs": 0, "early_stop": False,
    "workload": {"name": "fillrandom", "num": 100_000},
}  # fmt: skip


@contextmanager
def limited(name: str, cores: float) -> Iterator[Path]:
    """Make a control group with this number of cores; yield its file of processes."""
    quota_us, period_us = round(100_000 * cores), 100_000
    second = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    group = Path("/sys/fs/cgroup" if second else "/sys/fs/cgroup/cpu", f"lsmtune-{name}")
    group.mkdir()
    try:
        if second:
            (group / "cpu.max").write_text(f"{quota_us} {period_us}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


@contextmanager
def workers() -> Iterator[Hosts]:
    """Start the workers: all have one core, but the slow one has half a core."""
    with (
        limited("one-core", 1) as usual,
        limited("half-a-core", 0.5) as half,
        local_hosts(len(HOSTS)) as hosts,
    ):
        for child in psutil.Process().children():
            if (name := child.cmdline()[-1]) in HOSTS:
                (half if name == SLOW else usual).write_text(str(child.pid))
        yield hosts


def name_of(host: str) -> str:
    """Return the worker of a stored host, whose name begins with that of the machine."""
    return next(name for name in HOSTS if host.endswith(name))


def run_study(hosts: Hosts, folder: Path) -> dict[str, Any]:
    """Run a study on the hosts; return what it says of each host."""
    spec, observer = make_spec(SETTINGS, "benchmark"), Observer()
    prepared = prepare(spec, folder, observer)
    with (
        Home(folder, create=True) as home,
        open_session(home, prepared, observer, hosts=hosts, accept_noise=True) as session,
    ):
        measure_baseline(session)
        search(session)
        history = session.history
        return {
            name_of(host): {
                "standing": found.kind,
                "ratio": round(found.ratio, 3),
                "trials": sum(run.host == host for run in history.runs),
                "counted": sum(run.host == host and history.counts(run) for run in history.runs),
            }
            for host, found in history.standings.items()
        }


def tasks_of(session: Session) -> dict[str, Config]:
    """Return what each host runs, by a name: the baseline and the configs."""
    rng = np.random.default_rng(session.spec.seed)
    configs = [session.space.sample(rng) for _ in range(CONFIGS)]
    base = {f"base {number}": session.space.default() for number in range(BASE_RUNS)}
    return base | {f"config {number}": config for number, config in enumerate(configs)}


def wanted(tasks: Mapping[str, Config]) -> list[tuple[str, str]]:
    """Return all runs, as host and name, the hosts in turn."""
    again = [
        (HOSTS[0], f"{name} again {number}")
        for number in range(REPEATS)
        for name in tasks
        if name.startswith("config")
    ]
    return [(host, name) for name in tasks for host in HOSTS] + again


def measure(hosts: Hosts, session: Session, found: dict[str, Any]) -> None:
    """Run what is missing, one run after the other; keep the time of each."""
    tasks = tasks_of(session)
    base = session.ground.base
    for host, name in wanted(tasks):
        if name in found["runs"].setdefault(host, {}):
            continue
        address = next(info.address for info in hosts.hosts() if info.host == host)
        spec = session.trial_spec(tasks[name.partition(" again")[0]])
        spec = spec.model_copy(update={"seed": spec.seed + len(found["runs"][host])})
        task = HostTask(
            attempt=f"{host}-{name.replace(' ', '-')}", study="slow",
            engine=session.spec.model_dump(mode="json"), base=base,
            base_settings=spec.base_settings, spec=spec,
        )  # fmt: skip
        hosts.start(address, task)
        (event,) = hosts.wait(600)
        if not isinstance(event, Finished):
            raise SystemExit(f"{host}, {name}: {event.reason}")
        hosts.confirm([task.attempt])
        found["runs"][host][name] = dict(event.result.result.metrics).get(METRIC)
        print(f"{host}, {name}: {found['runs'][host][name]} s", flush=True)
        RESULTS.write_text(json.dumps(found, indent=2) + "\n")


def errors(runs: Mapping[str, Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the share of pairs in the wrong order in each draw, per way to compare."""
    names = [name for name in runs[HOSTS[0]] if name.startswith("config") and "again" not in name]
    names = [n for n in names if all(runs[host].get(n) for host in HOSTS)]
    again = {n: fmean(log(runs[HOSTS[0]][f"{n} again {k}"]) for k in range(REPEATS)) for n in names}
    base = {host: [{METRIC: runs[host][f"base {k}"]} for k in range(BASE_RUNS)] for host in HOSTS}
    levels, rng = HostLevels(base), np.random.default_rng(1)
    found: dict[str, list[float]] = {"all hosts": [], "own host": [], "without": []}
    for _ in range(DRAWS):
        drawn = {name: str(rng.choice(HOSTS)) for name in names}
        normal = {name: str(rng.choice(HOSTS[:2])) for name in names}
        raw = {name: runs[host][name] for name, host in drawn.items()}
        levelled = {
            name: levels.levelled(host, {METRIC: runs[host][name]})[METRIC]
            for name, host in drawn.items()
        }
        usable = {name: runs[host][name] for name, host in normal.items()}
        for way, values in (("all hosts", raw), ("own host", levelled), ("without", usable)):
            found[way].append(wrong_pairs(names, values, again))
    return found


def wrong_pairs(
    names: Sequence[str], values: Mapping[str, float], reference: Mapping[str, float]
) -> float:
    """Return the share of pairs that the values put into another order than the reference."""
    pairs = list(combinations(names, 2))
    wrong = sum((values[a] < values[b]) != (reference[a] < reference[b]) for a, b in pairs)
    return wrong / len(pairs)


def summary(found: Mapping[str, Any]) -> Iterator[str]:
    """Give the lines that say what was measured."""
    for host, each in found["study"].items():
        yield f"{host}: {each['standing']} ({each['ratio']} times), {each['counted']} runs count"
    for way, shares in errors(found["runs"]).items():
        low, high = np.quantile(shares, [0.025, 0.975])
        middle = Interval(median(shares), float(low), float(high))
        yield (
            f"pairs in the wrong order, {way}: {middle.median:.1%} "
            f"(95 % of the draws: {middle.low:.1%} to {middle.high:.1%})"
        )


def main() -> None:
    """Run what is missing; print the summary."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"study": {}, "runs": {}}
    with TemporaryDirectory() as folder, workers() as hosts:
        if not found["study"]:
            found["study"] = run_study(hosts, Path(folder))
            RESULTS.write_text(json.dumps(found, indent=2) + "\n")
        spec, observer = make_spec({**SETTINGS, "study": "runs"}, "benchmark"), Observer()
        prepared = prepare(spec, Path(folder), observer)
        with (
            Home(Path(folder), create=True) as home,
            open_session(home, prepared, observer) as session,
        ):
            measure(hosts, session, found)
    for line in summary(found):
        print(line)


if __name__ == "__main__":
    main()
