"""Compaction tables: whole ones of three versions, ones that documents have damaged, garbage."""

import gzip
import re
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import ParseError
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    LevelRow,
    parse_compaction_tables,
    parse_stall_summary,
)

DATA = Path(__file__).parents[1] / "data"
RUNS = sorted(path.name for path in (DATA / "captured").iterdir() if path.is_dir())
CERTAIN = {"level", "files", "files_being_compacted", "size_bytes"}
TABLE = """** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Write(GB) Moved(GB) W-Amp Comp(sec) Comp(cnt) KeyIn
---------------------------------------------------------------------------------------------
  L0      3/1      1.50 KB   0.8      0.0       0.1       0.0   1.0         1       103   9999
 Sum      3/1      2.00 TB   0.0      0.2       0.2       0.5   4.0      2.76       144    12G
 Int      0/0      0.00 KB   0.0      0.0       0.0       0.0   6.4      0.28        12      0

Blob file count: 0, total size: 0.0 GB
"""


def stdout_of(run: str) -> str:
    return (DATA / "captured" / run / "stdout.txt").read_text()


def log_of(path: str) -> str:
    return gzip.decompress((DATA / "captured" / path).read_bytes()).decode()


def seed_tables() -> list[CompactionTable]:
    return parse_compaction_tables((DATA / "seeds" / "compaction-tables-wrapped.txt").read_text())


def told(row: LevelRow) -> set[str]:
    return {field for field, value in asdict(row).items() if value is not None}


def test_a_table_of_7_8() -> None:
    table = parse_compaction_tables(stdout_of("rocksdb-7.8.3-level"))[-1]
    assert table.incomplete == ()
    assert [row.level for row in table.rows] == ["L0", "L1", "L2"]
    level_2 = table.rows[2]
    assert (level_2.files, level_2.files_being_compacted, level_2.score) == (42, 0, 0.9)
    assert level_2.size_bytes == round(35.20 * 2**20)
    assert (level_2.read_gb, level_2.write_gb, level_2.moved_gb) == (0.1, 0.1, 0.0)
    assert (level_2.read_mb_s, level_2.write_mb_s) == (78.0, 67.7)
    assert (level_2.comp_s, level_2.comp_cpu_s, level_2.comp_count) == (1.22, 0.93, 40)
    assert (level_2.keys_in, level_2.keys_dropped) == (162_000, 21_000)
    assert table.sum is not None
    assert table.sum.w_amp_table == 4.6


def test_a_column_that_11_8_inserted_moves_nothing() -> None:
    table = parse_compaction_tables(stdout_of("rocksdb-11.8.1-level"))[0]
    level_1 = table.rows[1]
    assert (level_1.files, level_1.files_being_compacted, level_1.w_amp_table) == (11, 1, 2.2)
    assert (level_1.write_gb, level_1.moved_gb, level_1.comp_count) == (0.1, 0.0, 15)


@pytest.mark.parametrize("run", RUNS)
def test_the_rows_add_up_to_the_sum(run: str) -> None:
    for table in parse_compaction_tables(stdout_of(run) + log_of(f"{run}/LOG.gz")):
        assert table.incomplete == ()
        if table.sum:
            assert sum(row.files or 0 for row in table.rows) == table.sum.files
            assert sum(row.comp_count or 0 for row in table.rows) == table.sum.comp_count
            assert table.sum.size_bytes == pytest.approx(
                sum(row.size_bytes or 0 for row in table.rows), rel=0.001
            )


def test_each_column_family_has_its_table() -> None:
    text = (DATA / "captured" / "myrocks-6.29-engine-status-universal.txt").read_text()
    tables = {table.column_family: table for table in parse_compaction_tables(text)}
    assert set(tables) == {"default", "__system__"}
    assert tables["default"].sum is not None
    assert tables["default"].sum.files == 85


def test_units_and_absent_columns() -> None:
    (table,) = parse_compaction_tables(TABLE)
    (level_0,) = table.rows
    assert (level_0.size_bytes, level_0.comp_s, level_0.keys_in) == (1536, 1.0, 9999)
    assert (level_0.read_mb_s, level_0.comp_cpu_s, level_0.keys_dropped) == (None, None, None)
    assert table.sum is not None
    assert (table.sum.size_bytes, table.sum.keys_in) == (2 * 2**40, 12 * 10**9)


def test_the_size_of_very_old_versions_is_in_the_header() -> None:
    old = TABLE.replace(" Size ", " Size(MB) ").replace("1.50 KB", "2").replace("2.00 TB", "0")
    (table,) = parse_compaction_tables(old.replace("0.00 KB", "0"))
    assert table.rows[0].size_bytes == 2 * 2**20
    assert table.sum is not None
    assert table.sum.size_bytes == 0


def test_how_the_text_is_wrapped_does_not_matter() -> None:
    (expected,) = parse_compaction_tables(TABLE)
    one_word_a_line = re.sub(r"[ \n]+", "\n", TABLE.replace("** ", "").replace(" **", ""))
    heading, _, rest = one_word_a_line.partition("[default]")
    for text in ("\\*\\* Compaction Stats [default] \\*\\*" + rest, TABLE.replace("  ", "\t")):
        assert parse_compaction_tables(text) == [expected]
    assert heading.split() == ["Compaction", "Stats"]


def test_glued_and_split_headers_are_the_same() -> None:
    header = "Level\tFiles\tSize\tW-Amp\t{}\tComp(cnt)"
    row = "\nL0\t1/0\t1.00 MB\t1.5\t{}\t3\nSum\t1/0\t1.00 MB\t1.5\t{}\t3\n"
    text = "** Compaction Stats [a b] **\n" + header + row
    for glued in ("Comp(sec)CompMergeCPU(sec)", "Comp (sec)\nCompMerge\tCPU (sec)"):
        (table,) = parse_compaction_tables(text.format(glued, "2.00 1.25", "2.00 1.25"))
        assert table.incomplete == ()
        assert (table.rows[0].comp_s, table.rows[0].comp_cpu_s) == (2.0, 1.25)
        assert (table.column_family, table.rows[0].comp_count) == ("a b", 3)


def test_a_wrapped_table_of_a_document_equals_its_tab_separated_copy() -> None:
    wrapped, copy = seed_tables()[:2]
    assert wrapped == copy
    assert wrapped.incomplete == ()
    assert wrapped.sum is not None
    assert (wrapped.sum.files, wrapped.sum.w_amp_table, wrapped.sum.comp_cpu_s) == (2, 6.3, 14.59)
    assert (wrapped.rows[1].comp_s, wrapped.rows[1].keys_in) == (13.38, 2_888_000)
    assert wrapped.sum.comp_count == sum(row.comp_count or 0 for row in wrapped.rows)


def test_rows_that_lost_cells_keep_only_what_is_certain() -> None:
    """In the wrapped one some rows even have the right number of cells, in the wrong order."""
    wrapped, copy = seed_tables()[2:]
    for table in (wrapped, copy):
        assert [(row.level, row.files) for row in table.rows] == [
            ("L0", 0), ("L3", 1), ("L4", 1), ("L5", 1), ("L6", 1),
        ]  # fmt: skip
        assert all(told(row) == CERTAIN for row in table.rows[1:])
        assert table.sum is not None
        assert (table.sum.files, table.sum.size_bytes) == (4, round(36.16 * 2**20))
        assert told(table.sum) == CERTAIN
    assert told(wrapped.rows[0]) == CERTAIN
    assert (copy.rows[0].w_amp_table, copy.rows[0].comp_count) == (1.0, 95)
    assert [len(wrapped.incomplete), len(copy.incomplete)] == [6, 5]
    assert re.match("line 37: .* L0 .*20 .*21 ", wrapped.incomplete[0])
    assert re.search(r" L3 .*'4\.08'.*Wr\(MB/s\)", wrapped.incomplete[1])


def test_every_truncation_is_told_or_changes_nothing() -> None:
    (whole,) = parse_compaction_tables(TABLE)
    for end in range(len("** Compaction Stats [default] **"), TABLE.index(" Int")):
        (table,) = parse_compaction_tables(TABLE[:end])
        assert table.incomplete or table == whole


def test_no_table() -> None:
    assert parse_compaction_tables("** Compaction Stats **") == []


@pytest.mark.parametrize("run", RUNS)
def test_stall_counts_agree_with_the_warnings_in_the_log(run: str) -> None:
    log = log_of(f"{run}/LOG.gz")
    counts = parse_stall_summary(log).counts
    new = run.startswith("rocksdb-11")
    slow = counts["l0-file-count-limit-delays" if new else "level0_slowdown"]
    stopped = counts["memtable-limit-stops" if new else "memtable_compaction"]
    assert slow == log.count("Stalling writes because we have") > 0
    assert stopped == log.count("Stopping writes because we have") > 0


@pytest.mark.parametrize("run", ["rocksdb-7.8.3-level", "rocksdb-11.8.1-level"])
def test_stall_time_agrees_with_the_ticker(run: str) -> None:
    text = stdout_of(run)
    ticker = re.search(r"rocksdb.stall.micros COUNT : (\d+)", text)
    assert ticker is not None
    assert parse_stall_summary(text).stall_s == pytest.approx(int(ticker[1]) / 1e6, abs=0.001)


def test_the_last_cumulative_time_wins_and_intervals_do_not() -> None:
    summary = parse_stall_summary(stdout_of("rocksdb-7.8.3-level"))
    assert (summary.stall_s, summary.stall_percent) == (1.532, 18.1)


def test_hours_count() -> None:
    summary = parse_stall_summary("Cumulative stall: 02:03:4.500 H:M:S, 55.6 percent\n")
    assert summary.stall_s == 2 * 3600 + 3 * 60 + 4.5


def test_counts_have_no_interval_and_keep_the_line_of_the_whole_db() -> None:
    old = parse_stall_summary(stdout_of("rocksdb-7.8.3-level")).counts
    new = parse_stall_summary(stdout_of("rocksdb-11.8.1-level")).counts
    assert old["slowdown for pending_compaction_bytes"] == 0
    assert not any("interval" in cause for cause in [*old, *new])
    assert (new["memtable-limit-stops"], new["write-buffer-manager-limit-stops"]) == (54, 0)


def test_column_families_are_added_up_and_dumps_are_not() -> None:
    dump = (
        "** Compaction Stats [a] **\nStalls(count): 1 level0_slowdown, interval 1 total count\n"
        "** Compaction Stats [b] **\nStalls(count): 2 level0_slowdown, interval 2 total count\n"
    )
    assert parse_stall_summary(dump + dump).counts == {"level0_slowdown": 3}


def test_no_stall_lines_say_nothing() -> None:
    summary = parse_stall_summary("Cumulative stall: 00:00:1.5")
    assert (summary.stall_s, summary.stall_percent, summary.counts) == (None, None, {})


@pytest.mark.parametrize(
    "line",
    [
        "Cumulative stall: long",
        "Stalls(count): many",
        "Stalls(count):x7 a",
        "Write Stall (count): a: b",
        "Stalls(count): 2 level0_slowdown, x, 7 level0_numfiles",
    ],
)
def test_a_broken_stall_line_is_named(line: str) -> None:
    with pytest.raises(ParseError, match=r"^line 2: "):
        parse_stall_summary(f"\n{line}\n")


def test_the_block_cache_that_follows_counts_in_their_line_is_no_count() -> None:
    """RocksDB 8.1 writes no line end after the counts of a column family."""
    line = (
        "Write Stall (count): l0-file-count-limit-delays: 5, total-delays: 5, total-stops: 1, "
        "Block cache LRUCache@0x55d0#7 capacity: 32.00 MB usage: 0.08 KB table_size: 256\n"
    )
    counts = parse_stall_summary(f"** Compaction Stats [a] **\n{line}").counts
    assert counts == {"l0-file-count-limit-delays": 5, "total-delays": 5, "total-stops": 1}


def test_bytes_of_blob_files_are_among_the_bytes_of_a_level() -> None:
    text = (
        "** Compaction Stats [default] **\nLevel Files Size Score Read(GB) Write(GB) Rblob(GB) "
        "Wblob(GB)\n---\n L0 2/0 24.89 MB 0.5 0.1 0.2 0.3 1.4\n"
        "Sum 2/0 24.89 MB 0.5 0.1 0.2 0.3 1.4\n"
    )
    (table,) = parse_compaction_tables(text)
    assert (table.rows[0].read_gb, table.rows[0].write_gb) == (0.4, 1.6)


def test_a_broken_stall_line_leaves_the_others_on_request() -> None:
    unreadable: list[str] = []
    text = (
        "Cumulative stall: 00:01:0.000 H:M:S, 5.0 percent\n** Compaction Stats [a] **\n"
        "Stalls(count): many\n** Compaction Stats [b] **\nStalls(count): 2 level0_slowdown\n"
    )
    summary = parse_stall_summary(text, unreadable)
    assert (summary.stall_s, summary.counts) == (60.0, {"level0_slowdown": 2})
    assert [fault.partition(":")[0] for fault in unreadable] == ["line 3"]


def test_a_table_without_its_heading_counts_as_default() -> None:
    bare = TABLE.partition("\n")[2]
    (own,), (table,) = parse_compaction_tables(TABLE), parse_compaction_tables(bare)
    assert (table.column_family, table.rows, table.sum) == ("default", own.rows, own.sum)
    assert len(table.incomplete) == 1
    both = parse_compaction_tables(TABLE.replace("default", "cf") + bare)
    assert [found.column_family for found in both] == ["cf", "default"]


@pytest.mark.parametrize("mark", ["> ", "| ", "    "])
def test_a_quoted_table_is_read(mark: str) -> None:
    quoted = "".join(f"{mark}{text}\n" for text in TABLE.splitlines())
    assert parse_compaction_tables(quoted) == parse_compaction_tables(TABLE)


def test_a_hidden_cell_is_none_and_a_lost_one_spoils_its_row() -> None:
    hidden = TABLE.replace(" 2.76 ", " ***@***.*** ")
    (own,), (table,) = parse_compaction_tables(TABLE), parse_compaction_tables(hidden)
    assert own.sum is not None
    assert table.sum is not None
    assert (own.sum.comp_s, table.sum.comp_s, table.sum.comp_count) == (2.76, None, 144)
    assert [("Comp(sec)" in fault) for fault in table.incomplete] == [True]
    (spoilt,) = parse_compaction_tables(TABLE.replace(" 2.76 ", " "))
    assert spoilt.sum is not None
    assert told(spoilt.sum) == CERTAIN


@given(st.text(), st.integers(0, len(TABLE)))
def test_any_text_gives_tables(text: str, at: int) -> None:
    parse_compaction_tables(text)
    parse_compaction_tables(TABLE[:at] + text + TABLE[at:])


@given(
    st.text(), st.sampled_from(["Cumulative stall: ", "Stalls(count): ", "Write Stall (count): "])
)
def test_any_text_gives_stalls_or_a_parse_error(text: str, start: str) -> None:
    with suppress(ParseError):
        parse_stall_summary(f"{start}{text}\n{text}")
