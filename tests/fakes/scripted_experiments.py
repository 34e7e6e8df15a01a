"""A screening or an experiment on hosts as a process, so that it can be killed.

The engine is scripted. Arguments: screen or sweep, address, folder of the certificates, home.
"""

import sys
from pathlib import Path
from typing import Any

from fakes.host_processes import Cluster, HostProcess
from fakes.scripted_host import study_value
from fakes.scripted_tune import settings
from fakes.studies import open_study
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.connect import connect
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.screen import screen
from lsmtune.study.sweep import sweep
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec


def screening(**given: Any) -> StudySettings:
    """Settings of a screening of 12 configs, 3 of which run twice."""
    table = {"replicated": 3, "runs": 2}
    return settings(knobs="core", trials=12, early_stop=False, screen=table, **given)


def experiment(**given: Any) -> StudySettings:
    """Settings of an experiment: 9 cells in 2 blocks, so 22 runs in 4 parts."""
    table = {
        "factors": {
            "blocks": {"block_size": [4096, 8192, 16384]},
            "memtables": {"write_buffer_size": ["2MiB", "8MiB", "16MiB"]},
        },
        "repeats": 2,
        "metrics": ["write_amp"],
    }
    return settings(scale="1", memory="1TiB", early_stop=False, sweep=table, **given)


def measure(home: Path, hosts: Hosts | None, spec: StudySettings) -> list[StoredTrial]:
    """Run the screening or the experiment and return its trials; no attempt may be left."""

    def script(spec: TrialSpec) -> TrialResult:
        return measured(write_amp=study_value(spec))

    with (
        Home(home, create=True) as opened,
        open_study(opened, spec, ScriptedEngine(script), hosts=hosts) as study,
    ):
        if spec.screen is not None:
            screen(study, spec.screen)
        elif spec.sweep is not None:
            sweep(study, spec.sweep)
        assert opened.open_runs(study.stored) == []
        return opened.trials(study.stored)


def start_measuring(cluster: Cluster, home: Path, kind: str) -> HostProcess:
    """Start a screening or an experiment on the hosts, or go on with it."""
    program = ["fakes.scripted_experiments", kind, cluster.address, str(cluster.keys), str(home)]
    process = cluster._run("experiment", program, {})
    cluster.workers.append(process)
    return process


def main(kind: str, address: str, keys: str, home: str) -> None:
    """Run it to its end."""
    with connect(address, Path(keys), alive_s=0.5) as hosts:
        measure(Path(home), hosts, screening() if kind == "screen" else experiment())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LsmtuneError as error:
        sys.exit(f"lsmtune: {error}")
