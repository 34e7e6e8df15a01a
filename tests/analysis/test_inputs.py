"""Folders, other programs' LOGs and outputs of db_bench."""

import gzip
from pathlib import Path

import pytest

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.errors import UserError
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.log_lines import read_lines

DATA = Path(__file__).parents[1] / "data" / "captured"
LEVELDB = """2024/05/01-10:00:00.000001 7f01 Recovering log #3
2024/05/01-10:00:00.000002 7f01 Level-0 table #5: started
2024/05/01-10:00:00.000003 7f01 Compacting 4@0 + 0@1 files
"""
TABLE = """** Compaction Stats [{}] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp
-----------------------------------------------------------------------------------------
  L0      {}/0    1.00 GB   0.5      0.0     0.0      0.0       1.2      1.2       0.0   1.0
 Sum      {}/0    1.00 GB   0.0      0.0     0.0      0.0       1.2      1.2       0.0   1.0

"""


@pytest.mark.parametrize("name", ["data_db_LOG", "rocksdb.info", "LOG"])
def test_a_folder_is_read_by_the_name_of_its_log(name: str, tmp_path: Path) -> None:
    lines = ["2024/05/01-10:00:0{}.000000 7f01 RocksDB version: 8.0.{}\n" + "2024/05/01-10:00:0{}"
             ".100000 7f01 [WARN] [db/x.cc:1] [default] Stopping writes because we have 36 "
             "level-0 files rate 1\n"] * 2  # fmt: skip
    (tmp_path / f"{name}.old.1714557600").write_text(lines[0].format(1, 1, 1))
    (tmp_path / name).write_text(lines[1].format(5, 2, 5))
    found = inspect_path(tmp_path)
    assert found.version == "8.0.2"
    assert found.span_s == pytest.approx(4.1)


def test_logs_of_several_stores_are_not_mixed(tmp_path: Path) -> None:
    for name in ("a_LOG", "b_LOG"):
        (tmp_path / name).write_text("2024/05/01-10:00:00.000001 7f01 RocksDB version: 8.0.0\n")
    with pytest.raises(UserError, match="a_LOG, b_LOG"):
        inspect_path(tmp_path)


def test_a_log_of_leveldb_is_named(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(LEVELDB)
    with pytest.raises(UserError, match="LevelDB"):
        inspect_path(path)


def test_the_results_of_db_bench_are_told() -> None:
    log = inspect_path(DATA / "rocksdb-11.8.1-level" / "stdout.txt")
    told = inspection_document(log)["benchmarks"]
    assert log.results
    assert {name: each["ops_per_s"] for name, each in told.items()} == {
        name: result.ops_per_s for name, result in log.results.items()
    }


def test_a_second_table_of_a_family_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_text(TABLE.format("cf", 1, 1) + TABLE.format("cf", 7, 7))
    found = inspect_path(path)
    assert [level.files for level in found.levels] == [7]
    assert sum("level tables of the column family cf" in note for note in found.incomplete) == 1


def test_the_name_of_a_family_may_have_a_line_end() -> None:
    (table,) = parse_compaction_tables(TABLE.format("a\nb", 1, 1))
    assert table.column_family == r"a\nb"


def test_bytes_of_a_table_are_marked_as_rounded(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_text(TABLE.format("cf", 1, 1))
    assert [level.is_rough for level in inspect_path(path).levels] == [True]


def test_a_text_of_very_many_lines_is_read_to_its_first_millions(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text("x\n" * 1_000_000)
    faults: list[str] = []
    count = sum(1 for _ in read_lines(path, faults, most_lines=10_000))
    assert 10_000 < count < 500_000
    (fault,) = faults
    assert f"only the first {count:,} lines" in fault


def test_a_gzip_file_is_unpacked_to_a_bounded_size(tmp_path: Path) -> None:
    path = tmp_path / "LOG.gz"
    line = "2024/05/01-10:00:00.000001 7f01 RocksDB version: 8.0.0\n"
    path.write_bytes(gzip.compress((line * 100_000).encode()))
    faults: list[str] = []
    lines = read_lines(path, faults, most_unpacked_bytes=1 << 20)
    assert sum(len(text) + 1 for text in lines) < 2 << 20
    assert len(faults) == 1


def test_warnings_of_db_bench_are_told(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text(
        "WARNING: Assertions are enabled; benchmarks unnecessarily slow\n"
        "fillrandom   :      27.518 micros/op 36338 ops/sec 2.752 seconds 100000 operations;\n"
    )
    assert any("Assertions are enabled" in note for note in inspect_path(path).incomplete)


def test_a_large_log_below_a_result_of_db_bench_loses_no_line(tmp_path: Path) -> None:
    result = "fillrandom   :      27.518 micros/op 36338 ops/sec 2.752 seconds 100000 operations;\n"
    warning = "[WARN] [db/x.cc:1] [default] Stopping writes because we have 36 level-0 files "
    lines = 45_000  # more characters than the part that is searched for results
    times = (f"2024/05/01-10:{at // 60 % 60:02}:{at % 60:02}.000000 7f01 " for at in range(lines))
    path = tmp_path / "LOG"
    path.write_text(result + "".join(f"{told}{warning}{'x' * 100}\n" for told in times))
    found = inspect_path(path)
    assert found.results["fillrandom"].ops_per_s == 36_338
    assert sum(stall.warnings for stall in found.stalls) == lines
