"""Texts without the expected frame: pastes, mails, single lines, old versions, odd folders."""

from pathlib import Path

import pytest
from log_texts import compaction, event, line, log
from planted_texts import HEAD, row

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.errors import UserError

WARNING = (
    "[WARN] [db/column_family.cc:991] [blocks] Stalling writes because of estimated pending "
    "compaction bytes 90194313216 rate 6291456"
)
NAKED = WARNING.partition("[blocks] ")[2]
STATS = """** DB Stats **
Uptime(secs): 7200.5 total, 600.0 interval
Cumulative writes: 910K writes, 31M keys, 910K commit groups, 1.0 writes per commit group, ingest: \
12.50 GB, 1.78 MB/s
Cumulative WAL: 910K writes, 0 syncs, 910000.00 writes per sync, written: 12.50 GB, 1.78 MB/s
Cumulative stall: 00:30:0.500 H:M:S, 25.0 percent
"""
TABLE = HEAD + row("L0", 3, "30.12 MB", written=12.5) + row("L5", 40, "1.25 GB", 3.5, 44.0)
TICKERS = "rocksdb.number.keys.read COUNT : 70000\nrocksdb.bytes.written COUNT : 13421772800\n"
HIDDEN = "***@***.***"


def inspected(tmp_path: Path, text: str) -> Inspection:
    path = tmp_path / "paste.txt"
    path.write_text(text)
    return inspect_path(path)


def codes(found: Inspection) -> list[str]:
    return [finding.code for finding in found.findings]


# --- statistics without `DUMPING STATS`


@pytest.mark.parametrize(
    "above",
    [line(1, WARNING), f"It is slow, and the LOG has\n`{NAKED}`\n\n```", f"> {WARNING}"],
    ids=["stamped", "prose", "quoted"],
)
def test_a_warning_and_statistics_below_it_are_both_read(above: str, tmp_path: Path) -> None:
    found = inspected(tmp_path, f"{above}\n\n{STATS}")
    assert found.totals.stall_percent == 25.0
    assert found.load.writes_s is not None
    assert [(stall.cause, stall.warnings) for stall in found.stalls] == [
        ("estimated pending compaction bytes", 1)
    ]
    (finding,) = found.findings
    assert finding.code == "stall-options-unknown"
    assert "pending compaction bytes 100 %" in finding.context
    assert "soft_pending_compaction_bytes_limit" in finding.look_at


def test_statistics_that_another_message_parts_from_their_line_are_read(tmp_path: Path) -> None:
    lines = [
        line(1, "[db/db_impl/db_impl.cc:1084] ------- DUMPING STATS -------"),
        line(1, "[db/column_family.cc:1044] [cf] Increasing compaction threads because of "
                "estimated pending compaction bytes 18000000000"),
        line(1.001, "[db/db_impl/db_impl.cc:1086] "),
    ]  # fmt: skip
    found = inspected(tmp_path, "\n".join([*lines, STATS]))
    assert found.totals.stall_percent == 25.0
    assert found.extent.dumps == 1


def test_tables_and_tickers_below_a_warning_are_all_read(tmp_path: Path) -> None:
    found = inspected(tmp_path, f"{line(1, WARNING)}\n{STATS}\n{TABLE}\nand more:\n{TICKERS}")
    assert found.kind == "LOG"
    assert [level.files for level in found.levels] == [3, 40]
    assert found.tickers["rocksdb.number.keys.read"] == 70_000
    assert found.totals.stall_percent == 25.0


def test_a_log_with_its_own_frame_is_read_as_before(tmp_path: Path) -> None:
    text = log((1, "[db/db_impl/db_impl.cc:1105] ------- DUMPING STATS -------"))
    found = inspected(tmp_path, f"{text}{STATS}{line(700, '[db/x.cc:1] [default] words')}\n")
    assert [dump.dump.stall_percent for dump in found.dumps] == [25.0]
    assert found.stalls == ()


def test_results_of_db_bench_below_a_warning_are_kept(tmp_path: Path) -> None:
    result = "fillrandom   :      27.518 micros/op 36338 ops/sec 2.752 seconds 100000 operations;"
    found = inspected(tmp_path, f"{line(1, WARNING)}\n{result}\n")
    assert (found.kind, found.results["fillrandom"].ops_per_s) == ("LOG", 36_338)


# --- tables without their heading or header


def test_a_table_without_its_heading_is_read_and_noted(tmp_path: Path) -> None:
    found = inspected(tmp_path, f"--- overwrite\n\n- 9.1.0\n\n{TABLE}")
    assert [(row_.level, row_.files) for row_ in found.levels] == [("L0", 3), ("L5", 40)]
    assert any("heading" in note for note in found.incomplete)


@pytest.mark.parametrize("rows", [("L44", "L45"), ("L0", "L6")])
def test_rows_alone_are_read_by_their_number_of_cells(
    rows: tuple[str, str], tmp_path: Path
) -> None:
    text = "".join(row(name, 5, "1.03 GB", 3.4, 36.6) for name in rows)
    found = inspected(tmp_path, f"num_levels is 50:\n{text}\n")
    assert [level.level for level in found.levels] == list(rows)
    assert [level.w_amp_table for level in found.levels] == [3.4, 3.4]
    assert any("header" in note for note in found.incomplete)


def test_rows_with_another_number_of_cells_keep_files_and_size(tmp_path: Path) -> None:
    found = inspected(tmp_path, " L44     5/0      1.03 GB   0.0     36.9\n\n")
    assert [(level.files, level.w_amp_table) for level in found.levels] == [(5, None)]


@pytest.mark.parametrize(
    "text",
    [
        "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n------\n  0  1  0  0  0  0\n\n",
        "Level Files Size(MB)\n--------------------\n  0        1        0\n\n",
    ],
    ids=["LevelDB", "levelstats"],
)
def test_tables_of_other_kinds_are_not_taken_for_one(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        inspected(tmp_path, text)


# --- single messages


@pytest.mark.parametrize(
    "text",
    [
        line(1, WARNING),
        WARNING,
        NAKED,
        line(1, WARNING.replace(" because", "\nbecause")),
        line(1, WARNING.replace(" writes because", "\nwrites because")),
        WARNING.replace("pending ", "pending\n"),
        "> " + line(1, WARNING.replace("of estimated", "of\n> estimated")),
    ],
)
def test_one_warning_is_one_stall(text: str, tmp_path: Path) -> None:
    found = inspected(tmp_path, f"{text}\n")
    (stall,) = found.stalls
    assert (stall.kind, stall.warnings, stall.most) == ("delay", 1, 90_194_313_216)
    assert codes(found) == ["writes-slowed"]
    assert found.timed_stalls == ()
    assert len(found.needed_here) > 0


def test_words_like_those_of_a_warning_are_none(tmp_path: Path) -> None:
    for text in ("Stalling writes is bad.", "Why are you Stopping\nby the shop?", "Stalling"):
        with pytest.raises(UserError):
            inspected(tmp_path, f"{text}\n")


def speedup(at_s: float, count: int, family: str = "default") -> str:
    place = f"[db/column_family.cc:839] [{family}] "
    return line(at_s, f"{place}Increasing compaction threads because we have {count} level-0 files")


def test_lines_on_more_compactions_tell_of_files_in_level_0(tmp_path: Path) -> None:
    lines = [speedup(place, 30_000 + place) for place in range(5)]
    found = inspected(tmp_path, "\n".join([*lines, ""]))
    assert (found.kind, codes(found)) == ("LOG", ["many-l0-files"])
    assert found.level_0["default"].last == 30_004
    assert found.level_0_files("default") == 30_004
    assert found.verdict == "findings"


def test_a_few_files_in_level_0_are_no_finding(tmp_path: Path) -> None:
    found = inspected(tmp_path, "\n".join([speedup(1, 3, "cf"), speedup(2, 5, "cf"), ""]))
    assert (codes(found), found.verdict) == ([], "insufficient_data")
    assert (found.level_0["cf"].last, found.level_0["cf"].lines) == (5, 2)


def test_a_later_dump_replaces_the_number_of_files(tmp_path: Path) -> None:
    dump = line(9, "[db/db_impl/db_impl.cc:1105] ------- DUMPING STATS -------")
    table = f"** Compaction Stats [default] **\n{TABLE}\n"
    found = inspected(tmp_path, f"{speedup(1, 700)}\n{dump}\n{STATS}\n{table}")
    assert (found.level_0_files("default"), codes(found)) == (3, ["stall-options-unknown"])
    again = inspected(tmp_path, f"{dump}\n{STATS}\n{table}{speedup(10, 700)}\n")
    assert again.level_0_files("default") == 700


def test_any_line_with_a_place_in_rocksdb_is_of_a_log(tmp_path: Path) -> None:
    found = inspected(tmp_path, line(1, "[WARN] [db/db_impl/db_impl_open.cc:9] [cf] words") + "\n")
    assert (found.kind, found.verdict) == ("LOG", "insufficient_data")
    with pytest.raises(UserError):
        inspected(tmp_path, line(1, "some words") + "\n")


def test_a_line_of_speedb_is_a_stall_unless_a_warning_says_it_too(tmp_path: Path) -> None:
    delay = line(1, "[WARN] [util/write_controller.cc:153] WC setting delay of 4194304, client_id: "
                    "0x55aa, client rate: 4194304")  # fmt: skip
    alone = inspected(tmp_path, f"{delay}\n{delay}\n")
    assert codes(alone) == ["writes-slowed"]
    assert [stall.least_rate for stall in alone.stalls] == [4_194_304]
    both = inspected(tmp_path, f"{delay}\n{line(1.001, WARNING)}\n")
    assert [stall.cause for stall in both.stalls] == ["estimated pending compaction bytes"]


def test_options_without_times_are_read(tmp_path: Path) -> None:
    lines = [text.rpartition(" 21818 ")[2] for text in log().split("\n")]
    found = inspected(tmp_path, "\n".join([*lines, WARNING, ""]))
    assert found.option("write_buffer_size") == str(64 << 20)
    assert found.option("block_size") == "4096"
    assert found.version == "7.8.3"


# --- events


def test_events_without_times_have_their_own(tmp_path: Path) -> None:
    lines = [text for at in (1, 5) for _, text in compaction(at, at, took_s=2.0)]
    found = inspected(tmp_path, "\n".join([*lines, ""]))
    assert (found.totals.compactions, found.totals.compaction_s) == (2, 4.0)
    assert found.span_s == pytest.approx(6.0, abs=0.01)


def test_events_that_a_mail_folds_are_put_together(tmp_path: Path) -> None:
    whole = [line(at, text) for at, text in compaction(1, 7, took_s=2.0)]
    folded = [text.replace(', "', ',\n"') for text in whole]
    found = inspected(tmp_path, "\n".join([*folded, ""]))
    assert (found.totals.compactions, found.totals.compaction_s) == (1, 2.0)
    assert not any("damaged" in note for note in found.incomplete)


def test_a_compaction_whose_begin_is_missing_has_its_own_duration(tmp_path: Path) -> None:
    _, _, ended = compaction(1, 7, took_s=8.0)
    found = inspected(tmp_path, line(*ended) + "\n")
    assert (found.totals.compactions, found.totals.compaction_s) == (1, 8.0)


def test_a_hidden_duration_is_unknown_and_not_0(tmp_path: Path) -> None:
    _, _, (at_s, text) = compaction(1, 7, took_s=8.0)
    hidden = text.replace("8000000", HIDDEN, 1)
    assert hidden != text
    found = inspected(tmp_path, line(at_s, hidden) + "\n")
    assert (found.totals.compactions, found.totals.compaction_s) == (1, None)
    assert any("hides" in note for note in found.incomplete)
    assert inspection_document(found)["compactions"]["total_s"] is None


def test_a_hidden_output_level_is_not_level_0(tmp_path: Path) -> None:
    text = event(2, "compaction_finished", job=3, output_level=4, total_output_size=5)[1]
    found = inspected(tmp_path, line(2, text.replace(": 4,", f": {HIDDEN},")) + "\n")
    assert found.jobs == ()
    assert any("damaged" in note for note in found.incomplete)


def test_hidden_words_outside_of_numbers_change_nothing(tmp_path: Path) -> None:
    whole = [line(at, text) for at, text in compaction(1, 7, took_s=8.0)]
    mail = [line(1, f"[db/compaction/x.cc:5] [cf] [JOB 7] Compacting {HIDDEN} + {HIDDEN} files")]
    found = inspected(tmp_path, "\n\n".join([*mail, *whole, ""]))
    assert (found.totals.compactions, found.totals.compaction_s) == (1, 8.0)
    assert not any("hides" in note for note in found.incomplete)


def test_a_hidden_cell_is_unknown_and_the_rest_of_the_table_is_read(tmp_path: Path) -> None:
    table = TABLE.replace(" 0.45 ", f" {HIDDEN} ", 1)
    found = inspected(tmp_path, f"{STATS}\n** Compaction Stats [cf] **\n{table}\n")
    rows = found.tables["cf"].rows
    assert [(row_.comp_s, row_.comp_count) for row_ in rows] == [(None, 19), (0.45, 19)]
    assert any("Comp(sec)" in note for note in found.incomplete)


def test_a_remark_behind_a_row_ends_no_table(tmp_path: Path) -> None:
    table = TABLE.replace("\n L", " <-- too many\n L").replace("\n  L5", " <-- large\n  L5")
    found = inspected(tmp_path, f"{STATS}\n** Compaction Stats [cf] **\n{table}\n")
    assert [level.level for level in found.levels] == ["L0", "L5"]


# --- versions without events

OLD = [
    "compacted to: files[0 0 7 31 310 1200 88 ], 50.0 MB/sec, level 5, files in(1, 4) out(2) MB "
    "in(1.5, 298.5) out(200.0), read-write-amplify(333.3) write-amplify(133.3) OK",
    "compacted to: files[0 0 8 31 309 1201 88 ], 100.0 MB/sec, level 4, files in(1, 3) out(4) MB "
    "in(2.0, 98.0) out(100.0), read-write-amplify(100.0) write-amplify(50.0) OK",
]


def test_summaries_of_2014_are_compactions(tmp_path: Path) -> None:
    found = inspected(tmp_path, "\n".join([*(line(20 * n, t) for n, t in enumerate(OLD)), ""]))
    assert found.kind == "LOG"
    assert [(job.output_level, job.read_bytes) for job in found.jobs] == [
        (5, 300 << 20), (4, 100 << 20),
    ]  # fmt: skip
    took = [job.duration_s for job in found.jobs]
    assert took == pytest.approx([500 * 1.048576 / 50, 200 * 1.048576 / 100], abs=1e-5)
    assert found.totals.compactions == 2
    assert [level.files for level in found.levels if level.level == "L5"] == [1201]
    assert not found.extent.has_events
    assert any("events" in advice for advice in found.needed)
    assert not any("events" in advice for advice in found.needed_here)


def test_summaries_next_to_events_are_not_counted_again(tmp_path: Path) -> None:
    summary = (
        "[default] compacted to: base level 1 max bytes base 268435456 files[2 5 0] max score "
        "0.54, MB/sec: 300.0 rd, 200.0 wr, level 1, files in(2, 1) out(2) MB in(90.0, 10.0) "
        "out(80.0), read-write-amplify(2.0) write-amplify(0.9) OK, records in: 5, records dropped: "
        "1"
    )
    own = [line(at, text) for at, text in compaction(1, 7, took_s=2.0)]
    both = [line(0.5, summary), *own, line(4, summary), ""]
    assert inspected(tmp_path, "\n".join(both)).totals.compactions == 1
    alone = inspected(tmp_path, f"{line(4, summary)}\n")
    (job,) = alone.jobs
    assert (job.family, job.output_level, job.table_bytes) == ("default", 1, 80 << 20)
    newer = inspected(tmp_path, line(4, f"[db/compaction/compaction_job.cc:9] {summary}") + "\n")
    assert any("events" in advice for advice in newer.needed_here)


def test_flushes_and_waiting_writers_of_old_versions_are_read(tmp_path: Path) -> None:
    lines = [
        line(1, "Level-0 flush table #12: started"),
        line(2, "Level-0 flush table #12: 4194304 bytes OK"),
        line(3, "wait for fewer level0 files..."),
    ]
    found = inspected(tmp_path, "\n".join([*lines, ""]))
    assert [(job.kind, job.written_bytes) for job in found.jobs] == [("flush", 4_194_304)]
    assert [(stall.kind, stall.cause) for stall in found.stalls] == [("stop", "level-0 files")]


def test_summaries_of_leveldb_are_not_those_of_rocksdb(tmp_path: Path) -> None:
    lines = [line(1, "Compacting 4@0 + 1@1 files"), line(2, "compacted to: files[ 0 3 9 0 0 0 0 ]")]
    with pytest.raises(UserError, match="LevelDB"):
        inspected(tmp_path, "\n".join([*lines, ""]))
    bench = "LevelDB:    version 1.23\nfillseq      :       2.100 micros/op;   52.7 MB/s\n"
    with pytest.raises(UserError, match="LevelDB's db_bench"):
        inspected(tmp_path, bench)


# --- folders


@pytest.mark.parametrize(
    "names",
    [
        ("mnt_data_LOG.old.1714557600", "mnt_data_LOG"),
        ("mnt_data_LOG.old.98", "mnt_data_LOG.old.1714557600"),
        ("LOG.old.5", "LOG.old"),
        ("shop.LOG.old", "shop.LOG"),
    ],
)
def test_a_folder_of_old_logs_is_a_store(names: tuple[str, str], tmp_path: Path) -> None:
    older, newer = (line(at, f"RocksDB version: 8.{at}.0\n") for at in (0, 5))
    (tmp_path / names[1]).write_text(newer)
    (tmp_path / names[0]).write_text(older)
    (tmp_path / "CURRENT").write_text("MANIFEST-000005\n")
    found = inspect_path(tmp_path)
    assert (found.version, found.span_s) == ("8.5.0", 5.0)


def test_a_folder_of_several_stores_or_of_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CATALOG").write_text("words\n")
    with pytest.raises(UserError, match="no LOG"):
        inspect_path(tmp_path)
    for name in ("a_LOG.old.1", "b_LOG"):
        (tmp_path / name).write_text(line(0, "RocksDB version: 8.0.0\n"))
    with pytest.raises(UserError, match="a_LOG, b_LOG"):
        inspect_path(tmp_path)
