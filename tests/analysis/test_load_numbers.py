"""Numbers of the load: rounded to nothing, from tickers, and from tables of any origin."""

from pathlib import Path

import pytest
from family_dumps import Table, dump, recovery, table_event
from log_texts import compaction, event, flush, log

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.analysis.inspect.study import study_files
from lsmtune.metrics.log_dump import parse_stats_dump
from lsmtune.report.text.inspect_words import facts
from lsmtune.units import GIB, MIB

TABLES = {"default": Table(1, "1.00 MB")}
SIZES = {"num_entries": 1000, "raw_key_size": 24_000, "raw_value_size": 70_000}


def inspected(tmp_path: Path, text: str) -> Inspection:
    path = tmp_path / "LOG"
    path.write_text(text)
    return inspect_path(path)


def written(found: Inspection) -> str:
    return dict(facts(found))["written by clients"]


def test_bytes_that_rocksdb_rounds_to_nothing_are_unknown(tmp_path: Path) -> None:
    found = inspected(tmp_path, log(dump(900, TABLES, keys="50K", ingest="0.00 GB, 0.00")))
    totals = inspection_document(found)["totals"]
    assert totals["ingest_bytes"] is None
    assert totals["ingest_below_bytes"] == int(0.005 * GIB)
    assert found.load.ingest_bytes_s is None
    assert found.load.writes_s == pytest.approx(50_000 / 900)
    assert written(found).startswith("< 5 MiB")


def test_tickers_have_the_bytes_that_rocksdb_rounds_to_nothing(tmp_path: Path) -> None:
    tickers = {"number.keys.written": 50_000, "bytes.written": 1_234_567}
    text = dump(900, TABLES, keys="50K", ingest="0.00 GB, 0.00", tickers=tickers)
    found = inspected(tmp_path, log(text))
    assert found.load.ingest_bytes_s == pytest.approx(1_234_567 / 900)


def test_nothing_written_is_nothing(tmp_path: Path) -> None:
    found = inspected(tmp_path, log(dump(900, TABLES, keys="0", ingest="0.00 GB, 0.00")))
    assert found.totals.ingest_bytes == 0
    assert found.totals.ingest_below_bytes is None
    assert written(found).startswith("0 B")


@pytest.mark.parametrize(
    ("uptime", "ingest", "expected"),
    [(3.0, "0.01 GB, 3.75", 11.25 * MIB), (86_400, "0.87 GB, 0.01", 0.87 * GIB),
     (100, "2.50 GB, 25.61", 2.5 * GIB)],
)  # fmt: skip
def test_the_number_with_more_digits_counts(uptime: float, ingest: str, expected: float) -> None:
    found = parse_stats_dump(dump(uptime, TABLES, ingest=ingest))
    assert found is not None
    assert found.ingest_bytes == pytest.approx(expected)


def test_keys_written_are_among_the_tickers(tmp_path: Path) -> None:
    path = tmp_path / "stats.txt"
    counts = {"number.keys.read": 310, "number.keys.written": 690, "number.db.seek": 0}
    path.write_text("".join(f"rocksdb.{name} COUNT : {n}\n" for name, n in counts.items()))
    assert inspect_path(path).load.read_percent == pytest.approx(31)


def test_reads_without_writes_have_no_share(tmp_path: Path) -> None:
    path = tmp_path / "stats.txt"
    path.write_text("rocksdb.number.keys.read COUNT : 310\nrocksdb.number.db.seek COUNT : 5\n")
    assert inspect_path(path).load.read_percent is None
    path.write_text("rocksdb.number.keys.read COUNT : 310\nrocksdb.number.keys.written COUNT : 0\n")
    assert inspect_path(path).load.read_percent == 100


def test_keys_that_multiget_reads_are_reads(tmp_path: Path) -> None:
    path = tmp_path / "stats.txt"
    counts = {"number.keys.read": 0, "number.multiget.keys.read": 300, "number.keys.written": 100}
    path.write_text("".join(f"rocksdb.{name} COUNT : {n}\n" for name, n in counts.items()))
    assert inspect_path(path).load.read_percent == pytest.approx(75)


@pytest.mark.parametrize(
    "events",
    [
        recovery(1, ["default"], **SIZES),
        [event(1, "compaction_started", job=4, files_L0=[7], input_data_size=9),
         table_event(2, 4, "default", **SIZES),
         event(3, "compaction_finished", job=4, output_level=1, total_output_size=9)],
        flush(1, 3, entries=1000, raw_key_size=24_000, raw_value_size=70_000),
    ],
    ids=["recovery", "compaction", "flush"],
)  # fmt: skip
def test_sizes_are_known_from_every_new_table(
    tmp_path: Path, events: list[tuple[float, str]]
) -> None:
    found = inspected(tmp_path, log(events))
    assert found.load.key_bytes == pytest.approx(16)
    assert found.load.value_bytes == pytest.approx(70)
    assert not {"key_size", "value_size"} & study_files(found, "O").assumed.keys()


def test_a_table_of_a_few_records_says_nothing_of_compression_and_filters(tmp_path: Path) -> None:
    few = {"num_entries": 3, "raw_key_size": 48, "raw_value_size": 60, "filter_size": 69}
    found = inspected(tmp_path, log(recovery(1, ["default"], **few))).load
    assert found.value_bytes == pytest.approx(20)
    assert (found.compressed_to, found.filter_bits) == (None, None)
    many = {**SIZES, "filter_size": 1250}
    found = inspected(tmp_path, log(recovery(1, ["default"], **many))).load
    assert found.compressed_to == pytest.approx(50_000 / 94_000)
    assert found.filter_bits == pytest.approx(10)


def test_what_clients_wrote_counts_before_what_compactions_rewrote(tmp_path: Path) -> None:
    text = log(flush(1, 3, raw_key_size=24_000, raw_value_size=70_000), compaction(5, 4))
    assert inspected(tmp_path, text).load.value_bytes == pytest.approx(70)


def test_without_a_new_table_sizes_are_assumed(tmp_path: Path) -> None:
    found = inspected(tmp_path, log(dump(900, TABLES)))
    assert found.load.key_bytes is None
    assert {"key_size", "value_size"} <= study_files(found, "O").assumed.keys()


def test_deletions_have_no_value(tmp_path: Path) -> None:
    text = log(flush(1, 3, entries=1000, deletes=500, raw_key_size=24_000, raw_value_size=70_000))
    assert inspected(tmp_path, text).load.value_bytes == pytest.approx(140)


def test_a_table_of_nothing_has_no_amplification(tmp_path: Path) -> None:
    found = inspected(tmp_path, log(dump(900, {"default": Table(0, "0.00 KB")})))
    assert found.totals.w_amp_table is not None  # the row says 1.0
    text = log(dump(900, {"default": Table(0, "0.00 KB")})).replace("0.0   1.0", "0.0   0.0")
    assert inspected(tmp_path, text).totals.w_amp_table is None
