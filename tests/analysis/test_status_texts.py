"""What other programs print about their RocksDB: MyRocks, Kvrocks, exporters, PerfContext."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from planted_texts import TEXTS
from status_texts import (
    FORMS,
    GIB,
    INFO,
    LEVELS,
    MONGODB,
    MYSQL,
    OPTIONS,
    PERF,
    STATUS,
    TIKV,
    Rows,
    perf_text,
    variables,
    with_bars,
    with_tabs,
)

from lsmtune.analysis.inspect.applying import Line, lines_to_apply
from lsmtune.analysis.inspect.first_steps import Change, FirstStep
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.errors import UserError


def inspected(text: str, folder: Path) -> Inspection:
    path = folder / "text"
    path.write_text(text)
    return inspect_path(path)


def codes(log: Inspection) -> list[str]:
    return [finding.code for finding in log.findings]


def test_a_cell_that_is_too_long_is_no_counter(tmp_path: Path) -> None:
    long = f"rocksdb_x,{'1' * 200_000}\n"
    log = inspected(long + "\n".join(f"{key},{value}" for key, value in STATUS.items()), tmp_path)
    assert log.tickers["rocksdb.l0.hit"] == 2000


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("spell", [str, str.upper, str.capitalize])
def test_status_variables_of_myrocks_become_tickers(
    name: str, spell: Callable[[str], str], tmp_path: Path
) -> None:
    values = {spell(key): value for key, value in STATUS.items()} | {"Uptime": "3600"}
    log = inspected(FORMS[name](variables(values)), tmp_path)
    assert log.kind == "MyRocks status table"
    assert log.totals.write_amp == pytest.approx(4.0)
    assert log.totals.clients_period == "since_start"
    assert log.tickers["rocksdb.l0.hit"] == 2000
    assert log.load.span_s == 3600
    assert log.load.gets_s == pytest.approx(40000 / 3600)
    assert log.stall_counts == {"l0-file-count-limit-stops": 7, "total-stops": 7}
    assert "counted-stalls" in codes(log)


def test_without_an_uptime_counters_give_no_rates(tmp_path: Path) -> None:
    log = inspected(with_tabs(variables(STATUS)), tmp_path)
    assert (log.load.span_s, log.load.gets_s, log.load.writes_s) == (None, None, None)
    assert log.totals.write_amp == pytest.approx(4.0)
    assert all(fact.period_s is None for fact in log.facts if fact.source == "ticker")


def test_few_bytes_are_told_and_not_missing(tmp_path: Path) -> None:
    values = STATUS | {"rocksdb_bytes_written": "9000000"}
    log = inspected(with_tabs(variables(values)), tmp_path)
    assert (log.totals.ingest_bytes, log.totals.write_amp) == (9_000_000, None)


@pytest.mark.parametrize("name", FORMS)
def test_compaction_stats_of_myrocks_become_levels(name: str, tmp_path: Path) -> None:
    log = inspected(FORMS[name](LEVELS), tmp_path)
    rows = {(row.family, row.level): row for row in log.levels}
    assert rows["default", "L0"].files == 148
    assert rows["default", "L1"].size_bytes == 1 << 28
    assert rows["__system__", "L0"].files == 2
    total = log.tables["default"].sum
    assert total is not None
    assert total.write_gb == pytest.approx(9.5)
    assert log.totals.w_amp_table == pytest.approx(1.8)
    assert codes(log) == ["many-l0-files"]
    assert not [note for note in log.incomplete if "parse" in note]


@pytest.mark.parametrize("name", FORMS)
def test_options_of_column_families_of_myrocks_are_options(name: str, tmp_path: Path) -> None:
    log = inspected(FORMS[name](OPTIONS), tmp_path)
    assert log.family_number("default", "write_buffer_size") == GIB
    assert log.number("block_cache_capacity") == 1 << 29
    assert log.option("level_compaction_dynamic_level_bytes") == "0"
    assert log.option("compression") == "kSnappyCompression"
    assert "tiny-levels" in codes(log)


def test_tables_of_one_text_are_judged_together(tmp_path: Path) -> None:
    text = with_bars(variables(STATUS)) + with_bars(LEVELS) + with_bars(OPTIONS)
    log = inspected(text, tmp_path)
    assert {"many-l0-files", "tiny-levels", "counted-stalls"} <= set(codes(log))


@pytest.mark.parametrize("end", [", ", "\n ", ",\n"])
def test_a_perf_context_becomes_tickers(end: str, tmp_path: Path) -> None:
    log = inspected(perf_text(PERF, end), tmp_path)
    assert log.kind == "PerfContext"
    assert log.facts.value("gets") == 2000
    assert log.facts.value("data_cache_hit_percent") == pytest.approx(100 * 250 / 300)
    assert codes(log) == ["metadata-misses"]


@pytest.mark.parametrize("tables", [1, 2])
def test_perf_contexts_of_tables_are_summed(tables: int, tmp_path: Path) -> None:
    rows: Rows = [("TABLE_SCHEMA", "TABLE_NAME", "PARTITION_NAME", "STAT_TYPE", "VALUE")]
    rows += [
        ("shop", f"t{table}", "NULL", name.upper(), str(count))
        for table in range(tables)
        for name, count in PERF.items()
    ]
    log = inspected(with_tabs(rows), tmp_path)
    assert log.facts.value("gets") == 2000 * tables
    of_all: Rows = [("STAT_TYPE", "VALUE"), *((name.upper(), "1") for name in PERF)]
    assert inspected(with_tabs(rows + of_all), tmp_path).facts.value("gets") == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_info_of_kvrocks_has_levels_and_stalls(end: str, tmp_path: Path) -> None:
    log = inspected(INFO.replace("\n", end), tmp_path)
    assert (log.kind, log.version, log.load.span_s) == ("Kvrocks INFO", "11.1.1", 7200)
    assert log.level_0_files("metadata") == 177
    assert log.stall_counts == {"l0-file-count-limit-stops": 3, "memtable-limit-delays": 4}
    assert log.facts.value("data_cache_hit_percent") == pytest.approx(25)
    assert {"many-l0-files", "counted-stalls"} <= set(codes(log))
    assert {finding.family for finding in log.findings if finding.code == "many-l0-files"} == {
        "metadata"
    }
    assert not [note for note in log.incomplete if "parse" in note]


@pytest.mark.parametrize(
    ("files", "title"), [(177, "Writes are stopped"), (39, "Writes are slowed down"), (19, "")]
)
def test_level_0_of_kvrocks_is_judged_by_its_own_triggers(
    files: int, title: str, tmp_path: Path
) -> None:
    calm = INFO.replace("stop[metadata]:3", "stop[metadata]:").replace("[177,", f"[{files},")
    calm = calm.replace("slowdown[metadata]:4", "slowdown[metadata]:")
    log = inspected(calm.replace("bytes[metadata]:9", "bytes[metadata]:7516192768"), tmp_path)
    titles = [finding.title for finding in log.findings if finding.code == "many-l0-files"]
    assert [one.partition(",")[0] for one in titles] == ([title] if title else [])
    for finding in log.findings:
        assert "7 GiB" in finding.evidence
        assert lines_to_apply(finding, log) == (Line("CONFIG SET rocksdb.max_background_jobs 8"),)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (Change("write_buffer_size", "set", None, str(GIB)),
         Line("CONFIG SET rocksdb.write_buffer_size 1024")),
        (Change("disable_auto_compactions", "set", None, "false"),
         Line("CONFIG SET rocksdb.disable_auto_compactions no")),
        (Change("partition_filters", "set", None, "true"),
         Line("rocksdb.partition_filters yes", "kvrocks.conf")),
        (Change("max_total_wal_size", "set"), Line("CONFIG SET rocksdb.max_total_wal_size N")),
    ],
)  # fmt: skip
def test_a_step_is_applied_in_the_words_and_units_of_kvrocks(
    change: Change, line: Line, tmp_path: Path
) -> None:
    log = inspected(INFO, tmp_path)
    finding = replace(log.findings[0], step=FirstStep("", (change,)))
    assert lines_to_apply(finding, log) == (line,)


@pytest.mark.parametrize(
    ("flushed", "write_amp"), [(7000, None), (64 << 20, 0.64), (4 << 20, None)]
)
def test_bytes_that_wait_in_memtables_give_no_write_amplification(
    flushed: int, write_amp: float | None, tmp_path: Path
) -> None:
    values = STATUS | {"rocksdb_bytes_written": str(100 << 20), "rocksdb_compact_write_bytes": "0"}
    text = with_tabs(variables(values | {"rocksdb_flush_write_bytes": str(flushed)}))
    log = inspected(text, tmp_path)
    assert (log.totals.write_amp, log.totals.flush_write_bytes) == (write_amp, flushed)
    assert log.totals.ingest_bytes == 100 << 20


def test_more_bytes_than_memtables_hold_give_a_write_amplification(tmp_path: Path) -> None:
    values = STATUS | {"rocksdb_flush_write_bytes": "7000", "rocksdb_compact_write_bytes": "0"}
    log = inspected(with_tabs(variables(values)), tmp_path)
    assert log.totals.write_amp == pytest.approx(7000 / (4 * GIB))


@pytest.mark.parametrize("words", ["index_block_read_count = 1", "block_read_byte = 1000000"])
def test_reads_of_data_or_of_small_blocks_are_no_large_filter_blocks(
    words: str, tmp_path: Path
) -> None:
    name = words.partition(" = ")[0]
    text = TEXTS["large-filter-block"]
    assert "large-filter-block" in codes(inspected(text, tmp_path))
    changed = re.sub(rf"\b{name} = \d+", words, text)
    assert "large-filter-block" not in codes(inspected(changed, tmp_path))


@pytest.mark.parametrize("text", [TIKV, MYSQL, MONGODB])
def test_metrics_of_exporters_become_tickers_and_counts(text: str, tmp_path: Path) -> None:
    log = inspected(text, tmp_path)
    assert log.kind == "Prometheus text"
    assert log.totals.write_amp == pytest.approx(4.0)
    assert log.stall_counts["l0-file-count-limit-stops"] in (5, 7)
    assert log.facts.value("gets") in (5000, 40000)
    assert log.findings


def test_metrics_of_tikv_are_those_of_its_data(tmp_path: Path) -> None:
    log = inspected(TIKV, tmp_path)
    assert log.level_0_files("write") == 160
    assert {row.family for row in log.levels} == {"write"}
    assert "many-l0-files" in codes(log)


def test_metrics_of_mongodb_have_a_level_table(tmp_path: Path) -> None:
    log = inspected(MONGODB, tmp_path)
    table = log.tables["default"]
    assert [(row.level, row.files, row.write_gb, row.read_gb) for row in table.rows] == [
        ("L0", 60, 4.0, 0.0), ("L5", 30, 12.0, 10.0),
    ]  # fmt: skip
    assert table.sum is not None
    assert table.sum.size_bytes == 9 * GIB
    assert (log.totals.stall_s, log.totals.stall_percent) == (900, 25)
    assert not table.incomplete


def test_metrics_of_kvrocks_have_counts_by_column_family(tmp_path: Path) -> None:
    text = (
        "kvrocks_uptime_in_seconds 60\n"
        'kvrocks_level0_file_limit_stop{metadata="metadata"} 3\n'
        'kvrocks_level0_file_limit_stop{default="default"} 1\n'
    )
    log = inspected(text, tmp_path)
    assert log.stall_counts == {"l0-file-count-limit-stops": 4}


def test_metrics_of_other_programs_are_read_by_the_names_of_tickers(tmp_path: Path) -> None:
    text = "# TYPE x counter\nours_rocksdb_stall_micros_total 5e6\nours_up 1\n"
    assert inspected(text, tmp_path).facts.value("writers_stalled_s") == 5


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("# TYPE go_goroutines gauge\ngo_goroutines 8\nup 1\n", "Prometheus text"),
        ('http_requests_total{code="200"} 5\n', "Prometheus text"),
        ("mongodb_mongod_rocksdb_background_errors 0\n", "Prometheus text"),
        (TIKV.replace('{db="kv"', '{db="kv",instance="a"')
         + TIKV.replace('{db="kv"', '{db="kv",instance="b"'), "several servers"),
        ("CF_NAME\tSTAT_TYPE\tVALUE\ndefault\tNUM_IMMUTABLE_MEM_TABLE\t0\n", "MyRocks"),
        ("Variable_name\tValue\nrocksdb_block_size\t4096\n", "MyRocks"),
        ("# RocksDB\nestimate_keys[default]:0\nblock_cache_usage:0\n", "Kvrocks"),
        ("I1128 10:00:00.1 5 event_listener.cc:79] [event_listener/compaction_begin] column "
         "family: metadata, job_id: 5\n", "Kvrocks"),
        ("I20230413 23:48:03.56 80 EventListener.h:21] Rocksdb start compaction column family\n",
         "Nebula"),
        ("--local_config=true\n--rocksdb_batch_size=4096\n", "Nebula"),
        ("application.id=a\nrocksdb.config.setter=com.example.Setter\n", "Kafka Streams"),
        ("I240101 10:00:00 1 [JOB 5] compacting(default) L2 [000004] (2 B) + L3\n", "Pebble"),
        ("rocksdb.options   speed=3;colour=red\n", "ardb"),
    ],
)  # fmt: skip
def test_texts_without_known_numbers_are_refused_by_name(
    text: str, named: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=named):
        inspected(text, tmp_path)


def test_ardb_conf_is_read_by_its_options_string(tmp_path: Path) -> None:
    text = (
        "home  ../\ndata-dir ${ARDB_HOME}/data\n# an example\n"
        "rocksdb.options        write_buffer_size=1024M;max_write_buffer_number=5;\\\n"
        "                       block_based_table_factory={block_cache=512M}\nlogfile x\n"
    )
    log = inspected(text, tmp_path)
    assert (log.kind, log.number("write_buffer_size")) == ("options string", GIB)


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def test_forks_of_rocksdb_write_logs_of_the_same_content(tmp_path: Path) -> None:
    """Speedb names two versions; ToplingDB has a column more, and units of TB."""
    stamp = "2026/01/01-10:00:00.000001 7f01"
    table = (
        "** DB Stats **", "Uptime(secs): 100.0 total, 100.0 interval",
        "Cumulative writes: 9M writes, 9M keys, 9M commit groups, 1.0 writes per commit group, "
        "ingest: 500.00 GB, 5120.00 MB/s", "",
        "** Compaction Stats [default] **",
        "Level    Files   Size     {}Score Read(GB)  Write(GB) W-Amp Comp(sec) KeyIn",
        "---------------------------------------------------------",
        "  L0     90/0    9.00 GB {}  0.5      0.0     500.0   1.0      3.00   12K",
        " Sum     90/0    9.00 GB {}  0.0      0.0     500.0   1.0      3.00   12K", "",
        "Cumulative compaction: {} write, 10.00 MB/s write, 1.00 GB read",
    )  # fmt: skip
    forks = {
        "RocksDB version: 8.6.7": ("", "", "1536.00 GB"),
        "Speedb version: 2.8.0 (8.6.7)": ("", "", "1536.00 GB"),
        "RocksDB version: 8.6.7 ": ("   RawKV   ", "  12.00 GB ", "   1.500000 TB"),
    }
    found = []
    for head, (name, size, written) in forks.items():
        body = _lines(table).format(name, size, size, written)
        dump = f"{stamp} [db/db_impl.cc:1] ------- DUMPING STATS -------\n{stamp} \n{body}"
        log = inspected(f"{stamp} {head}\n{dump}", tmp_path)
        found.append((log.version, log.totals, log.levels, codes(log)))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == "8.6.7"
    assert found[0][1].write_amp == pytest.approx(1536 / 500)
