"""Compare the ranks of configs in a screening on two hosts with those on one host.

    .venv/bin/python benchmarks/screen_on_hosts.py HOME

The same 40 configs of fillrandom, with 20,000 records each, run three times on an installed
RocksDB: on one host, on two hosts, and on one host again. The hosts are workers on this machine.
Each has one core, and its own folder for temporary files, so that both run at the same time. The
commander may use any core.

For write_amp and total_s, the correlation of ranks (Spearman) of two hosts with one host must be at
least that of both screenings on one host, less 0.1. Runs on two hosts disturb each other, so
disturbed runs are kept and marked. Times need a quiet machine, write_amp does not: if other
programs used more than 15 % of the CPU in the median run on one host, the order by total_s is not
judged.

Writes benchmarks/results/screen_on_hosts.json after every run. An interrupted call continues in
HOME.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from scipy.stats import spearmanr

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.host_processes import Cluster, HostProcess, joined, new_cluster  # noqa: E402
from lsmtune.api.on_hosts import OnHosts  # noqa: E402
from lsmtune.api.resolve import Request  # noqa: E402
from lsmtune.api.resolve_experiment import resolve_screening  # noqa: E402
from lsmtune.api.screen import screen  # noqa: E402
from lsmtune.progress import Event, Observer  # noqa: E402
from lsmtune.spec import StudySettings  # noqa: E402
from lsmtune.store.records import StoredTrial  # noqa: E402
from lsmtune.system.launch import Streams, start  # noqa: E402
from lsmtune.trials import Role, TrialResult  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "screen_on_hosts.json"
STUDIES = {"one-host": 1, "two-hosts": 2, "one-host-again": 1}
"""The number of hosts of each screening, in the order in which they run."""
METRICS = ("write_amp", "total_s")
VERSION, CONFIGS, RECORDS = "11.8.1", 40, 20_000
MOST_LOST, MOST_OTHERS = 0.1, 15.0
_LSMTUNE = "from lsmtune.cli.main import main; main()"
Row = dict[str, Any]


class Recorder(Observer):
    """Writes the results after every run."""

    def __init__(self, found: dict[str, Any], study: str) -> None:
        self._found = found
        self._study = study
        self._rows: list[Row] = []

    @contextmanager
    def running(self, spec: StudySettings) -> Iterator["Recorder"]:
        """See the runs of the study."""
        yield self

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """Take the runs of earlier calls."""
        self._rows = [row for t in trials if (row := _row(t.role, t.config.hash, t.result, t.host))]
        self._write()

    def __call__(self, event: Event) -> None:
        """Take a run."""
        task, result = event.task, event.result
        if result is not None and (row := _row(task.role, task.config.hash, result, event.host)):
            self._rows.append(row)
            self._write()
            print(f"{self._study}: {len(self._rows)} runs", flush=True)

    def _write(self) -> None:
        self._found["studies"][self._study] = self._rows
        self._found["correlations"] = correlations(**self._found)
        RESULTS.write_text(json.dumps(self._found, indent=1) + "\n")


def _row(role: Role, config: str, result: TrialResult, host: str | None) -> Row | None:
    """Return what is compared of a run; None if it has no metrics."""
    if not result.metrics:
        return None
    names = (*METRICS, "flushes", "others_cpu_percent")
    metrics = {name: result.metrics[name] for name in names if name in result.metrics}
    return {"role": role.value, "config": config, "host": host, **metrics}


def correlations(studies: dict[str, list[Row]], **_: Any) -> dict[str, Any]:
    """Return the correlations of ranks by metric; {} before all screenings have begun."""
    if set(studies) != set(STUDIES):
        return {}
    found = {}
    # On two hosts, a run has the other host as another program.
    alone = (studies[name] for name, hosts in STUDIES.items() if hosts == 1)
    others = max(median(row["others_cpu_percent"] for row in rows) for rows in alone)
    for metric in METRICS:
        values = {
            name: {row["config"]: row[metric] for row in rows if row["role"] == Role.TRIAL}
            for name, rows in studies.items()
        }
        configs = [c for c in values["one-host"] if all(c in of for of in values.values())]
        if len(configs) > 2:  # noqa: PLR2004 - two ranks always agree or disagree fully
            one, two, again = ([values[name][c] for c in configs] for name in STUDIES)
            hosts, repeat = (float(spearmanr(one, other).statistic) for other in (two, again))
            is_judged = metric == "write_amp" or others <= MOST_OTHERS
            found[metric] = {
                "configs": len(configs),
                "two_hosts": round(hosts, 3),
                "again": round(repeat, 3),
                "is_kept": hosts >= repeat - MOST_LOST if is_judged else None,
            }
    return found


def start_worker(cluster: Cluster, core: int) -> HostProcess:
    """Start a worker of lsmtune that may use one core."""
    home = cluster.folder / f"host-{core}"
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    argv = [
        "taskset", "-c", str(core), sys.executable, "-c", _LSMTUNE,
        "worker", cluster.address, "--certificates", str(cluster.keys), "--home", str(home),
    ]  # fmt: skip
    log, given = home.with_suffix(".log"), {**os.environ, "TMPDIR": str(home / "tmp")}
    with Path(os.devnull).open("rb") as nothing, log.open("ab") as output:
        popen = start(argv, home, given, Streams(nothing, output, output))
    worker = HostProcess(home, popen, log)
    cluster.workers.append(worker)
    return worker


def measure(cluster: Cluster, home: Path, study: str, recorder: Recorder) -> None:
    """Run what is missing of a screening."""
    workers = [start_worker(cluster, core) for core in range(STUDIES[study])]
    with cluster.connect(alive_s=20.0) as hosts:
        joined(hosts, *workers)
    keys = {"study": study, "trials": CONFIGS, "rocksdb": VERSION}
    request = Request(keys=keys, workload="fillrandom", num=RECORDS)
    spec = resolve_screening(request, {"replicated": 0}, home).settings
    places = OnHosts(cluster.address, cluster.keys)
    screen(spec, home, recorder, accept_noise=True, hosts=places)
    cluster.end_workers()


def main(home: Path) -> None:
    """Measure what is missing; print the correlations."""
    folder = home / "hosts"
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"version": VERSION, "records": RECORDS, "studies": {}}
    if RESULTS.exists():
        found = json.loads(RESULTS.read_text())
    keys = folder / "keys"
    cluster = Cluster(folder, keys) if keys.exists() else new_cluster(folder)
    try:
        cluster.start_scheduler()
        for study in STUDIES:
            measure(cluster, home / "studies", study, Recorder(found, study))
    finally:
        cluster.end()
    for metric, each in found["correlations"].items():
        kept = {True: "is kept", False: "is lost", None: "is not judged"}[each["is_kept"]]
        print(
            f"{metric}: {each['two_hosts']:.3f} on two hosts, {each['again']:.3f} on one host "
            f"again: the order of {each['configs']} configs {kept}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
