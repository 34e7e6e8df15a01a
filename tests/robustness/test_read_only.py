"""A home on a read-only medium can be read in every way; what would write says why it cannot."""

import json
import tempfile
from pathlib import Path

import pytest
from user import User, end, read_only

from fakes.patience import eventually
from lsmtune.cli.main import run

READING = [["show", "s"], ["show", "s", "--json"], ["trials", "s", "--jsonl"],
           ["report", "s", "-o", "page.html"], ["trials", "s", "--csv"]]  # fmt: skip
WRITING = [["tune", "study.toml", "--study", "s"], ["tune", "--study", "new"], ["verify", "s"],
           ["tune", "study.toml", "--study", "s", "--dry-run"]]  # fmt: skip


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    user = User.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("LSMTUNE_DB_BENCH", str(user.program))
    return user


def test_a_study_can_be_read(
    user: User, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, before, err = end(user.tune("s", 3))
    assert code == 0, err
    with read_only(user.home, user.folder / "frozen") as frozen:
        monkeypatch.setenv("LSMTUNE_HOME", str(frozen))
        for arguments in READING:
            assert run(arguments) == 0
            out, err = capsys.readouterr()
            assert (bool(out), err) == (True, "")
        assert run(["show", "s", "--json"]) == 0
        assert capsys.readouterr().out == before
        for arguments in WRITING:
            assert run(arguments) == 2
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert str(frozen) in err


def test_what_was_written_last_can_be_read_too(user: User) -> None:
    """It stands in the write-ahead log while tuning goes on elsewhere, and after a kill."""
    home = user.home
    user.hold.write_text("4")
    running = user.tune("s", 9)
    assert eventually(lambda: user.loads() == 4)
    try:
        for name in ("live", "killed"):
            with read_only(home, user.folder / name) as user.home:
                _, out, err = user.run("trials", "s", "--json")
                assert [row["trial"] for row in json.loads(out)] == [0, 1, 2], err
            running.kill()
            running.wait()
    finally:
        running.kill()
        running.communicate()
