"""The home, or its folder of work directories, is removed while a study runs."""

import shutil
from pathlib import Path

import pytest

from fakes.facts import ENGINE, HOST
from fakes.patience import eventually
from fakes.traces import left_behind
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.store.home import Home
from robustness.user import User, end


def remove(path: Path) -> bool:
    """Remove a folder in which another program writes; whether it is gone."""
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


@pytest.mark.parametrize(("gone", "moved"), [("home", False), ("home", True), ("home/work", False)])
def test_a_study_ends_with_one_sentence_and_makes_nothing_anew(
    tmp_path: Path, gone: str, moved: bool
) -> None:
    user = User.make(tmp_path)
    user.hold.write_text("2")
    running = user.tune("it", 1)
    assert eventually(lambda: user.loads() == 2)
    if moved:
        (tmp_path / gone).rename(tmp_path / "moved")
    assert eventually(lambda: remove(tmp_path / gone))
    user.hold.unlink()
    code, out, err = end(running)
    assert (code, out) == (1, "")
    assert [line for line in err.splitlines() if line.startswith("lsmtune: ")] != []
    assert eventually(lambda: left_behind(user.program) == [])
    assert not (tmp_path / gone).exists()
    if gone == "home/work":
        code, _, err = end(user.tune("it", 1))
        assert code == 0, err
        user.check_clean()


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_stored_in_a_home_that_is_gone(tmp_path: Path, replaced: bool) -> None:
    with Home(tmp_path / "home", create=True) as home:
        study = home.add_study("s", {"study": "s"}, ENGINE, HOST, [])
        (tmp_path / "home").rename(tmp_path / "moved")
        if replaced:
            Home(tmp_path / "home", create=True).__exit__(None, None, None)
        with pytest.raises(LsmtuneError) as error:
            home.update_ended(study, "all trials are done")
        assert not isinstance(error.value, UserError)
        with pytest.raises(LsmtuneError):
            home.check_is_there()
    assert (tmp_path / "home").exists() == replaced
