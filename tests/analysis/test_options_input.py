"""Options alone are read, and judged by the rules that need only options."""

import json
from pathlib import Path

import pytest

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.read import inspect_path, inspect_rolled
from lsmtune.cli.inspect_lines import inspect_lines
from lsmtune.cli.main import run
from lsmtune.errors import UserError
from lsmtune.knobs.option_files import foreign_kind
from lsmtune.metrics.log_lines import STANDARD_INPUT
from lsmtune.metrics.options_file import COMMA_NOTE

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


GIVEN = {
    "options string": ("max_open_files=9,write_buffer_size=8M", {
        "max_open_files": "9", "write_buffer_size": str(8 << 20)}),
    "a key": ("[osd]\nx_options = compression_opts={level=3;max_dict_bytes=0}\n", {
        "compression_opts.level": "3", "compression_opts.max_dict_bytes": "0"}),
    "OPTIONS file by hand": (
        '[DBOptions]\n  max_open_files=9\n[CFOptions "a"]\n  ttl=7\n[CFOptions "b"]\n  ttl=8\n',
        {"max_open_files": "9", "a.ttl": "7", "b.ttl": "8"}),
    "my.cnf": ("[mysqld]\nrocksdb_max_open_files=9\nrocksdb_default_cf_options=ttl=7\n", {
        "max_open_files": "9", "ttl": "7"}),
    "tikv.toml": ('[rocksdb.writecf]\nwrite-buffer-size = "8MB"\n', {
        "write_buffer_size": str(8 << 20)}),
    "arangod.conf": (
        "[log]\nlevel = info\n[rocksdb]\nlevel0-stop-trigger = 40 # files\nblock-cache-size = 1G\n"
        "bloom-filter-bits-per-key = 12\n# dynamic-level-bytes = true\n", {
            "level0_stop_writes_trigger": "40", "block_cache_capacity": str(1 << 30),
            "filter_policy": "bloomfilter:12:false"}),
}  # fmt: skip


@pytest.mark.parametrize("case", GIVEN)
def test_without_a_version_the_options_that_are_given_are_listed(case: str, tmp_path: Path) -> None:
    text, expected = GIVEN[case]
    path = tmp_path / "options"
    path.write_text(text)
    found = inspect_path(path)
    assert found.options_given == expected
    assert inspection_document(found)["options_given"] == expected
    printed = "\n".join(inspect_lines([found]))
    assert all(name in printed for name in expected)


def test_two_files_are_shown_by_their_own_options(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("max_open_files=9;ttl=7")
    second.write_text("max_open_files=9,num_levels=5")
    printed = [line.split() for line in inspect_lines([inspect_path(first), inspect_path(second)])]
    assert ["ttl", "7", "s", "not", "set"] in printed
    assert ["num_levels", "not", "set", "5"] in printed
    assert "max_open_files" not in [words[0] for words in printed if words]


def test_with_a_version_only_changed_options_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "OPTIONS"
    path.write_text(CHANGED)
    assert inspect_path(path).options_given == {}
    assert inspection_document(inspect_path(path))["options_given"] is None


@pytest.mark.parametrize(
    "text",
    ["write_bufer_size=8M;max_open_files=9",
     '[DBOptions]\n  max_open_files=9\n[CFOptions "default"]\n  write_bufer_size=8\n',
     "[mysqld]\nrocksdb_default_cf_options=write_bufer_size=8m;ttl=9\n"],
)  # fmt: skip
def test_an_option_that_no_rocksdb_has_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "options"
    path.write_text(text)
    assert any("write_bufer_size" in note for note in inspect_path(path).incomplete)
    path.write_text(text.replace("write_bufer_size", "write_buffer_size"))
    assert not any("write_buffer_size" in note for note in inspect_path(path).incomplete)


def test_families_of_mariadb_have_the_options_of_all(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(
        "[mysqld]\nrocksdb_override_cf_options=a={max_write_buffer_number=5}\n"
        "rocksdb_default_cf_options=write_buffer_size=8m;max_write_buffer_number=3\n"
    )
    assert inspect_path(path).memtable_bytes == (8 << 20) * (3 + 5)


REFUSED = {
    "prose": "Our store is slow.\n",
    "pairs of something else": "colour=red;size=7\n",
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_lists_all_kinds_of_input(case: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(REFUSED[case])
    with pytest.raises(UserError) as refused:
        inspect_path(path)
    kinds = ("LOG", "statistics dump", "db_bench", "MyRocks", "report.tsv", "OPTIONS file",
             "options string", "my.cnf", "tikv.toml", "arangod.conf")  # fmt: skip
    assert [kind for kind in kinds if kind not in str(refused.value)] == []


FOREIGN = {
    "Pebble": "[Version]\n  pebble_version=0.1\n\n[Options]\n  cache_size=8388608\n"
    '[Level "0"]\n  block_size=4096\n',
    "LevelDB": "LevelDB:    version 1.22\nKeys:       16 bytes each\nEntries:    1000000\n"
    "fillrandom   :       4.120 micros/op;   26.8 MB/s\n",
    "Flink": "taskmanager.numberOfTaskSlots: 4\nstate.backend: rocksdb\n",
    "kvrocks": "port 6666\nworkers 8\nrocksdb.max_open_files 8096\n",
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_files_of_others_are_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(text)
    told = foreign_kind(text)
    assert told is not None
    with pytest.raises(UserError) as refused:
        inspect_path(path)
    assert told in str(refused.value)


FOREIGN_LOG = (
    "2025/01/02-03:04:05.678901 7f10 Recovering log #3\n"
    "2025/01/02-03:04:05.678902 7f10 Level-0 table #5: started\n"
)


def test_a_log_of_leveldb_is_named(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(FOREIGN_LOG)
    with pytest.raises(UserError, match="LevelDB"):
        inspect_path(path)


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
