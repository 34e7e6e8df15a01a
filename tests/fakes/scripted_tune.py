"""A study on hosts as a process, so that it can be killed; the engine is scripted.

Arguments: tune or simplify, address, folder of the certificates, home, number of trials, number
of pairs.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakes.scripted_host import study_value
from fakes.studies import open_study
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.connect import connect
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.database import DATABASE
from lsmtune.store.home import Home
from lsmtune.store.open_runs import run_of
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.study.simplify import simplify_winner
from lsmtune.study.verify import verify, verify_contenders
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Simplified, Status, TrialResult, TrialSpec


def settings(**given: Any) -> StudySettings:
    """Settings of a study whose objective is `study_value`."""
    fast = {
        "study": "s", "objective": "write_amp", "optimizer": "random", "base_runs": 2,
        "repeats": 0, "pairs": 0, "knobs": "block_size,write_buffer_size,max_background_jobs,"
        "level0_file_num_compaction_trigger,max_bytes_for_level_base",
    }  # fmt: skip
    return make_spec({**fast, **given}, "test")


def _script(spec: TrialSpec) -> TrialResult:
    return measured(write_amp=study_value(spec))


@contextmanager
def _opened(home: Path, hosts: Hosts | None, spec: StudySettings) -> Iterator[Session]:
    """Open the study; afterwards no attempt may be left."""
    with (
        Home(home, create=True) as opened,
        open_study(opened, spec, ScriptedEngine(_script), hosts=hosts) as study,
    ):
        yield study
        assert opened.open_runs(study.stored) == []


def tune(home: Path, hosts: Hosts | None, spec: StudySettings) -> list[StoredTrial]:
    """Run the study and return its trials."""
    with _opened(home, hosts, spec) as study:
        run_search(study)
        if spec.pairs:
            verify_contenders(study)
        return study.home.trials(study.stored)


def looked_at(home: Path, spec: StudySettings) -> None:
    """Look whether the study has anything left to run; WorkLeft if it has."""
    with _opened(home, None, spec) as study:
        study.only_look()
        run_search(study)


def verified(home: Path, hosts: Hosts | None, spec: StudySettings, pairs: int) -> None:
    """Run so many pairs of the winner of the study."""
    with _opened(home, hosts, spec) as study:
        verify(study, study.spec.scale, study.spec.workload, pairs=pairs)


def simplified(home: Path, hosts: Hosts | None, spec: StudySettings) -> Simplified:
    """Simplify the winner of the study and return what was decided."""
    with _opened(home, hosts, spec) as study:
        simplify_winner(study)
        assert study.stored.simplified is not None
        return study.stored.simplified


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


def main(what: str, address: str, keys: str, home: str, *numbers: str) -> None:
    trials, pairs = numbers
    spec = settings(trials=int(trials), pairs=int(pairs))
    run = tune if what == "tune" else simplified
    with connect(address, Path(keys), alive_s=0.5) as hosts:
        run(Path(home), hosts, spec)
    print("done", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LsmtuneError as error:
        sys.exit(f"lsmtune: {error}")
