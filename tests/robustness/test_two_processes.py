"""Two processes work on one home, one is killed: neither study loses or mixes up anything."""

import json
import signal
from collections import Counter
from pathlib import Path

from user import User, end

from fakes.patience import eventually
from fakes.traces import left_behind
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.trials import Role, Status

TRIALS = 2


def trials(home: Path, name: str) -> list[StoredTrial]:
    if not (home / "lsmtune.sqlite3").exists():
        return []
    with Home(home, create=False) as opened:
        study = opened.find_study(name)
        return opened.trials(study) if study else []


def check_complete(user: User, name: str) -> None:
    kept = trials(user.home, name)
    assert [trial.number for trial in kept] == list(range(len(kept)))
    folders = (user.home / "evidence" / name).iterdir()
    assert sorted(int(folder.name) for folder in folders) == [trial.number for trial in kept]
    counted = [trial for trial in kept if trial.result.status is not Status.DISTURBED]
    assert Counter(t.role for t in counted) == {Role.BASE: 1, Role.TRIAL: TRIALS}
    assert {trial.result.status for trial in counted} == {Status.COMPLETE}


def test_two_studies_on_one_home_and_a_kill(tmp_path: Path) -> None:
    user = User.make(tmp_path)
    running = {name: user.tune(name, TRIALS) for name in ("one", "two")}
    assert eventually(lambda: all(trials(user.home, name) for name in running))
    running["one"].kill()
    assert end(running["one"])[0] in (-signal.SIGKILL, 0)
    before = trials(user.home, "one")
    code, out, err = end(running["two"])
    assert code == 0, err
    assert json.loads(out)["study"] == "two"
    check_complete(user, "two")
    assert trials(user.home, "one") == before
    code, _, err = end(user.tune("one", TRIALS))
    assert code == 0, err
    assert trials(user.home, "one")[: len(before)] == before
    check_complete(user, "one")
    check_complete(user, "two")
    assert eventually(lambda: left_behind(user.program) == [])
    user.check_clean()
