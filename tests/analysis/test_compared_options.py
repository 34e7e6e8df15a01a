"""Options BEFORE and AFTER: by meaning, field by field, across kinds of files."""

from pathlib import Path
from typing import Any

import pytest

from lsmtune.analysis.inspect.before_after import Compared, compare
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.cli.before_after_lines import compared_lines
from lsmtune.knobs.defaults import defaults_of
from lsmtune.report.text.compared_words import option_rows

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
OPTIONS = (CAPTURED / "rocksdb-11.8.1-level" / "OPTIONS").read_text()
STRING = (
    "write_buffer_size=64MB;max_background_jobs=4;compression=kZSTD;level0_stop_writes_trigger=36;"
)
MY_CNF = """[mysqld]
rocksdb_max_background_jobs=4
rocksdb_default_cf_options=write_buffer_size=64m;compression=kZSTD
"""
TIKV = """[rocksdb]
max-background-jobs = 4
[rocksdb.defaultcf]
write-buffer-size = "64MB"
compression-per-level = ["no", "zstd"]
[rocksdb.writecf]
write-buffer-size = "32MB"
"""
SMALL = """[Version]
  rocksdb_version=9.4.0
[DBOptions]
  max_background_jobs=4
[CFOptions "default"]
  write_buffer_size=67108864
  compression=kZSTD
[TableOptions/BlockBasedTable "default"]
  block_size=4096
[CFOptions "index"]
  write_buffer_size=8388608
[CFOptions "blobs"]
  write_buffer_size=8388608
"""


@pytest.fixture(name="compared")
def _compared(tmp_path: Path) -> Any:
    def of(before: str, after: str) -> Compared:
        paths = tmp_path / "before", tmp_path / "after"
        for path, text in zip(paths, (before, after), strict=True):
            path.write_text(text)
        return compare(*(inspect_path(path) for path in paths))

    return of


def test_options_alone_are_comparable(compared: Any) -> None:
    found = compared(STRING, STRING.replace("=4;", "=8;"))
    assert found.comparable
    assert not found.has_measurements
    assert found.options == {"max_background_jobs": ("4", "8")}


def test_the_same_in_other_words_is_no_difference(compared: Any) -> None:
    other = "level0_stop_writes_trigger=36; compression=zstd; max_background_jobs=4; "
    assert not compared(STRING, other + "write_buffer_size=67108864;").options


def test_the_order_of_the_fields_of_a_structure_does_not_matter(compared: Any) -> None:
    swapped = OPTIONS.replace(
        "metadata_cache_options={unpartitioned_pinning=kFallback;partition_pinning=kFallback;",
        "metadata_cache_options={partition_pinning=kFallback;unpartitioned_pinning=kFallback;",
    )
    assert swapped != OPTIONS
    assert not compared(OPTIONS, swapped).options


def test_a_field_of_a_structure_is_a_row(compared: Any) -> None:
    found = compared(OPTIONS, OPTIONS.replace("max_size_amplification_percent=200",
                                              "max_size_amplification_percent=90"))  # fmt: skip
    assert found.options == {
        "compaction_options_universal.max_size_amplification_percent": ("200", "90")
    }
    found = compared(OPTIONS, OPTIONS.replace("bloomfilter:10:false", "bloomfilter:14:false"))
    assert list(found.options) == ["filter_policy"]


@pytest.mark.parametrize("other", [MY_CNF, TIKV, SMALL])
def test_kinds_of_files_are_compared_with_each_other(compared: Any, other: str) -> None:
    found = compared(STRING, other)
    both = {name for name, texts in found.options.items() if None not in texts}
    assert not both
    assert found.options["level0_stop_writes_trigger"] == ("36", None)
    changed = compared(STRING.replace("64MB", "16MB"), other)
    assert {name for name, texts in changed.options.items() if None not in texts} == {
        "write_buffer_size"
    }


def test_an_option_of_one_side_is_shown(compared: Any) -> None:
    rows = option_rows(compared(STRING, STRING + "compaction_readahead_size=2MB;"))
    assert rows == [("compaction_readahead_size", "not given", "2097152")]


def test_a_complete_side_is_not_listed_where_the_other_side_is_silent(compared: Any) -> None:
    found = compared(OPTIONS, STRING)
    assert len(found.options) > 100
    names = [row[0] for row in option_rows(found)]
    assert set(names) == {"write_buffer_size", "max_background_jobs", "compression"}
    assert any("see --json" in line for line in compared_lines(found))


def test_families_are_matched_by_name(compared: Any) -> None:
    after = SMALL.replace('"blobs"', '"queue"').replace("=8388608", "=16777216", 1)
    found = compared(SMALL, after)
    assert found.options == {"index.write_buffer_size": ("8388608", "16777216")}
    assert found.compared_options.families == (("blobs",), ("queue",))


def test_families_with_the_same_change_have_one_row(compared: Any) -> None:
    found = compared(SMALL, SMALL.replace("=8388608", "=16777216"))
    assert len(found.options) == 2
    ((name, before, after),) = option_rows(found)
    assert name == "write_buffer_size (in 2 families)"
    assert (before, after) == ("8388608", "16777216")


def test_tikv_families_and_lists(compared: Any) -> None:
    assert not compared(TIKV, TIKV.replace('"64MB"', '"65536KB"')).options
    found = compared(TIKV, TIKV.replace('"zstd"', '"lz4"').replace('"32MB"', '"16MB"'))
    assert set(found.options) == {"compression_per_level", "write.write_buffer_size"}


def test_a_terminal_gets_at_most_twenty_rows(compared: Any) -> None:
    names = sorted(defaults_of("8.0"))[:30]
    before = "".join(f"{name}=3;" for name in names)
    after = "".join(f"{name}=4;" for name in names)
    found = compared(before, after)
    assert len(found.options) == 30
    for most, count in ((20, 20), (None, 30)):
        first = [line.split()[0] for line in compared_lines(found, most) if line.split()]
        assert sum(word in names for word in first) == count


def test_options_against_measurements_compare_the_options(compared: Any) -> None:
    dump = "\n** DB Stats **\nUptime(secs): 100.0 total, 100.0 interval\n"
    found = compared(STRING, dump)
    assert not found.comparable
    assert not found.options
