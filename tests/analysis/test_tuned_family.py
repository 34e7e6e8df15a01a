"""The column family of the user's file that is tuned, and the choice of another one."""

import json
from pathlib import Path

import pytest
from family_dumps import Table, dump
from log_texts import log

from lsmtune.cli.main import run
from lsmtune.engines.rocksdb.own_families import check_default_family, family_notes
from lsmtune.errors import UserError
from lsmtune.metrics.options_file import families_in, parse_options

OPTIONS = """[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1
[DBOptions]
  max_background_jobs=4
[CFOptions "default"]
  {default}
[CFOptions "users"]
  write_buffer_size=8388608
[CFOptions "orders"]
  write_buffer_size=33554432
[TableOptions/BlockBasedTable "orders"]
  block_size=16384
"""
WHOLE = OPTIONS.format(default="write_buffer_size=4194304")
FAMILIES = ("default", "users", "orders")
FULL, EMPTY = Table(8, "99.00 MB"), Table(0, "0.00 KB")


def test_the_families_of_a_file_begin_with_the_tuned_one() -> None:
    assert families_in(WHOLE, "users") == ("users", "default", "orders")
    assert families_in(WHOLE, "none") == families_in("[mysqld]\na=1\n", "default") == ()
    assert families_in("no file", "default") == families_in(None, "default") == ()


def test_a_note_names_the_tuned_family_and_the_flag() -> None:
    (note,) = family_notes(parse_options(WHOLE), "users")
    for word in ("users", "default, orders", "--family"):
        assert word in note
    one = parse_options('[DBOptions]\n[CFOptions "default"]\n  write_buffer_size=1\n')
    assert family_notes(one, "default") == ()
    (alone,) = family_notes(parse_options('[CFOptions "users"]\n  write_buffer_size=1\n'), "users")
    assert "users" in alone
    assert "--family" not in alone


def test_a_family_without_options_is_not_tuned_by_default(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'default' has no options.*users, orders.*family = NAME"):
        check_default_family(OPTIONS.format(default=""), tmp_path / "OPTIONS", "default")
    check_default_family(WHOLE, tmp_path / "OPTIONS", "default")
    alone = '[DBOptions]\n  max_background_jobs=4\n[CFOptions "default"]\n'
    check_default_family(alone, tmp_path / "OPTIONS", "default")


def test_a_family_that_the_log_next_to_the_file_shows_empty_is_not_tuned_by_default(
    tmp_path: Path,
) -> None:
    tables = {"default": EMPTY, "users": FULL, "orders": FULL}
    (tmp_path / "LOG").write_text(log(dump(60, tables), families=FAMILIES))
    with pytest.raises(
        UserError, match=r"LOG: .*'default' has no data.*users \(99 MiB\).*family = NAME"
    ):
        check_default_family(WHOLE, tmp_path / "OPTIONS", "default")
    (tmp_path / "LOG").write_text(log(dump(60, tables | {"default": FULL}), families=FAMILIES))
    check_default_family(WHOLE, tmp_path / "OPTIONS", "default")


def test_a_log_of_another_store_is_not_asked(tmp_path: Path) -> None:
    tables = {"default": EMPTY, "users": FULL}
    (tmp_path / "LOG").write_text(log(dump(60, tables), families=("default", "users")))
    check_default_family(WHOLE, tmp_path / "OPTIONS", "default")
    (tmp_path / "LOG").write_bytes(b"\x00\xff")
    check_default_family(WHOLE, tmp_path / "OPTIONS", "default")


def plan(capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, object]:
    common = ["tune", "--engine", "simulated", "--num", "50000", "--dry-run", "--json"]
    assert run([*common, *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_plan_names_the_tuned_family_and_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, home = tmp_path / "OPTIONS", ["--home", str(tmp_path / "home")]
    path.write_text(WHOLE)
    default = plan(capsys, "--base", str(path), *home)
    assert default["family"] == {"tuned": "default", "others": ["users", "orders"]}
    chosen = plan(capsys, "--base", str(path), "--family", "orders", *home)
    assert chosen["family"] == {"tuned": "orders", "others": ["default", "users"]}
    assert plan(capsys, *home)["family"] is None


def test_the_chosen_family_may_be_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, home = tmp_path / "OPTIONS", ["--home", str(tmp_path / "home")]
    path.write_text(OPTIONS.format(default=""))
    common = ["tune", "--engine", "simulated", "--num", "50000", "--dry-run", *home]
    assert run([*common, "--base", str(path)]) == 2
    assert "--family" in capsys.readouterr().err
    assert run([*common, "--base", str(path), "--family", "default"]) == 0
    assert run([*common, "--base", str(path), "--family", "none"]) == 2


@pytest.mark.parametrize(
    "flags", [["--family", "users"], ["--family", "users", "--workload", "tpcc"]]
)
def test_a_family_without_a_file_is_refused(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = [] if "tpcc" in flags else ["--engine", "simulated"]
    assert run(["tune", "--dry-run", "--home", str(tmp_path), *engine, *flags]) == 2
    assert "family: " in capsys.readouterr().err


def test_the_result_names_the_tuned_family(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, home = tmp_path / "OPTIONS", ["--home", str(tmp_path / "home")]
    path.write_text(WHOLE)
    flags = ["--trials", "2", "--pairs", "0", "--study", "s", "--num", "50000", "--scale", "1/16"]
    asked = ["tune", "--engine", "simulated", "--base", str(path), "--family", "orders"]
    assert run([*asked, *flags, *home]) == 0
    capsys.readouterr()
    assert run(["show", "s", *home, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["family"] == {"tuned": "orders", "others": ["default", "users"]}
    assert run(["show", "s", *home]) == 0
    assert "tuned column family: orders" in capsys.readouterr().out
