"""Options alone are read, and judged by the rules that need only options."""

import json
from pathlib import Path

import pytest

from lsmtune.analysis.inspect.read import inspect_path, inspect_rolled
from lsmtune.cli.main import run
from lsmtune.errors import UserError
from lsmtune.metrics.decimal_points import COMMA_NOTE
from lsmtune.metrics.log_lines import STANDARD_INPUT

HALF_SET = {
    "OPTIONS file": "[Version]\n  rocksdb_version=8.0.0\n[DBOptions]\n  max_background_jobs=16\n"
    '  max_background_flushes=4\n  max_background_compactions=-1\n[CFOptions "cf"]\n'
    "  write_buffer_size=67108864\n",
    "options string": "max_background_jobs=16;max_background_flushes=4;"
    "max_background_compactions=-1;write_buffer_size=64m",
    "my.cnf": "[mysqld]\nrocksdb_max_background_jobs=16\nrocksdb_max_background_flushes=4\n"
    "rocksdb_max_background_compactions=-1\n"
    "rocksdb_default_cf_options=write_buffer_size=64m\n",
    "tikv.toml": "[rocksdb]\nmax-background-jobs = 16\nmax-background-flushes = 4\n"
    'max-background-compactions = -1\n[rocksdb.defaultcf]\nwrite-buffer-size = "64MiB"\n',
}


def test_sizes_of_tikv_are_powers_of_two(tmp_path: Path) -> None:
    path = tmp_path / "tikv.toml"
    path.write_text('[rocksdb.defaultcf]\nwrite-buffer-size = "1GB"\n')
    assert inspect_path(path).family_number("default", "write_buffer_size") == 1 << 30


@pytest.mark.parametrize("kind", HALF_SET)
def test_options_alone_are_judged(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "options"
    path.write_text(HALF_SET[kind])
    found = inspect_path(path)
    assert found.kind == kind
    assert [finding.code for finding in found.findings] == ["half-set-jobs"]
    assert [found.family_number(f, "write_buffer_size") for f in found.families] == [64 << 20]


CHANGED = """[Version]
  rocksdb_version=6.8.1
[DBOptions]
  wal_recovery_mode=kPointInTimeRecovery
[CFOptions "default"]
  write_buffer_size=67108864
  arena_block_size=8388608
  max_bytes_for_level_multiplier=7,500000
  compression=kLZ4Compression
"""


def test_options_that_differ_are_found_by_their_meaning(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text(CHANGED)
    found = inspect_path(path)
    changed = {name: change.value for name, change in found.options_changed.items()}
    assert changed == {"max_bytes_for_level_multiplier": "7.500000",
                       "compression": "kLZ4Compression"}  # fmt: skip
    assert COMMA_NOTE in found.incomplete


def test_options_without_a_known_default_are_listed_unless_they_set_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text(
        CHANGED.replace("  write_buffer", "  compression_per_level=kNoCompression:kZSTD\n"
                        "  comparator=leveldb.BytewiseComparator\n  new_option=17\n"
                        "  sst_partitioner_factory=nullptr\n  write_buffer")
    )  # fmt: skip
    changed = inspect_path(path).options_changed
    assert {name: (change.value, change.default) for name, change in changed.items()} == {
        "compression_per_level": ("kNoCompression:kZSTD", None),
        "new_option": ("17", None),
        "max_bytes_for_level_multiplier": ("7.500000", "10"),
        "compression": ("kLZ4Compression", "kSnappyCompression"),
    }
    path.write_text(CHANGED.replace("  write_buffer", "  compression_per_level=\n  write_buffer"))
    assert "compression_per_level" not in inspect_path(path).options_changed


def test_fields_of_structures_are_compared_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS"
    universal = "  compaction_options_universal={size_ratio=7;min_merge_width=2;}\n  write_buffer"
    path.write_text(CHANGED.replace("  write_buffer", universal))
    changed = inspect_path(path).options_changed
    name = "compaction_options_universal.size_ratio"
    assert (changed[name].value, changed[name].default) == ("7", "1")
    assert "compaction_options_universal.min_merge_width" not in changed


def test_an_unknown_default_is_null_in_json_and_unknown_in_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text(CHANGED.replace("  write_buffer", "  new_option=17\n  write_buffer"))
    assert run(["inspect", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["options_changed"]
    assert told["new_option"] == {"value": "17", "default": None}
    assert run(["inspect", str(path)]) == 0
    row = next(text for text in capsys.readouterr().out.splitlines() if "new_option" in text)
    assert row.split() == ["new_option", "17", "unknown"]


def test_of_an_unknown_version_the_nearest_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text(CHANGED.replace("6.8.1", "4.13.0"))
    found = inspect_path(path)
    assert any("4.13.0" in note and "5.4" in note for note in found.incomplete)


def test_a_damaged_options_file_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text("[DBOptions]\n  no statement\n")
    with pytest.raises(UserError, match=r"OPTIONS: .*line 2"):
        inspect_path(path)


def test_standard_input_is_no_part_of_a_rolled_log() -> None:
    with pytest.raises(UserError, match="standard input"):
        inspect_rolled([STANDARD_INPUT])


def test_a_memtable_of_thousands_of_digits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text(
        CHANGED.replace("write_buffer_size=67108864", f"write_buffer_size={'9' * 5000}")
    )
    assert "write_buffer_size" in inspect_path(path).options_changed
