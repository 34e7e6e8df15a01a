"""Whole LOGs in one pass: real ones, cut anywhere, garbage in them, rolled, opened twice."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.frames import without_frames
from lsmtune.metrics.log_events import EVENT_MARK, parse_event
from lsmtune.metrics.log_jobs import LevelBytes, bytes_by_level
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import LogContent, read_log
from lsmtune.units import GIB

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
RUNS = sorted(path.name for path in CAPTURED.iterdir() if path.is_dir())
LOGS = [*(f"{run}/LOG.gz" for run in RUNS), "myrocks-6.29-tpcc-universal.LOG.gz"]


@cache
def log_of(path: str) -> str:
    return gzip.decompress((CAPTURED / path).read_bytes()).decode()


@cache
def read(path: str) -> LogContent:
    return read_log(log_of(path).split("\n"))


def written(content: LogContent, kind: str) -> int:
    return sum(job.written_bytes or 0 for job in content.ledger.jobs if job.kind == kind)


def event(micros: int, job: int, name: str, **fields: object) -> str:
    payload = {"time_micros": micros, "job": job, "event": name, **fields}
    return f"2026/11/21-21:17:44.881941 9854 EVENT_LOG_v1 {json.dumps(payload)}"


@pytest.mark.parametrize("run", RUNS)
def test_written_bytes_are_those_of_the_tickers(run: str) -> None:
    content = read(f"{run}/LOG.gz")
    tickers = content.statistics.tickers
    assert written(content, "compaction") == tickers["rocksdb.compact.write.bytes"]
    flushes = [job for job in content.ledger.jobs if job.kind == "flush"]
    manifest = tickers["rocksdb.flush.write.bytes"] - written(content, "flush")
    assert 130 <= manifest / len(flushes) <= 150


@pytest.mark.parametrize("run", RUNS)
def test_read_bytes_are_nearly_those_of_the_tickers(run: str) -> None:
    content = read(f"{run}/LOG.gz")
    read_bytes = content.statistics.tickers["rocksdb.compact.read.bytes"]
    stated = sum(job.read_bytes or 0 for job in content.ledger.jobs)
    assert read_bytes < stated < 1.002 * read_bytes


@pytest.mark.parametrize("run", RUNS)
def test_counts_and_bytes_are_those_of_the_table(run: str) -> None:
    content = read(f"{run}/LOG.gz")
    table = parse_compaction_tables(content.dump_text)[-1]
    assert table.sum is not None
    assert len(content.ledger.jobs) == table.sum.comp_count
    by_level = bytes_by_level(content.ledger.jobs)
    for row in table.rows:
        moved = by_level.get(int(row.level[1:]), LevelBytes())
        assert moved.written == pytest.approx((row.write_gb or 0) * GIB, abs=0.051 * GIB)


def test_every_event_of_myrocks_is_read() -> None:
    content = read("myrocks-6.29-tpcc-universal.LOG.gz")
    assert content.version == "6.29.5"
    assert content.incomplete == []
    kinds = Counter(job.kind for job in content.ledger.jobs)
    assert kinds == {"flush": 49, "compaction": 38}
    assert written(content, "compaction") == 363_240_594


def test_blob_files_count() -> None:
    lines = [
        event(1, 2, "flush_started"),
        event(2, 2, "table_file_creation", file_size=10),
        event(3, 2, "blob_file_creation", total_blob_bytes=100),
        event(4, 2, "flush_finished"),
        event(5, 3, "compaction_started", input_data_size=7),
        event(6, 3, "table_file_creation", file_size=10_000),
        event(7, 3, "compaction_finished", total_output_size=20, total_blob_output_size=200),
    ]
    flush, compaction = read_log(lines).ledger.jobs
    assert (flush.written_bytes, compaction.written_bytes) == (110, 220)
    assert compaction.read_bytes == 7


def test_job_numbers_restart_with_the_db() -> None:
    lines = [
        event(1, 2, "flush_started"),
        event(2, 2, "flush_finished"),
        event(3, 2, "compaction_started"),
        event(4, 2, "table_file_creation", file_size=10),
    ]
    ledger = read_log(lines).ledger
    assert [job.written_bytes for job in ledger.jobs] == [0]
    assert [job.kind for job in ledger.running] == ["compaction"]


def test_the_latest_end_counts_wherever_it_stands() -> None:
    lines = [event(m, m, "flush_finished") for m in (8, 9, 7)]
    assert read_log(lines).ledger.last_finished_micros == 9


def test_stalls_begin_with_their_warning_and_end_with_the_next_look() -> None:
    stamp = "2026/11/21-21:17:44.{:06} 1 [WARN] [db/column_family.cc:1] [cf] {}"
    warnings = (
        "Stalling writes because of estimated pending compaction bytes 500 rate 8388608",
        "Stopping writes because of estimated pending compaction bytes 900",
        "Stopping writes because we have 36 level-0 files",
        "Stopping writes because we have 2 immutable memtables (waiting for flush), max",
        "Stalling writes because of reasons",
    )
    lines = [stamp.format(100 * at, words) for at, words in enumerate(warnings)]
    lines.append("2026/11/21-21:17:44.001000 1 [db/x.cc:1] [cf] New memtable created with log")
    stalls = read_log(lines).stalls.stalls
    assert [(stall.kind, stall.cause) for stall in stalls] == [
        ("delay", "estimated pending compaction bytes"),
        ("stop", "estimated pending compaction bytes"),
        ("stop", "level-0 files"),
        ("stop", "immutable memtables"),
    ]
    # RocksDB warns of one cause at a time: the next cause ends the stall.
    assert [stall.end_micros - stall.begin_micros for stall in stalls] == [100, 100, 100, 700]


def test_differing_block_caches_have_no_one_capacity() -> None:
    stamp = "2026/11/21-21:17:44.000001 1 "
    same, other = (
        [f"{stamp}-- Options for column family [{name}]:",
         f"{stamp}table_factory options:   x: 1", f"    capacity : {name}"]
        for name in (1, 2)
    )  # fmt: skip
    assert read_log(same).options.block_cache_capacity_bytes == 1
    assert read_log([*same, *other]).options.block_cache_capacity_bytes is None
    assert read_log([]).options.block_cache_capacity_bytes is None


HEADER = ("RocksDB version", "Git sha", "Compile date", "DB SUMMARY", "DB Session", "DB pointer",
          "SST files", "Write Ahead", "Options.", "table_factory", "Compression algo",
          "\tk")  # fmt: skip


def framed(entry: str) -> list[str]:
    """An entry as TiKV writes it: its time in milliseconds, and no time where it is a header."""
    day, time, message = entry[:10], entry[11:23], entry[27:].partition(" ")[2]
    if message.lstrip(" ").startswith(HEADER):
        return message.split("\n")
    first, *rest = message.split("\n")
    level = "WARN" if first.startswith("[WARN] ") else "INFO"
    return [f"[{day} {time} +08:00][5][{level}] {first.removeprefix('[WARN] ')}", *rest]


def quoted(entry: str) -> list[str]:
    """An entry as TiKV wrote it for some weeks of 2020."""
    day, time, message = entry[:10], entry[11:23], entry[27:].partition(" ")[2]
    return [f"[{day} {time} +00:00] [INFO] [rocks_logger.rs:12] [{json.dumps(message)}]"]


@pytest.mark.parametrize("frame", [framed, quoted])
@pytest.mark.parametrize("run", RUNS)
def test_tikv_frames_are_taken_off(run: str, frame: Callable[[str], list[str]]) -> None:
    entries: list[str] = []
    for line in log_of(f"{run}/LOG.gz").split("\n"):
        if line[4:5] == "/" or not entries:
            entries.append(line)
        else:
            entries[-1] += "\n" + line
    lines = [line for entry in entries for line in frame(entry)]
    content, own = read_log(without_frames(lines)), read(f"{run}/LOG.gz")
    assert content.ledger == own.ledger
    assert content.options == own.options
    assert content.statistics == own.statistics
    assert content.begins_with_opening
    held, own_held = (sum(s.duration_s for s in c.stalls.stalls) for c in (content, own))
    assert held == pytest.approx(own_held, rel=0.1)


def test_other_lines_pass_as_they_are() -> None:
    for path in LOGS:
        lines = log_of(path).split("\n")
        assert list(without_frames(lines)) == lines
    assert list(without_frames(["no", "times"])) == ["no", "times"]


def test_single_words_of_tikv_have_no_quotes() -> None:
    head = "[2020/05/06 06:05:47.546 +00:00] [INFO] [rocks_logger.rs:12] "
    lines = [f'{head}["[db/x.cc:1] words"]', f"{head.replace('INFO', 'WARN')}[Shutdown]"]
    assert list(without_frames(lines)) == [
        "2020/05/06-06:05:47.546999 0 [db/x.cc:1] words",
        "2020/05/06-06:05:47.546999 0 [WARN] Shutdown",
    ]
    cut = f'{head}["EVENT_LOG_v1 {{'
    assert list(without_frames([cut])) == ["2020/05/06-06:05:47.546999 0 EVENT_LOG_v1 {"]


@pytest.mark.parametrize("hour", ["16", "05"])
def test_the_time_zone_does_not_matter(hour: str) -> None:
    own = read("rocksdb-7.8.3-level/LOG.gz")
    lines = log_of("rocksdb-7.8.3-level/LOG.gz").split("\n")
    begin = next(at for at, line in enumerate(lines) if " writes because " in line)
    moved = [line.replace("2026/11/21-21:", f"2026/11/21-{hour}:") for line in lines]
    content = read_log(moved)
    assert (content.first_micros, content.last_micros) == (own.first_micros, own.last_micros)
    assert content.stalls.stalls == own.stalls.stalls
    cut = read_log(moved[begin:])  # begins with a stall, before any event has told the time
    assert all(stall.duration_s < 10 for stall in cut.stalls.stalls)
    assert len(cut.stalls.stalls) == len(own.stalls.stalls)


def test_a_damaged_time_is_no_time() -> None:
    lines = log_of("rocksdb-7.8.3-level/LOG.gz").split("\n")
    own = read("rocksdb-7.8.3-level/LOG.gz")
    for damaged in ("2026/11/21-21:17:36.", "2026/99/21-21:17:36.123456 1 x"):
        content = read_log([*lines, damaged])
        assert content.last_micros == own.last_micros


def test_changes_of_the_database_go_to_the_database_and_failed_ones_nowhere() -> None:
    stamp = "2026/11/21-21:17:44.881941 9854 "
    lines = [
        f"{stamp}Options.max_background_jobs: 2",
        f"{stamp}--- Options for column family [cf]:",
        f"{stamp}[db/db_impl/db_impl.cc:1] SetDBOptions(), inputs:",
        f"{stamp}[db/db_impl/db_impl.cc:2] max_background_jobs: 8",
        f"{stamp}[db/db_impl/db_impl.cc:3] SetDBOptions() succeeded",
        f"{stamp}Options.max_background_jobs: 8",
        f"{stamp}[db/db_impl/db_impl.cc:1] SetOptions() on column family [cf], inputs:",
        f"{stamp}[db/db_impl/db_impl.cc:2] write_buffer_size: 7",
        f"{stamp}[db/db_impl/db_impl.cc:3] [cf] SetOptions() failed",
    ]
    options = read_log(lines).options
    assert options.database == {"max_background_jobs": "8"}
    assert options.families == {"cf": {}}


def test_a_cut_event_is_counted_not_guessed() -> None:
    whole = event(1, 2, "flush_started")
    content = read_log([whole, event(2, 2, "flush_finished")[:-9], whole])
    assert content.ledger.jobs == []
    assert any(fault.startswith("1 event lines") for fault in content.incomplete)


def test_deep_json_is_a_cut_event() -> None:
    assert parse_event(EVENT_MARK + "[" * 100_000) is None


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    stamp = "2026/11/21-21:17:44.881941 9854 "
    read_log([text, f"{stamp}EVENT_LOG_v1 {text}", f"{stamp}EVENT_LOG_v1 [{text}]", stamp + text])


@pytest.mark.parametrize("run", RUNS)
def test_what_ran_is_read_with_times_families_and_levels(run: str) -> None:
    content = read(f"{run}/LOG.gz")
    assert content.begins_with_opening
    assert content.first_micros is not None
    assert content.last_micros is not None
    for job in content.ledger.jobs:
        assert job.family == "default"
        assert job.started_micros is not None
        assert job.finished_micros is not None
        assert content.first_micros <= job.started_micros <= job.finished_micros
        assert (job.input_levels == ()) == (job.kind == "flush")
    assert content.options.families["default"]["write_buffer_size"] == "1048576"
    assert content.options.families["default"]["block_size"] == "4096"
    assert content.options.database["max_background_jobs"] == "2"
    assert content.statistics.tickers["rocksdb.bytes.written"] > 10**8


@pytest.mark.parametrize("run", RUNS)
def test_stalls_lie_in_the_log_and_last_about_as_long_as_rocksdb_counted(run: str) -> None:
    content = read(f"{run}/LOG.gz")
    last = content.dumps[-1].dump
    assert last.stall_s is not None
    held = sum(stall.duration_s for stall in content.stalls.stalls)
    assert 0.5 * last.stall_s < held < 2 * last.stall_s
    for stall in content.stalls.stalls:
        assert content.first_micros <= stall.begin_micros <= stall.end_micros  # type: ignore[operator]
        assert stall.end_micros <= content.last_micros  # type: ignore[operator]


def test_options_that_change_while_it_runs_count_as_changed() -> None:
    options = read("myrocks-6.29-tpcc-universal.LOG.gz").options
    assert options.families["default"]["disable_auto_compactions"] == "false"
    assert set(options.families) == {"default", "__system__"}
    assert options.families["default"]["block_cache_capacity"] == "67108864"


@settings(max_examples=30)
@given(st.integers(0, 1_258_870))
def test_a_log_cut_anywhere_is_read(end: int) -> None:
    text = log_of("rocksdb-11.8.1-level/LOG.gz")[:end]
    content, whole = read_log(text.split("\n")), read("rocksdb-11.8.1-level/LOG.gz")
    assert len(content.ledger.jobs) <= len(whole.ledger.jobs)
    assert content.ledger.jobs == whole.ledger.jobs[: len(content.ledger.jobs)]


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_garbage_in_it_is_left_out(seed: int) -> None:
    rng = random.Random(seed)
    lines = log_of("rocksdb-7.8.3-level/LOG.gz").split("\n")
    for _ in range(20):
        at = rng.randrange(len(lines))
        damage = rng.choice(["", "\x00" * 50, lines[at][: len(lines[at]) // 2], lines[at] * 2,
                             "EVENT_LOG_v1 {", "2026/11/21-21:17:36.2 x"])  # fmt: skip
        lines[at] = damage
    content = read_log(lines)
    assert content.is_log
    assert len(content.ledger.jobs) > 100


def test_a_log_that_begins_later_says_so() -> None:
    text = log_of("rocksdb-7.8.3-level/LOG.gz")
    content = read_log(text[len(text) // 2 :].split("\n"))
    assert not content.begins_with_opening
    assert any("starts after" in fault for fault in content.incomplete)


def test_a_rolled_log_repeats_the_head_but_does_not_begin_there() -> None:
    lines = log_of("rocksdb-7.8.3-level/LOG.gz").split("\n")
    end = next(at for at, line in enumerate(lines) if "DB pointer" in line)
    head = [line for line in lines[:end] if not line[:4].isdigit() or "[db/" not in line]
    rolled = [*head, *lines[len(lines) // 2 :]]
    content, own = read_log(rolled), read("rocksdb-7.8.3-level/LOG.gz")
    assert not content.begins_with_opening
    assert content.openings == 0
    assert content.version == "7.8.3"
    assert content.options == own.options
    again = read_log([*lines, *rolled])
    assert again.openings == 1
    assert again.options == own.options
    assert again.dumps[: len(own.dumps)] == own.dumps


def test_options_and_statistics_are_of_the_last_opening() -> None:
    first, last = (log_of(f"rocksdb-{version}-level/LOG.gz") for version in ("7.8.3", "11.8.1"))
    content = read_log([*first.split("\n"), *last.split("\n")])
    assert content.openings == 2
    assert content.version == "11.8.1"
    assert content.statistics == read("rocksdb-11.8.1-level/LOG.gz").statistics
    assert any("opened 2 times" in fault for fault in content.incomplete)


def test_lines_of_plain_and_packed_files_are_the_same(tmp_path: Path) -> None:
    text = "one\r\ntwo\n\xff\nlast"
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(text.encode("latin-1"))
    packed.write_bytes(gzip.compress(text.encode("latin-1")))
    expected = ["one", "two", "\N{REPLACEMENT CHARACTER}", "last"]
    for path in (plain, packed):
        faults: list[str] = []
        assert list(read_lines(path, faults)) == expected
        assert faults == []


def test_a_gzip_file_that_is_cut_is_read_up_to_there(tmp_path: Path) -> None:
    path, faults = tmp_path / "LOG.gz", list[str]()
    whole = (CAPTURED / "rocksdb-7.8.3-level/LOG.gz").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    lines = list(read_lines(path, faults))
    assert log_of("rocksdb-7.8.3-level/LOG.gz").startswith("\n".join(lines))
    assert len(lines) > 1000
    assert len(faults) == 1


def test_bytes_without_line_ends_are_left_out(tmp_path: Path) -> None:
    path, faults = tmp_path / "LOG", list[str]()
    path.write_bytes(b"first\n" + bytes(20 << 20) + b"\nlast\n")
    lines = list(read_lines(path, faults))
    assert lines[0] == "first"
    assert lines[-1] == "last"
    assert sum(map(len, lines)) < 10 << 20
    assert len(faults) == 1


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none: .*No such file"):
        list(read_lines(tmp_path / "none", []))
