"""A full disk stops tuning with one sentence; nothing is lost, and with space again it goes on."""

import errno
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from user import User, disk, end, fill

from fakes.facts import ENGINE, HOST
from fakes.patience import eventually
from fakes.rig import Rig
from lsmtune.errors import LsmtuneError
from lsmtune.knobs.types import Config
from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial
from lsmtune.testing.scripted import measured
from lsmtune.trials import Protocol, Role, Status, TrialSpec
from lsmtune.workloads import Workload

MIB = 1 << 20
LEFT_BYTES = [0, 150_000]
"""Enough for nothing, and for the work directory of a trial but not for all of its evidence."""
WORDS = (os.strerror(errno.ENOSPC), "full", "free")


def check_intact(home: Path) -> None:
    with closing(sqlite3.connect(home / "lsmtune.sqlite3")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_tuning_stops_and_goes_on(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 40 * MIB) as place:
        user = User.make(tmp_path, place / "home")
        for left_bytes in LEFT_BYTES:
            loads = user.loads() + 1
            user.hold.write_text(str(loads))
            running = user.tune("s", 8)
            assert eventually(lambda loads=loads: user.loads() == loads)  # type: ignore[misc]
            ballast = fill(place, left_bytes)
            user.hold.unlink()
            code, out, err = end(running)
            assert (code in (1, 2), out) == (True, ""), err
            last = err.splitlines()[-1]
            assert last.startswith("lsmtune: ")
            assert any(word in last for word in WORDS), last
            code, _, err = user.run("show", "s", "--json")
            assert code == 0, err
            ballast.unlink()
            check_intact(user.home)
            user.check_clean()
        code, out, err = end(user.tune("s", 2))
        assert code == 0, err
        assert json.loads(out)["trials"]["total"] == 2
        user.check_clean()
        check_intact(user.home)


def test_a_disk_that_is_too_small_is_refused_before(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 10 * MIB) as place:
        user = User.make(tmp_path, place / "home")
        code, out, err = end(user.tune("s", 2))
        assert (code, out, user.loads()) == (2, "", 0)
        assert "19.84 MiB" in err


def test_what_cannot_be_kept_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    config = Config({"block_size": 4096})
    spec = TrialSpec(settings=dict(config), workload=Workload(), protocol=Protocol(), seed=1)
    trial = NewTrial(Role.TRIAL, config, spec, measured(), "2026-01-01T00:00:00+00:00", 1.0)
    with (
        disk(tmp_path / "disk", 2 * MIB) as place,
        Home(place / "home", create=True) as home,
    ):
        study = home.add_study("s", {}, ENGINE, HOST, [])
        kept = 0
        ballast = fill(place, 100_000)

        def keep_until_full() -> None:
            nonlocal kept
            while True:
                home.add_trial(study, trial, {})
                kept += 1

        with pytest.raises(LsmtuneError, match=r"full|No space left"):
            keep_until_full()
        assert len(home.trials(study)) == kept > 0
        ballast.unlink()
        home.sweep_evidence(study)
        assert home.add_trial(study, trial, {}).number == kept
        check_intact(home.path)


@pytest.mark.db_bench
def test_the_real_db_bench_runs_out_of_space(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 6 * MIB) as place:
        result = Rig("db_bench", place).run().result
    # A build with assertions may abort in a background thread before anything is said.
    assert result.status in (Status.OUT_OF_SPACE, Status.CRASHED)
    assert result.reason
