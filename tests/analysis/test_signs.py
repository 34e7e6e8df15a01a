"""Signs that are in options, in one event or in one line, and what is no sign."""

from pathlib import Path

import pytest
from log_texts import compaction, dump, event, flush, line, log, stalls

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path

MIB, GIB = 1 << 20, 1 << 30
TIKV = "[rocksdb.defaultcf]\nwrite-buffer-size = '1GB'\nmax-write-buffer-number = 6\n"
BLOBS = "enable_blob_files=true;min_blob_size=4096;write_buffer_size=64m;target_file_size_base="
FIFO = "compaction_style=kCompactionStyleFIFO;write_buffer_size=64m;compaction_options_fifo="
MYROCKS = "[mysqld]\nrocksdb_default_cf_options=level0_file_num_compaction_trigger="


def read(tmp_path: Path, text: str) -> Inspection:
    path = tmp_path / "file"
    path.write_text(text)
    return inspect_path(path)


def weights(log_: Inspection) -> dict[str, float]:
    return {finding.code: finding.weight for finding in log_.findings}


@pytest.mark.parametrize(
    ("code", "sign", "none"),
    [
        ("fifo-tiny-limit", FIFO + "{max_table_files_size=20480}",
         FIFO + "{max_table_files_size=1073741824}"),
        ("fifo-tiny-limit", "compaction_style=kCompactionStyleFIFO;write_buffer_size=2g",
         "compaction_style=kCompactionStyleLevel;write_buffer_size=2g"),
        ("low-memory-limit", "db_write_buffer_size=32m;write_buffer_size=64m",
         "db_write_buffer_size=64m;write_buffer_size=64m"),
        ("blob-large-tables", BLOBS + "128m", BLOBS + "64m"),
        ("blob-large-tables", BLOBS + "128m", BLOBS + "128m;min_write_buffer_number_to_merge=4"),
        ("compaction-off", "disable_auto_compactions=true", "disable_auto_compactions=false"),
        ("low-l0-trigger", MYROCKS + "4;level0_slowdown_writes_trigger=5\n",
         MYROCKS + "4;level0_slowdown_writes_trigger=8\n"),
        ("low-l0-trigger", MYROCKS + "8;level0_slowdown_writes_trigger=10\n",
         MYROCKS + "20;level0_slowdown_writes_trigger=30\n"),
        ("no-slowdown", MYROCKS + "20;level0_slowdown_writes_trigger=30;"
         "level0_stop_writes_trigger=30\n", MYROCKS + "20;level0_slowdown_writes_trigger=30;"
         "level0_stop_writes_trigger=31\n"),
        ("no-slowdown", "soft_pending_compaction_bytes_limit=8G;"
         "hard_pending_compaction_bytes_limit=8G", "soft_pending_compaction_bytes_limit=0;"
         "hard_pending_compaction_bytes_limit=0"),
        ("wal-unlimited", log(families=("default", "a"), family={"write_buffer_size": GIB}),
         TIKV + TIKV.replace("default", "write")),
        ("tikv-flow-control", "[rocksdb.writecf]\nlevel0-slowdown-writes-trigger = 21\n",
         "[rocksdb.writecf]\nlevel0-slowdown-writes-trigger = 20\n"),
        ("tikv-flow-control", "[rocksdb.writecf]\nlevel0-slowdown-writes-trigger = 20\n"
         "[storage.flow-control]\nl0-files-threshold = 50\n",
         "[rocksdb.writecf]\nlevel0-slowdown-writes-trigger = 50\n"
         "[storage.flow-control]\nl0-files-threshold = 50\n"),
    ],
)  # fmt: skip
def test_a_sign_in_options_is_a_finding(code: str, sign: str, none: str, tmp_path: Path) -> None:
    assert code in weights(read(tmp_path, sign))
    assert code not in weights(read(tmp_path, none))


def test_what_events_show_has_more_weight_than_what_options_allow(tmp_path: Path) -> None:
    off = {"disable_auto_compactions": 1}
    shown = read(tmp_path, log(event(1, "flush_finished", job=2, lsm_state=[40, 0]), family=off))
    few = read(tmp_path, log(event(1, "flush_finished", job=2, lsm_state=[4, 0]), family=off))
    unknown = read(tmp_path, "disable_auto_compactions=true")
    assert weights(shown)["compaction-off"] > weights(unknown)["compaction-off"]
    assert "compaction-off" not in weights(few)
    blobs = {"enable_blob_files": "true", "target_file_size_base": 128 * MIB}
    assert "blob-large-tables" not in weights(read(tmp_path, log(flush(1, 2), family=blobs)))
    memory = log(flush(1, 2), database={"db_write_buffer_size": MIB})
    assert "low-memory-limit" not in weights(read(tmp_path, memory))


def test_a_slowdown_trigger_next_to_the_compaction_trigger_is_judged_by_stalls(
    tmp_path: Path,
) -> None:
    low = {"level0_slowdown_writes_trigger": 5}
    calm = read(tmp_path, log(dump(100), family=low))
    stalled = read(tmp_path, log(stalls("we have 6 level-0 files"), dump(30, stalled_s=20.0),
                                 family=low))  # fmt: skip
    assert "low-l0-trigger" not in weights(calm)
    assert "low-l0-trigger" in weights(stalled)


MANIFEST = (
    "[/version_set.cc:6111] Recovered from manifest file:/graph/MANIFEST-7 succeeded,"
    "manifest_file_number is 7, log_number is 900,max_column_family is 1,min_log_number_to_keep is "
)


def recovery(kept: int, needed: int, count: int, *lines: str, name: str = "wal_files") -> str:
    """Return an excerpt of an opening that lists WAL files from `kept` on."""
    numbers = [kept + 7 * n for n in range(count)]
    return "\n".join([
        line(0, f"{MANIFEST}{kept}"),
        line(0, f"[/version_set.cc:6120] Column family [default] (ID 0), log number is {needed}"),
        line(0, f"[/version_set.cc:6120] Column family [a] (ID 1), log number is {needed + 9}"),
        *([line(*event(0, "recovery_started", job=1, **{name: numbers}))] if count else []),
        *(line(1, text) for text in lines), "",
    ])  # fmt: skip


@pytest.mark.parametrize("name", ["wal_files", "log_files"])
def test_wal_files_of_one_event_count(name: str, tmp_path: Path) -> None:
    (finding,) = read(tmp_path, recovery(100, 90, 161, name=name)).findings
    assert (finding.code, finding.look_at) == ("many-wals", ("max_total_wal_size",))
    assert "161" in finding.evidence
    assert not read(tmp_path, recovery(100, 90, 19, name=name)).findings


def test_wal_files_that_rocksdb_skips_do_not_count(tmp_path: Path) -> None:
    skipped = [f"[db_impl_open.cc:1015] Skipping log #{100 + 7 * n} since it is older than min "
               "log to keep #5000" for n in range(39)]  # fmt: skip
    text = recovery(100, 5000, 40, *skipped, "[db_impl_open.cc:1029] Recovering log #5001 mode 2")
    assert not read(tmp_path, text).findings


@pytest.mark.parametrize("count", [0, 30])
def test_wal_files_that_no_family_needs_are_held_by_a_transaction(
    count: int, tmp_path: Path
) -> None:
    reading = ["[db_impl_open.cc:1029] Recovering log #100 mode 2"] if count else []
    (finding,) = read(tmp_path, recovery(100, 5000, count, *reading)).findings
    assert (finding.code, finding.look_at) == ("many-wals", ())
    assert {"100", "5000"} <= {*finding.evidence.replace(".", " ").replace(",", " ").split()}
    needed = read(tmp_path, recovery(4990, 5000, 0)).findings
    assert not needed


def test_long_reading_of_wal_files_weighs_more(tmp_path: Path) -> None:
    ended = event(1800, "recovery_finished", job=1)
    short = recovery(100, 90, 30)
    assert (
        weights(read(tmp_path, f"{short}{line(*ended)}\n"))["many-wals"]
        > weights(read(tmp_path, short))["many-wals"]
    )


def test_a_gap_before_the_manifest_is_read_is_a_slow_opening(tmp_path: Path) -> None:
    before, after = line(0, "   Options.ttl: 0"), line(95, f"{MANIFEST}0")
    other = line(0, "[db/db_impl/db_impl.cc:900] Shutdown complete")
    assert "slow-opening" in weights(read(tmp_path, f"{before}\n{after}\n"))
    assert not read(tmp_path, f"{before}\n{line(2, f'{MANIFEST}0')}\n").findings
    assert not read(tmp_path, f"{other}\n{after}\n").findings


def test_a_compaction_with_score_minus_one_is_manual(tmp_path: Path) -> None:
    lines = [
        (at, text.replace(', "compaction_reason": "LevelL0FilesNum"', "").replace(
            '"score": 1', '"score": -1'))
        for n in range(5) for at, text in compaction(1 + 2 * n, 100 + n)
    ]  # fmt: skip
    found = read(tmp_path, log(stalls("we have 24 level-0 files"), lines))
    assert "manual-compaction" in weights(found)


def syncs(uptime_s: float, writes: int, keys: str) -> str:
    return (
        f"** DB Stats **\nUptime(secs): {uptime_s:.1f} total, 2.0 interval\n"
        f"Cumulative writes: {writes} writes, {keys} keys, {writes} commit groups, 1.0 writes per "
        "commit group, ingest: 27.78 GB, 0.36 MB/s\n"
        f"Cumulative WAL: {writes} writes, {writes} syncs, 1.00 writes per sync, written: 0.00 GB, "
        "0.00 MB/s\n"
    )


@pytest.mark.parametrize(
    ("uptime_s", "keys", "is_found"),
    [(100, "54K", True), (79985, "54K", False), (100, "5400K", False)],
)
def test_few_syncs_and_large_batches_are_no_finding(
    uptime_s: float, keys: str, is_found: bool, tmp_path: Path
) -> None:
    found = weights(read(tmp_path, syncs(uptime_s, 54_000, keys)))
    assert ("sync-writes" in found) is is_found


def rewrites(count: int, records: int = 1000) -> list[tuple[float, str]]:
    """Return compactions of a file of the last level, each of what the one before wrote."""
    return [
        entry for n in range(count)
        for entry in compaction(2 * n, 100 + n, reason="BottommostFiles", inputs=(6,), output=6,
                                file=99 + n, dropped=1000 - records)
    ]  # fmt: skip


@pytest.mark.parametrize("has_files", [True, False])
def test_an_excerpt_shows_that_a_file_is_compacted_again_without_change(
    has_files: bool, tmp_path: Path
) -> None:
    def excerpt(records: int) -> str:
        told = [(at, text) for at, text in rewrites(8, records)
                if has_files or "table_file_creation" not in text]  # fmt: skip
        return "\n".join([*(line(at, text) for at, text in told), ""])

    assert "endless-compaction" in weights(read(tmp_path, excerpt(1000)))
    assert "endless-compaction" not in weights(read(tmp_path, excerpt(900)))


def test_lines_of_speedb_without_a_time_are_stalls(tmp_path: Path) -> None:
    text = "".join(
        f"[WARN] [/write_controller.cc:100] WC setting delay of {rate}\n" for rate in (9000, 4000)
    )
    found = read(tmp_path, text)
    assert weights(found).keys() == {"writes-slowed"}
    assert [stall.least_rate for stall in found.stalls] == [4000]


def test_a_table_that_begins_with_a_deep_level_is_read(tmp_path: Path) -> None:
    cells = "0.0 0.0 0.0 0.0 1.5 0.0 0.0 1.0 0.0 0.0 0.00 0.00 0 0.000 0 0 0.0 0.0"
    text = "".join(f" {level} 2/0 5.00 GB {cells}\n" for level in ("L44", "L45", "Sum"))
    found = read(tmp_path, text)
    assert [(row.level, row.files, row.size_bytes) for row in found.levels] == [
        ("L44", 2, 5 * GIB), ("L45", 2, 5 * GIB),
    ]  # fmt: skip


@pytest.mark.parametrize(("stalled_s", "is_first"), [(None, True), (20.0, True), (0.1, False)])
def test_a_stop_of_writes_comes_before_slow_reads(
    stalled_s: float | None, is_first: bool, tmp_path: Path
) -> None:
    """Many files in level 0 make reads slow, and writes stop because of them."""
    stopped = stalls("we have 148 level-0 files", stop=True, times=2)
    if stalled_s is None:
        text = "".join(f"{line(at, words)}\n" for at, words in stopped)
    else:
        text = log(stopped, event(9, "flush_finished", job=2, lsm_state=[148, 0]),
                   dump(30, stalled_s=stalled_s))  # fmt: skip
    codes = [finding.code for finding in read(tmp_path, text).findings]
    assert (codes[0] != "many-l0-files") is is_first
    assert "many-l0-files" in codes
