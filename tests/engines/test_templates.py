"""Built databases: made once, restored by links, never more than there is room for."""

from pathlib import Path

import pytest

from fakes.rig import Rig
from lsmtune.engines.templates import Template, copy_database, restore
from lsmtune.trials import Status
from lsmtune.workloads import Workload


class Builder:
    """Builds a database of two tables, and counts."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, database: Path) -> Template:
        self.built += 1
        database.mkdir()
        for name in ("000001.sst", "CURRENT", "LOG", "OPTIONS-000005", "LOCK"):
            (database / name).write_text(name)
        return Template(metrics={"write_amp": 2.0})


def test_a_database_is_built_once_and_linked(tmp_path: Path) -> None:
    build, folder = Builder(), tmp_path / "templates"
    for name in ("a", "b"):
        assert restore(folder, "key", 0, build, tmp_path / name).metrics == {"write_amp": 2.0}
        assert {p.name for p in (tmp_path / name).iterdir()} == {"000001.sst", "CURRENT"}
    assert build.built == 1
    assert (tmp_path / "a" / "000001.sst").stat().st_nlink == 3  # the template's, a's and b's
    assert (tmp_path / "a" / "CURRENT").stat().st_nlink == 1  # RocksDB writes it anew


def test_one_that_was_cut_off_is_built_again(tmp_path: Path) -> None:
    def fail(database: Path) -> Template:
        database.mkdir()
        raise KeyboardInterrupt

    folder = tmp_path / "templates"
    with pytest.raises(KeyboardInterrupt):
        restore(folder, "key", 0, fail, tmp_path / "a")
    build = Builder()
    restore(folder, "key", 0, build, tmp_path / "b")
    assert build.built == 1


def test_only_the_last_used_ones_are_kept(tmp_path: Path) -> None:
    build, folder = Builder(), tmp_path / "templates"
    for number in range(12):
        restore(folder, f"key{number}", 0, build, tmp_path / f"db{number}")
    assert len(list(folder.iterdir())) == 8
    restore(folder, "key11", 0, build, tmp_path / "again")
    assert build.built == 12
    assert (tmp_path / "db0" / "000001.sst").read_text() == "000001.sst"  # its link outlives it


def test_without_room_all_others_go(tmp_path: Path) -> None:
    build, folder = Builder(), tmp_path / "templates"
    for number in range(3):
        restore(folder, f"key{number}", 1 << 60, build, tmp_path / f"db{number}")
    assert [path.name for path in folder.iterdir()] == ["key2"]


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    (folder / "theirs").mkdir(parents=True)
    (folder / "theirs" / "template.json").write_text("{}")
    restore(folder, "key", 0, Builder(), tmp_path / "a")
    assert (folder / "theirs" / "template.json").is_file()


def test_a_users_database_is_copied_not_linked(tmp_path: Path) -> None:
    source = tmp_path / "source"
    Builder()(source)
    copy_database(source, tmp_path / "copy")
    assert (source / "000001.sst").stat().st_nlink == 1


@pytest.mark.db_bench
def test_trials_of_one_shape_share_the_database(tmp_path: Path) -> None:
    rig = Rig("db_bench", tmp_path)
    load = Workload(name="readrandom", num=5000, operations=200)
    shapes = [{}, {"cache_size": 1 << 20}, {"block_size": 8192}]
    for changes in shapes:
        result = rig.run({**rig.base, **changes}, load).result
        assert result.status is Status.COMPLETE, result.reason
    assert len(list((tmp_path / "templates").iterdir())) == 2
    rig.run(rig.base, load, seed=8)  # another tree of the same shape
    assert len(list((tmp_path / "templates").iterdir())) == 3
