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
from lsmtune.store.database import DATABASE
from lsmtune.store.home import Home
from lsmtune.store.open_runs import run_of
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify_contenders
from lsmtune.trials import Role, Status, TrialResult, TrialSpec


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


def stored(home: Path) -> list[StoredTrial]:
    """The trials of the study; none before it begins."""
    with Home(home, create=False) as opened:
        study = opened.find_study("s")
        return [] if study is None else opened.trials(study)


def searched(trials: list[StoredTrial]) -> list[StoredTrial]:
    """The trials of the search."""
    return [trial for trial in trials if trial.role is Role.TRIAL]


def count(home: Path) -> int:
    """The number of stored trials of the search, also before there is a home."""
    return len(searched(stored(home))) if (home / DATABASE).exists() else 0


def check_once(trials: list[StoredTrial], number: int) -> None:
    """All trials of the search were measured, each config and each run once."""
    found = searched(trials)
    assert len(found) == number
    assert all(trial.result.status is Status.COMPLETE for trial in found)
    assert len({trial.config for trial in found}) == number
    runs = [run_of(trial.attempt or "") for trial in trials]
    assert len(set(runs)) == len(runs)


def main(address: str, keys: str, home: str, trials: str) -> None:
    with connect(address, Path(keys), alive_s=0.5) as hosts:
        tune(Path(home), hosts, settings(trials=int(trials)))
    print("done", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LsmtuneError as error:
        sys.exit(f"lsmtune: {error}")
