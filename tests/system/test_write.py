"""Files that lsmtune writes: whole or not at all, and never through a planted link."""

import os
import stat
from pathlib import Path

import pytest

from lsmtune.errors import UserError
from lsmtune.system.write import write_whole


def test_a_file_is_written_and_replaced_without_leftovers(tmp_path: Path) -> None:
    for text in ("one", "ü two"):
        write_whole(tmp_path / "x", text)
        assert (tmp_path / "x").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_permissions_of_a_replaced_file_stay(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "x").chmod(0o640)
    write_whole(tmp_path / "x", "new")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_copy_gets_the_permissions_of_the_original(tmp_path: Path) -> None:
    for name, mode in (("original", 0o600), ("x", 0o644)):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(mode)
    for name in ("x", "new"):
        write_whole(tmp_path / name, "text", like=tmp_path / "original")
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a file to any group")
def test_a_copy_gives_no_other_group_what_the_original_does_not(tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.write_text("secret")
    os.chown(original, -1, os.getgid() + 1)
    original.chmod(0o640)
    write_whole(tmp_path / "x", "secret", like=original)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600


def test_a_link_of_the_user_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "x")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "x").read_text() == "new"


@pytest.mark.parametrize("name", ["pipe", "folder", "/dev/null"])
def test_only_regular_files_are_replaced(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    before = (tmp_path / name).stat()
    with pytest.raises(UserError, match="regular file"):
        write_whole(tmp_path / name, "text")
    after = (tmp_path / name).stat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


def test_a_missing_folder_of_the_user_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        write_whole(tmp_path / "no" / "x", "text")
    assert list(tmp_path.iterdir()) == []


def test_a_home_gets_its_folders(tmp_path: Path) -> None:
    write_whole(tmp_path / "results" / "s" / "x", "text", home=tmp_path)
    assert (tmp_path / "results" / "s" / "x").read_text() == "text"


@pytest.mark.parametrize("planted", ["results", "results/s", "results/s/x"])
def test_no_link_inside_a_home_is_followed(tmp_path: Path, planted: str) -> None:
    home, victim = tmp_path / "home", tmp_path / "victim"
    victim.mkdir()
    (victim / "x").write_text("untouched")
    link = home / planted
    link.parent.mkdir(parents=True)
    link.symlink_to(victim / "x" if planted.endswith("x") else victim)
    with pytest.raises(UserError, match="link"):
        write_whole(home / "results" / "s" / "x", "text", home=home)
    assert (victim / "x").read_text() == "untouched"
    assert [path.name for path in victim.iterdir()] == ["x"]


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_text("old")

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="space"):
        write_whole(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
