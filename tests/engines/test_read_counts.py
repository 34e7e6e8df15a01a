"""Counted work of the read probe, and the memory of open tables, from what programs print."""

from pathlib import Path
from typing import Any

import pytest

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.bench import Files, Part
from lsmtune.engines.rocksdb.db_bench import output as of_db_bench
from lsmtune.engines.rocksdb.driver import output as of_driver
from lsmtune.engines.rocksdb.measure import metadata_bytes, readers_bytes
from lsmtune.engines.tickers import sorted_runs
from lsmtune.metrics.log_reader import LogContent, read_log
from lsmtune.metrics.measurement import Level
from lsmtune.system.process import ExitStatus
from lsmtune.workloads import Workload

RECORDED = Path(__file__).parents[1] / "fakes" / "recorded" / "probe.txt"
STATUS = ExitStatus(0, None, 1.0, 1)


def part(folder: Path) -> Part:
    return Part("probe", Workload(num=1000), 1, folder / "db", folder, "", {})


def ran(name: str, kind: str, count: int) -> dict[str, Any]:
    times = {f"{p}_us": 1.0 for p in ("mean", "p50", "p75", "p99", "p999", "p9999")}
    return {"event": "run", "phase": name, "seconds": 1.0,
            "operations": {kind: {"count": count, "records": count, **times}}}  # fmt: skip


def report(hits: int, misses: int) -> dict[str, Any]:
    text = (f"rocksdb.block.cache.data.hit COUNT : {hits}\n"
            f"rocksdb.block.cache.data.miss COUNT : {misses}")  # fmt: skip
    return {"event": "report", "statistics": text}


PHASES = [ran("gets", "get", 10), ran("missing", "get_missing", 10), ran("scans", "scan", 10)]
REPORTS = [report(8, 4), report(9, 4), report(90, 10)]


def test_driver_report_after_each_phase_counts_the_phase(tmp_path: Path) -> None:
    events = [event for pair in zip(PHASES, REPORTS, strict=True) for event in pair]
    found = of_driver.probe_output(STATUS, events, part(tmp_path))
    counts = [run.data_blocks for run in (found.gets, found.missing, found.scans)]
    assert counts == [12, 1, 87]
    assert found.statistics.tickers["rocksdb.block.cache.data.hit"] == 90


def test_driver_report_is_missing(tmp_path: Path) -> None:
    with pytest.raises(TrialFailedError, match="1 of 3"):
        of_driver.probe_output(STATUS, [*PHASES, REPORTS[-1]], part(tmp_path))


def printed(folder: Path, text: str) -> Files:
    files = Files.of(folder, "probe")
    files.stdout.write_text(text)
    return files


def test_db_bench_counts_of_all_benchmarks_are_those_of_the_statistics(tmp_path: Path) -> None:
    found = of_db_bench.probe_output(STATUS, printed(tmp_path, RECORDED.read_text()))
    counts = [run.data_blocks for run in (found.gets, found.missing, found.scans)]
    assert counts == [500, 574, 1749]
    tickers = found.statistics.tickers
    assert sum(counts) == sum(tickers[f"rocksdb.block.cache.data.{n}"] for n in ("hit", "miss"))


def test_db_bench_without_perf_level_has_no_counts(tmp_path: Path) -> None:
    old = RECORDED.read_text().replace("PERF_CONTEXT", "")
    found = of_db_bench.probe_output(STATUS, printed(tmp_path, old))
    assert found.gets.data_blocks is None
    assert found.gets.looked_up == 500


def test_db_bench_dictionaries_in_the_cache_are_not_data_blocks(tmp_path: Path) -> None:
    """One dictionary is looked up before each data block; the counters contain both."""
    name = "rocksdb.block.cache.compression.dict.hit COUNT : "
    text = RECORDED.read_text().replace(f"{name}0", f"{name}2823")
    found = of_db_bench.probe_output(STATUS, printed(tmp_path, text))
    assert found.gets.data_blocks == pytest.approx(500 / 2)


def test_sorted_runs_are_files_of_level_0_and_levels_with_files() -> None:
    def level(name: str, files: int) -> Level:
        return Level(level=name, files=files, size_bytes=1, read_bytes=None, write_bytes=None,
                     w_amp_table=None)  # fmt: skip

    assert sorted_runs([level("L0", 3), level("L5", 0), level("L6", 7)]) == 4
    assert sorted_runs([level("L0", 0), level("L1", 1), level("L2", 1)]) == 2
    assert sorted_runs([]) == 0


def log(table: str, *files: str) -> LogContent:
    """A LOG with options of tables, and with a flush that made these files."""
    stamp = "2026/11/26-19:09:19.698541 1"
    start = f'{stamp} EVENT_LOG_v1 {{"time_micros": 1, "job": 2, "event": "flush_started"}}'
    made = (f'{stamp} EVENT_LOG_v1 {{"time_micros": 2, "job": 2, "event": "table_file_creation", '
            f'"file_number": {file}}}' for file in files)  # fmt: skip
    options = ["2026/11/26-19:09:19.698540 1 Options.comparator: x",
               f"{stamp}        table_factory options:   flush_block_policy_factory: x",
               f"  {table}"]  # fmt: skip
    return read_log([*options, start, *made])


SIZES = ('9, "table_properties": {"index_size": 100, "filter_size": 20}',
         '11, "table_properties": {"index_size": 300, "top_level_index_size": 7, '
         '"filter_size": 50}')  # fmt: skip


@pytest.mark.parametrize(
    ("table", "live", "expected"),
    [
        ("cache_index_and_filter_blocks: 0", ("000009", "000011"), 120 + 57),
        ("cache_index_and_filter_blocks: 0", ("000009",), 120),
        ("cache_index_and_filter_blocks: 0", ("000009", "000012"), None),
        ("cache_index_and_filter_blocks: 1", ("000009", "000012"), 0),
        ("partition_filters: 1", ("000009", "000011"), 120 + 7),
    ],
)
def test_memory_of_open_tables_is_that_of_live_files(
    tmp_path: Path, table: str, live: tuple[str, ...], expected: int | None
) -> None:
    for name in live:
        (tmp_path / f"{name}.sst").touch()
    found = log(table, *SIZES)
    assert readers_bytes(found, tmp_path, metadata_bytes(found)) == expected
