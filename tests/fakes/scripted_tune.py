"""A study on hosts as a process, so that it can be killed; the engine is scripted.

Arguments: address, folder of the certificates, home, number of trials.
"""

import sys
from pathlib import Path
from typing import Any

from fakes.scripted_host import study_value
from fakes.studies import open_study
from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.connect import connect
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify_contenders
from lsmtune.trials import TrialResult, TrialSpec


def settings(**given: Any) -> StudySettings:
    """Settings of a study whose objective is `study_value`."""
    fast = {
        "study": "s", "objective": "write_amp", "optimizer": "random", "base_runs": 2,
        "repeats": 0, "pairs": 0, "knobs": "block_size,write_buffer_size,max_background_jobs",
    }  # fmt: skip
    return make_spec({**fast, **given}, "test")


def _script(spec: TrialSpec) -> TrialResult:
    return measured(write_amp=study_value(spec))


def tune(home: Path, hosts: Hosts | None, spec: StudySettings) -> list[StoredTrial]:
    """Run the study and return its trials."""
    with (
        Home(home, create=True) as opened,
        open_study(opened, spec, ScriptedEngine(_script), hosts=hosts) as study,
    ):
        run_search(study)
        if spec.pairs:
            verify_contenders(study)
        assert opened.open_runs(study.stored) == []
        return opened.trials(study.stored)


def main(address: str, keys: str, home: str, trials: str) -> None:
    with connect(address, Path(keys), alive_s=0.5) as hosts:
        tune(Path(home), hosts, settings(trials=int(trials)))
    print("done", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LsmtuneError as error:
        sys.exit(f"lsmtune: {error}")
