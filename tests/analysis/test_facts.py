"""Facts: one list of numbers with their sources, which all rules read."""

from pathlib import Path
from typing import Any

import pytest

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.facts import NAMES, Fact, Facts
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path

GIB = 2**30

HEAD = """\
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp \
Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)
"""


def tickers(**counts: int) -> str:
    lines = (f"rocksdb.{name.replace('_', '.')} COUNT : {count}" for name, count in counts.items())
    return "STATISTICS:\n" + "\n".join(lines) + "\n"


def reading(gets: int, data: int, **more: int) -> str:
    """Tickers of gets that look at so many data blocks."""
    return tickers(number_keys_read=gets, number_db_seek=0, block_cache_data_hit=data,
                   block_cache_data_miss=0, **more)  # fmt: skip


def row(level: str, files: int, score: float, read: float, write: float) -> str:
    return (
        f"  {level}      {files}/0    64.00 MB   {score}     {read}     0.0      0.0     {write}  "
        "  0.0       0.0   1.0    80.0     90.0     100.00            90.00       200    0.500   "
        "90M      0       0.0       0.0\n"
    )


def table(read: float, write: float, below: float, score: float = 0.9, flushed: str = "") -> str:
    rows = row("L0", 8, 2.0, read, write) + row("L1", 4, score, 0.0, below)
    total = row("Sum", 12, 0.0, read, write + below).replace("  Sum", " Sum")
    ruler = "-" * 80 + "\n"
    return f"** Compaction Stats [default] **\n{HEAD}{ruler}{rows}{total}{flushed}\n"


def inspected(tmp_path: Path, text: str) -> Inspection:
    path = tmp_path / "text"
    path.write_text(text)
    return inspect_path(path)


def codes(log: Inspection) -> set[str]:
    return {finding.code for finding in log.findings}


@pytest.mark.parametrize(
    ("more", "data", "found"),
    [
        ({"bloom_filter_useful": 0, "bloom_filter_full_positive": 0}, 96_000, True),
        ({"bloom_filter_useful": 70_000, "bloom_filter_full_positive": 10_000}, 96_000, False),
        ({"bloom_filter_useful": 0, "bloom_filter_full_positive": 0}, 10_500, False),
        ({"bloom_filter_useful": 0}, 96_000, False),  # an old dump does not count all filters
        ({}, 96_000, False),
    ],
)
def test_gets_without_any_filter_are_seen_in_the_tickers_alone(
    more: dict[str, int], data: int, found: bool, tmp_path: Path
) -> None:
    log = inspected(tmp_path, reading(10_000, data, **more))
    assert log.facts.value("get_data_blocks") == data / 10_000
    assert ("no-filter" in codes(log)) == found


@pytest.mark.parametrize(("size", "found"), [(30_000_000_000, True), (300_000_000, False)])
def test_few_misses_of_large_filters_cost_much(size: int, found: bool, tmp_path: Path) -> None:
    log = inspected(
        tmp_path,
        tickers(memtable_hit=100_000, memtable_miss=1_400_000, block_cache_filter_miss=21_000,
                block_cache_filter_bytes_insert=size, block_cache_index_miss=20),
    )  # fmt: skip
    assert log.facts.value("gets") == 1_500_000
    assert log.facts.value("get_filter_bytes") == size / 1_500_000
    assert ("metadata-misses" in codes(log)) == found


@pytest.mark.parametrize(
    ("numbers", "flushed", "found"),
    [
        ((120.5, 180.3, 40.2, 0.9), "Flush(GB): cumulative 59.800, interval 0.100\n", True),
        ((120.5, 180.3, 40.2, 0.9), "", True),
        ((1.5, 60.3, 400.2, 0.9), "Flush(GB): cumulative 58.800, interval 0.100\n", False),
        ((0.3, 0.5, 0.1, 0.9), "", False),  # the table rounds to a tenth of a GiB
        (
            (120.5, 180.3, 40.2, 0.0),
            "",
            False,
        ),  # universal compaction: no level below 0 has a score
    ],
)
def test_level_0_that_compacts_into_itself_is_seen_in_the_table_alone(
    numbers: tuple[float, float, float, float], flushed: str, found: bool, tmp_path: Path
) -> None:
    log = inspected(tmp_path, table(*numbers, flushed))
    assert ("intra-l0" in codes(log)) == found
    if flushed:
        gb = float(flushed.split()[2].rstrip(","))
        written = log.facts.value("l0_intra_write_bytes", "default")
        assert written == pytest.approx((numbers[1] - gb) * GIB)


def test_cache_without_its_size_is_compared_with_the_live_data(tmp_path: Path) -> None:
    counts = {"block_cache_hit": 5_000, "block_cache_miss": 95_000, "number_keys_read": 50_000}
    live = 2 * 64 * 2**20
    for times, found in ((10, True), (1, False)):
        many = tickers(**counts, block_cache_bytes_write=times * live)
        log = inspected(tmp_path, table(0.0, 1.0, 1.0) + many)
        assert ("small-cache" in codes(log)) == found


def test_sources_that_disagree_are_both_listed_and_the_finding_names_the_used_one() -> None:
    facts = Facts([Fact("gets", 100.0, "result"), Fact("gets", 150.0, "ticker"),
                   Fact("seeks", 100.0, "ticker"), Fact("seeks", 110.0, "result")])  # fmt: skip
    with facts.watched() as disputed:
        assert facts.value("gets") == 150.0
        assert facts.value("seeks") == 100.0
    assert [(used.source, other.source) for used, other in disputed] == [("ticker", "result")]
    assert [(fact.name, fact.source) for fact in facts] == [
        ("gets", "ticker"), ("gets", "result"), ("seeks", "ticker"),
    ]  # fmt: skip


def test_document_lists_facts_with_unit_source_and_period(tmp_path: Path) -> None:
    uptime = "** DB Stats **\nUptime(secs): 600.0 total, 600.0 interval\n"
    log = inspected(tmp_path, uptime + reading(10_000, 20_000))
    document: dict[str, Any] = inspection_document(log)
    assert {
        "name": "get_data_blocks", "family": None, "value": 2.0, "unit": "blocks per get",
        "source": "ticker", "period_s": 600.0,
    } in document["facts"]  # fmt: skip
    assert {fact["name"] for fact in document["facts"]} <= set(NAMES)


def test_only_options_of_rocksdb_become_facts(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(
        "[mysqld]\npassword = 12345\nrocksdb_max_open_files = 700\n"
        "rocksdb_default_cf_options = write_buffer_size=64m;secret_number=99\n"
    )
    facts = {fact.name: fact.value for fact in inspect_path(path).facts}
    assert facts["max_open_files"] == 700
    assert facts["write_buffer_size"] == 64 * 2**20
    assert not {12345.0, 99.0} & set(facts.values())
