"""Texts of MyRocks, Kvrocks, exporters and PerfContext about their RocksDB, with own numbers."""

import csv
import io
from collections.abc import Mapping

GIB = 1 << 30
STATUS = {
    "rocksdb_rows_read": "5",
    "rocksdb_block_cache_data_hit": "600",
    "rocksdb_block_cache_data_miss": "1400",
    "rocksdb_bytes_written": str(4 * GIB),
    "rocksdb_flush_write_bytes": str(4 * GIB),
    "rocksdb_compact_write_bytes": str(12 * GIB),
    "rocksdb_number_keys_read": "40000",
    "rocksdb_memtable_hit": "1000",
    "rocksdb_get_hit_l0": "2000",
    "rocksdb_stall_l0_file_count_limit_stops": "7",
    "rocksdb_stall_total_stops": "7",
    "rocksdb_stall_micros": "90000000",
}
"""Variables of MyRocks, with values of our own."""


Rows = list[tuple[str, ...]]


def with_bars(rows: Rows) -> str:
    rule = "+------+-----+\n"
    lines = [f"| {' | '.join(f'{cell:<9}' for cell in row)} |\n" for row in rows]
    return "".join(("mysql> select ...;\n", rule, lines[0], rule, *lines[1:], rule, "9 rows\n"))


def with_tabs(rows: Rows) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def vertical(rows: Rows) -> str:
    return "".join(
        f"{'*' * 27} {number}. row {'*' * 27}\n"
        + "".join(f"{name:>13}: {cell}\n" for name, cell in zip(rows[0], row, strict=True))
        for number, row in enumerate(rows[1:], start=1)
    )


def comma_separated(rows: Rows) -> str:
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return file.getvalue()


FORMS = {"bars": with_bars, "tabs": with_tabs, "vertical": vertical, "csv": comma_separated}


def variables(values: Mapping[str, str]) -> Rows:
    return [("Variable_name", "Value"), *values.items()]


LEVELS: Rows = [
    ("CF_NAME", "LEVEL", "TYPE", "VALUE"),
    *(
        (family, level, name, value)
        for family, files in (("default", "148"), ("__system__", "2"))
        for level, count, size in (("L0", files, "3221225472"), ("L1", "9", "268435456"),
                                   ("Sum", "57", "3489660928"))
        for name, value in (("AvgSec", "0.053478"), ("CompCount", "30"), ("KeyIn", "4000000"),
                            ("NumFiles", count), ("ReadGB", "2.000002"), ("Score", "0.123"),
                            ("SizeBytes", size), ("WriteAmp", "1.75335"), ("WriteGB", "9.5"))
    ),
]  # fmt: skip


OPTIONS: Rows = [
    ("CF_NAME", "OPTION_TYPE", "VALUE"),
    ("default", "COMPARATOR", "RocksDB_SE_v3.10"),
    ("default", "WRITE_BUFFER_SIZE", "1073741824"),
    ("default", "LEVEL0_FILE_NUM_COMPACTION_TRIGGER", "4"),
    ("default", "LEVEL0_STOP_WRITES_TRIGGER", "36"),
    ("default", "MAX_BYTES_FOR_LEVEL_BASE", "67108864"),
    ("default", "LEVEL_COMPACTION_DYNAMIC_LEVEL_BYTES", "OFF"),
    ("default", "COMPRESSION_TYPE", "kSnappyCompression"),
    ("default", "COMPACTION_STYLE", "kCompactionStyleLevel"),
    ("default", "COMPACTION_OPTIONS_UNIVERSAL", "{SIZE_RATIO=1; MIN_MERGE_WIDTH=2}"),
    ("default", "TABLE_FACTORY::CAPACITY", "536870912"),
    ("default", "TABLE_FACTORY::BLOCK_SIZE", "4096"),
]


PERF = {
    "user_key_comparison_count": 9000, "block_cache_hit_count": 500, "block_read_count": 900,
    "block_cache_index_hit_count": 100, "index_block_read_count": 50,
    "block_cache_filter_hit_count": 150, "filter_block_read_count": 800,
    "get_from_memtable_count": 2000, "seek_on_memtable_count": 0,
}  # fmt: skip


def perf_text(counts: Mapping[str, int], end: str = ", ") -> str:
    return end.join(f"{name} = {count}" for name, count in counts.items()) + end


INFO = """# Server
kvrocks_version:2.16.0
rocksdb_version:11.1.1
uptime_in_seconds:7200

# RocksDB
block_cache_usage:1048576
estimate_keys[default]:10
level0_file_limit_slowdown[default]:
level0_file_limit_stop[metadata]:3
memtable_count_limit_slowdown[metadata]:4
num_files_at_level[default]:[1,0,2,0,0,0,0]
num_files_at_level[metadata]:[177,4,30,0,0,0,0]
estimate_pending_compaction_bytes[metadata]:9
block_cache_data_hit:10
block_cache_data_miss:30
is_compacting:no
"""


TIKV = """# HELP tikv_engine_flow_bytes Bytes and keys of read/written
# TYPE tikv_engine_flow_bytes counter
tikv_engine_flow_bytes{db="kv",type="bytes_written"} 4294967296
tikv_engine_flow_bytes{db="raft",type="bytes_written"} 7
tikv_engine_flow_bytes{db="kv",type="flush_write_bytes"} 4294967296
tikv_engine_flow_bytes{db="kv",type="keys_read"} 5000
tikv_engine_compaction_flow_bytes{db="kv",type="bytes_written"} 1.2884901888e+10
tikv_engine_cache_efficiency{db="kv",type="block_cache_data_hit"} 1
tikv_engine_cache_efficiency{db="kv",type="block_cache_data_miss"} 3
tikv_engine_stall_micro_seconds{db="kv"} 2e6
tikv_engine_num_files_at_level{cf="write",db="kv",level="0"} 160
tikv_engine_num_files_at_level{cf="write",db="kv",level="6"} 900
tikv_engine_num_files_at_level{cf="default",db="raft",level="0"} 99
tikv_engine_write_stall_reason{db="kv",type="level0_file_limit_stop"} 5
"""
MYSQL = "".join(
    f"# HELP mysql_global_status_{name} Generic metric from SHOW GLOBAL STATUS.\n"
    f"# TYPE mysql_global_status_{name} untyped\nmysql_global_status_{name} {value}\n"
    for name, value in (STATUS | {"uptime": "3600"}).items()
)
MONGODB = """mongodb_mongod_instance_uptime_seconds 3600
mongodb_mongod_rocksdb_files{level="L0"} 60
mongodb_mongod_rocksdb_files{level="L5"} 30
mongodb_mongod_rocksdb_files{level="total"} 90
mongodb_mongod_rocksdb_size_bytes{level="L0"} 6.442450944e+09
mongodb_mongod_rocksdb_size_bytes{level="L5"} 3.221225472e+09
mongodb_mongod_rocksdb_size_bytes{level="total"} 9.663676416e+09
mongodb_mongod_rocksdb_compaction_bytes_total{level="L0",type="write"} 4.294967296e+09
mongodb_mongod_rocksdb_compaction_bytes_total{level="L5",type="write"} 1.2884901888e+10
mongodb_mongod_rocksdb_compaction_bytes_total{level="L5",type="read"} 1.073741824e+10
mongodb_mongod_rocksdb_compaction_bytes_total{level="total",type="write"} 1.7179869184e+10
mongodb_mongod_rocksdb_compaction_bytes_total{level="total",type="read"} 1.073741824e+10
mongodb_mongod_rocksdb_compaction_score{level="L0"} -1
mongodb_mongod_rocksdb_stalls_total{type="level0_numfiles"} 5
mongodb_mongod_rocksdb_stalled_seconds_total 900
mongodb_mongod_rocksdb_stall_percent 25
mongodb_mongod_rocksdb_bytes_written_total{type="total"} 4.294967296e+09
mongodb_mongod_rocksdb_bytes_written_total{type="flush"} 4.294967296e+09
mongodb_mongod_rocksdb_bytes_written_total{type="compaction"} 1.2884901888e+10
mongodb_mongod_rocksdb_keys_total{type="read"} 5000
"""
