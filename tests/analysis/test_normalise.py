"""Options of files as RocksDB runs them: what the rules see, and what is shown."""

from pathlib import Path

import pytest

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.normalise import normalised
from lsmtune.analysis.inspect.read import inspect_path

KINDS = {
    "OPTIONS file": '[Version]\n  rocksdb_version=7.2.2\n[DBOptions]\n[CFOptions "default"]\n'
    "  {}\n",
    "options string": "{}",
    "my.cnf": "[mysqld]\nrocksdb_default_cf_options={}\n",
    "tikv.toml": "[rocksdb.defaultcf]\n{}\n",
}
MEMTABLES = "write_buffer_size=8388608{0}max_write_buffer_number={1}"


def inspected(kind: str, tmp_path: Path, number: int) -> Inspection:
    separator = {"OPTIONS file": "\n  ", "tikv.toml": "\n"}.get(kind, ";")
    told = MEMTABLES.format(separator, number)
    if kind == "tikv.toml":
        told = told.replace("_", "-")
    path = tmp_path / "options"
    path.write_text(KINDS[kind].format(told))
    return inspect_path(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "runs"), [(1, 2), (2, 2), (5, 5)])
def test_memtables_are_those_that_rocksdb_runs(
    kind: str, number: int, runs: int, tmp_path: Path
) -> None:
    found = inspected(kind, tmp_path, number)
    assert found.kind == kind
    assert found.memtable_bytes == runs * (8 << 20)
    assert found.options["default"]["max_write_buffer_number"] == str(number)


def test_the_options_that_are_shown_are_those_of_the_file(tmp_path: Path) -> None:
    changed = inspection_document(inspected("OPTIONS file", tmp_path, 1))["options_changed"]
    assert changed["max_write_buffer_number"] == {"value": "1", "default": "2"}
    given = inspection_document(inspected("options string", tmp_path, 1))["options_given"]
    assert given["max_write_buffer_number"] == "1"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("triggers-contradict", "level0_file_num_compaction_trigger=8;"
         "level0_slowdown_writes_trigger=-1;level0_stop_writes_trigger=36"),
        ("merge-number-ignored", "max_write_buffer_number=3;min_write_buffer_number_to_merge=3"),
        ("soft-above-hard", "soft_pending_compaction_bytes_limit=9G;"
         "hard_pending_compaction_bytes_limit=8G"),
    ],
)  # fmt: skip
def test_contradictions_that_rocksdb_removes_are_still_found(
    code: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "options"
    path.write_text(text)
    assert code in [finding.code for finding in inspect_path(path).findings]


def changes(version: str | None = "7.2.2", **told: str) -> dict[str, str]:
    """The options of one family that RocksDB changes."""
    after = normalised({"": {}, "default": told}, version)["default"]
    return {name: value for name, value in after.items() if told.get(name) != value}


def test_each_change_is_that_of_rocksdb() -> None:
    assert changes(write_buffer_size="1000") == {"write_buffer_size": "65536"}
    assert changes(max_write_buffer_number="0") == {"max_write_buffer_number": "2"}
    assert changes(max_write_buffer_number="1", min_write_buffer_number_to_merge="4") == {
        "max_write_buffer_number": "2", "min_write_buffer_number_to_merge": "1",
    }  # fmt: skip
    assert changes(memtable_prefix_bloom_size_ratio="0.5") == {
        "memtable_prefix_bloom_size_ratio": "0.25"
    }
    assert changes(num_levels="1", compaction_style="0") == {"num_levels": "2"}
    assert changes(arena_block_size="0", write_buffer_size="67108864") == {
        "arena_block_size": "1048576"
    }
    assert changes(max_compaction_bytes="0", target_file_size_base="1000") == {
        "max_compaction_bytes": "25000"
    }


def test_what_rocksdb_leaves_is_left() -> None:
    assert changes(write_buffer_size="67108864", max_write_buffer_number="3") == {}
    assert changes(min_write_buffer_number_to_merge="4") == {}  # the number of memtables is unknown
    assert changes(comparator="ours", merge_operator="theirs") == {}


@pytest.mark.parametrize(
    ("version", "readahead"), [("8.5.4", str(2 << 20)), ("8.6.7", "0"), (None, "0")]
)
def test_a_change_is_made_by_the_versions_that_make_it(version: str | None, readahead: str) -> None:
    told = {"use_direct_reads": "true", "compaction_readahead_size": "0"}
    after = normalised({"": told, "default": {"write_buffer_size": "8388608"}}, version)
    assert after[""]["compaction_readahead_size"] == readahead


def test_each_family_has_its_own_changes() -> None:
    told = {
        "": {"atomic_flush": "true"},
        "a": {"min_write_buffer_number_to_merge": "3", "max_write_buffer_number": "6"},
        "b": {"num_levels": "7"},
    }
    after = normalised(told, None)
    assert after["a"]["min_write_buffer_number_to_merge"] == "1"
    assert after["b"] == {"num_levels": "7"}
    assert after[""] == {"atomic_flush": "true"}


def test_fields_of_structs_have_the_names_of_a_log() -> None:
    told = {"compaction_options_fifo": "{allow_compaction=true;max_table_files_size=9;}"}
    after = normalised({"": {}, "default": told}, "7.2.2")["default"]
    assert after["compaction_options_fifo.allow_compaction"] == "true"
