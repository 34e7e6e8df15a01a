"""Rules: each complaint is answered, each finding comes up, and none in a healthy LOG."""

import ast
import gzip
import random
import re
import tomllib
from collections import Counter
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from complaints import ANSWERS, NOT_IN_A_FILE
from log_texts import compaction, dump, flush, line, log, stalls
from planted_texts import (
    HEAD,
    L0,
    MIB,
    PENDING,
    TEXTS,
    compactions,
    flushes,
    reads,
    row,
    seeks,
    warned,
)
from test_inspect import CAUSES

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.findings import NOTICES
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.errors import UserError
from lsmtune.knobs.advice import action
from lsmtune.knobs.catalogue import load as load_catalogue

ROOT = Path(__file__).parents[2]
RULES = ROOT / "src" / "lsmtune" / "analysis" / "inspect" / "rules"
ADVICE = ROOT / "src" / "lsmtune" / "knobs" / "catalogue" / "advice.toml"
HEALTHY = ROOT / "tests" / "data" / "healthy"
_CODE = re.compile(r"Finding\(\s*\"([a-z0-9-]+)\"")
PUT_TOGETHER = {"wal-limit", "memory-limit", "writes-stopped", "writes-slowed"}
"""Codes that are made of the reason of a flush or the kind of a stall."""


def codes_in(path: Path) -> set[str]:
    """The codes in the source of a file of rules."""
    return {*_CODE.findall(path.read_text())}


@cache
def codes() -> frozenset[str]:
    """The codes in the source of all rules."""
    return frozenset(PUT_TOGETHER.union(*map(codes_in, RULES.glob("*.py"))))


def test_each_notice_has_one_name_and_a_rule() -> None:
    sources = {path: path.read_text() for path in RULES.glob("*.py")}
    modules = [
        import_module(f"lsmtune.analysis.inspect.rules.{path.stem}")
        for path, source in sources.items()
        if "\nNOTICES: " in source
    ]
    names = Counter(name for module in modules for name in module.NOTICES)
    assert names == Counter(NOTICES.keys())
    for name in NOTICES:
        assert sum(source.count(f'"{name}"') for source in sources.values()) > 1, name


def judged(tmp_path: Path, text: str) -> Inspection:
    path = tmp_path / "LOG"
    path.write_text(text)
    return inspect_path(path)


def found(tmp_path: Path, text: str) -> list[str]:
    return [finding.code for finding in judged(tmp_path, text).findings]


def the(tmp_path: Path, code: str, text: str) -> Finding:
    (finding,) = (f for f in judged(tmp_path, text).findings if f.code == code)
    return finding


def test_each_code_has_an_anchor_and_each_anchor_a_code() -> None:
    text = (ROOT / "docs" / "findings.md").read_text()
    assert Counter(codes()) == Counter(re.findall(r"^### ([a-z0-9-]+)$", text, re.M))


def test_each_complaint_has_findings_or_a_reason() -> None:
    assert sorted([*ANSWERS, *NOT_IN_A_FILE]) == list(range(1, 61))
    answering = {code for listed in ANSWERS.values() for code in listed}
    assert answering == codes()


def test_each_code_is_planted() -> None:
    assert {*TEXTS, *(code for code, _ in CAUSES.values())} == codes()


@pytest.mark.parametrize("code", TEXTS)
def test_a_planted_finding_comes_up_with_its_evidence_and_its_actions(
    code: str, tmp_path: Path
) -> None:
    finding = the(tmp_path, code, TEXTS[code])
    assert finding.title
    assert finding.evidence
    assert 0 < finding.weight <= 1
    for option, act in zip(finding.look_at, finding.actions, strict=True):
        assert act.option == option
        assert 0 < len(act.cost.split()) <= 12


@pytest.mark.parametrize("path", sorted(HEALTHY.glob("*.gz")), ids=lambda path: path.name[:-7])
def test_no_rule_fires_on_a_healthy_log(path: Path) -> None:
    log_ = inspect_path(path)
    assert [(f.code, f.evidence) for f in log_.findings] == []
    assert log_.verdict == "no_findings"
    assert path.stat().st_size <= 60_000


def test_there_are_ten_healthy_logs() -> None:
    assert len(list(HEALTHY.glob("*.gz"))) == 10


@pytest.mark.parametrize("path", sorted(HEALTHY.glob("*.gz")), ids=lambda path: path.name[:-7])
def test_no_rule_fires_on_a_part_of_a_healthy_log(path: Path, tmp_path: Path) -> None:
    whole, drawn = gzip.decompress(path.read_bytes()).decode(), random.Random(path.name)
    for _ in range(4):
        begin, end = sorted(drawn.sample(range(len(whole)), 2))
        part = drawn.choice([whole[:begin], whole[end:], whole[begin:end]])
        with suppress(UserError):  # a part may be too short to be a LOG
            assert found(tmp_path, part) == []


@pytest.mark.parametrize("lines", [1, 10, 90])
def test_without_its_first_lines_a_healthy_log_lacks_data(lines: int, tmp_path: Path) -> None:
    whole = gzip.decompress((HEALTHY / "fifo.LOG.gz").read_bytes()).decode()
    cut = judged(tmp_path, whole.split("\n", lines)[-1])
    assert cut.findings == ()
    assert cut.verdict == "insufficient_data"


def test_actions_are_in_the_document_and_agree_with_the_catalogue(tmp_path: Path) -> None:
    document = inspection_document(judged(tmp_path, TEXTS["few-memtables"]))
    (few,) = (f for f in document["findings"] if f["code"] == "few-memtables")
    assert few["actions"][0] == {
        "option": "max_write_buffer_number",
        "direction": "raise",
        "from": "2",
        "to": "4",
        "cost": action("max_write_buffer_number").cost,
        "online": True,
        "since": "6.0",
    }
    assert not action("level_compaction_dynamic_level_bytes").online
    assert action("memtable_op_scan_flush_trigger").since == "10.2"


def test_advice_repeats_nothing_that_the_catalogue_knows() -> None:
    advice = tomllib.loads(ADVICE.read_text())["option"]
    options = {k.option.key for k in load_catalogue("rocksdb").knobs if k.option} | {
        knob.name for knob in load_catalogue("rocksdb").knobs
    }
    names = [entry["name"] for entry in advice]
    assert len(names) == len(set(names))
    for entry in advice:
        # Calls and fields of structs have other ways of a change than the knob itself.
        own = entry.get("apply") == "call" or entry["name"] == "compression_opts"
        assert ("since" in entry) == (own or entry["name"] not in options), entry["name"]


def test_each_option_that_a_rule_names_has_advice() -> None:
    named = {
        option.value
        for path in RULES.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Finding"
        for option in getattr(call.args[3], "elts", ())
        if isinstance(option, ast.Constant)
    }
    assert {action(option).option for option in named} == named


ALIKE: dict[str, tuple[str, str]] = {
    "wanted blob garbage": ("blob-garbage", TEXTS["blob-garbage"].replace("amp: 3.0", "amp: 1.4")),
    "a threshold that agrees to the garbage": ("blob-garbage", log(
        dump(100, tail="Blob file count: 25, total size: 0.3 GB, garbage size: 0.2 GB, space amp: "
             "1.9"),
        family={"enable_blob_garbage_collection": "true",
                "blob_garbage_collection_force_threshold": "0.500000"})),
    "a backup that ended": ("deletions-off", log(
        (1, "File Deletions Disabled"), (2, "File Deletions Disabled, but already disabled. "
         "Counter: 2"), (3, "File Deletions Enable, but not really enabled. Counter: 1"),
        (4, "File Deletions Enabled"))),
    "FIFO with files that are too old": ("fifo-drops", warned(
        "[default] FIFO compaction: picking file 12 with creation time 1795332836 for deletion")),
    "FIFO since the newest key counts": ("fifo-merges-ttl", TEXTS["fifo-merges-ttl"].replace(
        "7.8.3", "9.9.0")),
    "deletions at once without a limit": ("trash-piles-up", TEXTS["trash-piles-up"].replace(
        "rate_bytes_per_sec 1048576, total_trash_size 99000000",
        "rate_bytes_per_sec 0, total_trash_size 0")),
    "tables with references to blobs": ("tiny-levels", log(family={
        "max_bytes_for_level_base": 4 * MIB, "enable_blob_files": "true"})),
    "readahead below 8.6": ("no-readahead", log(version="8.5.4")),
    "readahead of an old TiKV": ("no-readahead", "[raftstore]\nsync-log = true\n[rocksdb]\n"
                                 "compaction-readahead-size = 0\n"),
    "readahead of TiKV": ("no-readahead", "[raft-engine]\nenable = true\n[rocksdb]\n"
                          'compaction-readahead-size = "2MB"\n'),
    "caches of families that TiKV adds up": (
        "tikv-family-cache", '[raftstore]\n[rocksdb.defaultcf]\nblock-cache-size = "12GB"\n'),
    "caches of families that are not shared": (
        "tikv-family-cache", TEXTS["tikv-family-cache"].replace(
            "[rocksdb.defaultcf]", "shared = false\n[rocksdb.defaultcf]")),
    "a log that is synced": ("tikv-sync-log", TEXTS["tikv-sync-log"].replace("false", "true")),
    "a limit of the WAL above the memtables": (
        "low-wal-limit", TEXTS["low-wal-limit"].replace("16m", "1g")),
    "a limit of the WAL above small memtables": (
        "low-wal-limit",
        TEXTS["low-wal-limit"] + "rocksdb_default_cf_options=write_buffer_size=8m\n"),
    "a limit of the WAL of one family": ("low-wal-limit", log(
        database={"max_total_wal_size": 16 * MIB})),
    "a filter with bits": ("filter-without-bits", TEXTS["filter-without-bits"].replace(
        "rocksdb.BuiltinBloomFilter", "bloomfilter:10:false")),
    "a filter that RocksDB 6 wrote": ("filter-without-bits", log(
        version="6.29.5", tables={"filter_policy": "rocksdb.BuiltinBloomFilter"})),
    "an OPTIONS file of RocksDB 6": (
        "filter-without-bits", "[Version]\n  rocksdb_version=6.8.1\n[DBOptions]\n"
        '[CFOptions "default"]\n[TableOptions/BlockBasedTable "default"]\n'
        "  filter_policy=rocksdb.BuiltinBloomFilter\n"),
    "a limit of the WAL in a file by hand": (
        "wal-limit-unused", "[DBOptions]\n  max_total_wal_size=1073741824\n"
        '[CFOptions "default"]\n  write_buffer_size=67108864\n'),
    "compactions in place that drop records": ("endless-compaction", log(*(
        compaction(2 * n, 100 + n, reason="BottommostFiles", inputs=(6,), output=6, file=99 + n,
                   dropped=10) for n in range(8)))),
    "compactions in place of other files": ("endless-compaction", log(*(
        compaction(2 * n, 100 + n, reason="BottommostFiles", inputs=(6,), output=6, file=20 + n)
        for n in range(8)))),
    "compactions of old files": ("endless-compaction", TEXTS["endless-compaction"].replace(
        "BottommostFiles", "PeriodicCompaction")),
    "a file that is compacted without an end": ("snapshot-released", TEXTS["endless-compaction"]),
    "a level 1 as large as a batch of level 0": ("tiny-levels", log(family={
        "max_bytes_for_level_base": 24 * MIB, "write_buffer_size": 6 * MIB})),
    "readahead by default": ("no-readahead", log(
        version="8.11.3", database={"compaction_readahead_size": 2 * MIB})),
    "periodic compaction since 8.11": ("periodic-in-place", TEXTS["periodic-in-place"].replace(
        "7.8.3", "8.11.1")),
    "debt since 7.5": ("debt-jumps", TEXTS["debt-jumps"].replace("7.4.3", "7.5.0")),
    "stops with slowdowns before": ("debt-jumps", log(
        stalls(PENDING), stalls(PENDING, stop=True, times=2), version="7.4.3",
        family={"level_compaction_dynamic_level_bytes": 1})),
    "merges of RocksDB 6.3": ("range-deletions", TEXTS["range-deletions"].replace(
        "7.8.3", "6.3.0")),
    "universal compaction in level 0": ("intra-l0", TEXTS["intra-l0"].replace(
        "kCompactionStyleLevel", "kCompactionStyleUniversal")),
    "compactions that wait for the device": ("one-thread", log(
        stalls(L0, times=60), compactions(30, took_s=2.0, cpu=0.2))),
    "compactions on the CPU": ("slow-compactions", log(compactions(20, took_s=1.9, cpu=0.9))),
    "compactions of a cheap codec": ("costly-codec", log(compactions(20, took_s=1.9, cpu=0.97))),
    "a limiter that nobody waits for": ("rate-limiter", log(
        dump(30, tickers={"number.rate_limiter.drains": 290}),
        database={"rate_limiter": "0x5639f86d1a30"})),
    "a limiter and a busy CPU": ("rate-limiter", log(
        stalls(L0), compactions(20, took_s=1.9, cpu=0.9),
        database={"rate_limiter": "0x5639f86d1a30"})),
    "flushes that wait for their codec": ("slow-flushes", log(
        flushes(5, data=16 * MIB, took_s=5.0), compactions(5, cpu=0.95))),
    "flushes into blob files": ("slow-flushes", log(
        flushes(5, data=16 * MIB, took_s=5.0, blobs=64 * MIB))),
    "many files of FIFO": ("many-l0-files", TEXTS["many-l0-files"].replace(
        "kCompactionStyleLevel", "kCompactionStyleFIFO")),
    "a short low rate": ("slow-write-rate", log(stalls(L0, rate=16384, times=4))),
    "all families in turn": ("noisy-family", log(
        stalls(L0, family="a"), stalls(L0, family="b"), families=("a", "b"))),
    "a memtable stall with four memtables": ("few-memtables", TEXTS["few-memtables"].replace(
        "max_write_buffer_number: 2", "max_write_buffer_number: 4")),
    "large flushes on request": ("requested-flushes", log(
        flushes(20, reason="Get Live Files", data=60 * MIB))),
    "a memory limit with room": ("arena-blocks", log(
        flushes(5, reason="Write Buffer Manager"), database={"db_write_buffer_size": 64 * MIB})),
    "added files that fit": ("ingested-to-l0", log(dump(
        100, tail="AddFile(Total Files): cumulative 10, interval 0\nAddFile(L0 Files): cumulative "
        "0, interval 0"))),
    "gets that find their keys": ("hits-only-filter", log(
        reads(memtable__hit=0, l0__hit=4900, l1__hit=0), family={"optimize_filters_for_hits": 1})),
    "a prefix that is used": ("prefix-unused", TEXTS["prefix-unused"].replace(
        "prefix.checked COUNT : 0", "prefix.checked COUNT : 900")),
    "scans over deleted entries": ("long-scans", log(seeks(
        number__db__next=9_000_000, number__iter__skip=9_000_000,
        block__cache__data__miss=900_000))),
    "scans of cached blocks": ("long-scans", log(seeks(
        number__db__next=9_000_000, block__cache__data__hit=900_000))),
    "deletions and a store at work": ("quiet-deletions", log(
        flush(1, 2, entries=9000, deletes=8000), compaction(8900, 3), (9000, "still here"))),
    "deletions with compaction off": ("quiet-deletions", TEXTS["quiet-deletions"].replace(
        "disable_auto_compactions: 0", "disable_auto_compactions: 1")),
    "snapshots that change": ("snapshot-held", log(
        compaction(1, 2, snapshot=77), compaction(4000, 3, snapshot=78))),
    "deletions above other levels": ("deletions-kept", TEXTS["deletions-kept"].replace(
        '"lsm_state": [1, 0, 0, 0, 0, 0, 0]', '"lsm_state": [0, 0, 0, 0, 0, 0, 4, 9]')),
    "an automatic compaction": ("deletions-kept", log(compaction(1, 2, output=6, deletes=9000))),
    "a filter with a period": ("filter-without-period", log(family={
        "compaction_filter_factory": "Expiry", "ttl": 0, "periodic_compaction_seconds": 2592000})),
    "a filter with a partition": ("large-metadata", TEXTS["large-metadata"].replace(
        "partition_filters: 0", "partition_filters: 1")),
    "iterators that were deleted": ("open-iterators", TEXTS["open-iterators"].replace(
        "deleted COUNT : 80000", "deleted COUNT : 89990")),
    "the usual statistics": ("costly-statistics", TEXTS["costly-statistics"].replace(
        "stats level: 5", "stats level: 3")),
    "syncs with stalls": ("slow-syncs", TEXTS["slow-syncs"] + line(
        101, f"[WARN] [db/column_family.cc:948] [default] Stopping writes because {L0}") + "\n"),
    "triggers in order": ("triggers-contradict", "level0_file_num_compaction_trigger=4;"
                          "level0_slowdown_writes_trigger=20;level0_stop_writes_trigger=36"),
    "a limit of the WAL for two": ("wal-limit-unused", log(
        families=("default", "a"), database={"max_total_wal_size": 64 * MIB})),
    "a quick opening": ("slow-opening", log(opened_s=2.0)),
    "few WALs": ("many-wals", log([(1, "Recovering log #9 mode 2")])),
}  # fmt: skip
"""What is alike and harmless: the finding that must not come up, and a text."""


@pytest.mark.parametrize("case", ALIKE)
def test_what_is_alike_and_harmless_is_no_finding(case: str, tmp_path: Path) -> None:
    code, text = ALIKE[case]
    assert text != TEXTS[code]
    assert code not in found(tmp_path, text)


CERTAIN: dict[str, tuple[str, str]] = {
    "a filter of RocksDB 7": ("filter-without-bits", log(
        version="7.0.2", tables={"filter_policy": "rocksdb.BuiltinBloomFilter"})),
    "a filter in a file by hand": (
        "filter-without-bits", '[DBOptions]\n[CFOptions "default"]\n'
        '[TableOptions/BlockBasedTable "default"]\n  filter_policy=rocksdb.BuiltinBloomFilter\n'),
    "a filter of MyRocks": (
        "filter-without-bits", "[mysqld]\nrocksdb_default_cf_options=block_based_table_factory="
        "{filter_policy=rocksdb.BuiltinBloomFilter}\n"),
    "readahead since 8.6": ("no-readahead", log(version="8.6.0")),
    "readahead of a newer TiKV": ("no-readahead", "[raft-engine]\nenable = true\n[rocksdb]\n"
                                  "compaction-readahead-size = 0\n"),
    "a limit of the WAL of two families": ("low-wal-limit", log(
        families=("default", "a"), database={"max_total_wal_size": 16 * MIB})),
    "a limit of the WAL below given memtables": (
        "low-wal-limit", "max_total_wal_size=64M;write_buffer_size=128M"),
    "a level 1 above 32 MiB, and large memtables": ("tiny-levels", log(family={
        "max_bytes_for_level_base": 96 * MIB, "write_buffer_size": 512 * MIB})),
    "a level 1 of 32 MiB and memtables by default": (
        "tiny-levels", "max_bytes_for_level_base=32M;level0_file_num_compaction_trigger=8"),
    "a file that is marked again and again": ("endless-compaction", TEXTS[
        "endless-compaction"].replace("BottommostFiles", "FilesMarkedForCompaction")),
}  # fmt: skip
"""What is certain in one more situation: the finding that must come up, and a text."""


@pytest.mark.parametrize("case", CERTAIN)
def test_what_is_certain_is_a_finding(case: str, tmp_path: Path) -> None:
    code, text = CERTAIN[case]
    assert code in found(tmp_path, text)


def test_rocksdb_8_1_ends_its_counts_of_stalls_with_a_comma(tmp_path: Path) -> None:
    text = TEXTS["memory-stall"].replace("12\n", "12, \n")
    assert text != TEXTS["memory-stall"]
    assert "memory-stall" in found(tmp_path, text)


def test_slow_compactions_show_in_statistics_alone(tmp_path: Path) -> None:
    times = (
        "rocksdb.compaction.times.{} P50 : 1.0 P95 : 2.0 P99 : 3.0 P100 : 4.0 COUNT : 20 SUM : {}\n"
    )
    text = (
        "STATISTICS:\nrocksdb.compact.read.bytes COUNT : 30000000\n"
        "rocksdb.compact.write.bytes COUNT : 20000000\n" + times.format("micros", 40_000_000)
    )
    slow = text + times.format("cpu_micros", 4_000_000)
    assert found(tmp_path, slow) == ["slow-compactions"]
    assert found(tmp_path, text + times.format("cpu_micros", 39_000_000)) == []


@pytest.mark.parametrize("code", ["slow-flushes", "slow-compactions"])
def test_slow_jobs_have_three_possible_causes_and_a_way_to_tell(code: str, tmp_path: Path) -> None:
    """On a machine with too few CPUs, jobs are slow too, and the LOG looks the same."""
    (tmp_path / "LOG").write_text(TEXTS[code])
    finding = next(one for one in inspect_path(tmp_path / "LOG").findings if one.code == code)
    causes = {"device", "limiter", "CPU"}
    assert causes <= set(re.findall(r"\w+", finding.evidence))
    assert {"device", "CPU"} <= set(re.findall(r"\w+", finding.step.text))
    assert {"io", "cpu"} <= set(re.findall(r"/proc/pressure/(\w+)", finding.evidence))


def test_slow_flushes_show_in_a_table_alone(tmp_path: Path) -> None:
    head = "** Compaction Stats [default] **\n" + HEAD
    flushed = row("L0", 3, "12.43 MB").replace("173.5 0.45 0.35 19 0.024", "{}")
    slow = head + flushed.format("5.7 9.20 0.90 4 2.300")
    assert found(tmp_path, slow) == ["slow-flushes"]
    assert found(tmp_path, head + flushed.format("2.1 0.28 0.02 28 0.010")) == []


def test_a_limiter_comes_before_the_memtables_that_wait_for_it(tmp_path: Path) -> None:
    text = log(
        stalls("we have 3 immutable memtables (waiting for flush)", stop=True),
        dump(30, stalled_s=27.0, tickers={"number.rate_limiter.drains": 290}),
        database={"rate_limiter": "0x5639f86d1a30"},
        family={"write_buffer_size": MIB // 2, "max_write_buffer_number": 3},
    )
    assert found(tmp_path, text)[:2] == ["rate-limiter", "small-memtable"]


def test_findings_of_several_families_are_one_with_the_evidence_of_the_worst(
    tmp_path: Path,
) -> None:
    line = (
        "2026/11/21-21:{:02}:44.881941 9854 [WARN] [db/column_family.cc:948] [{}] Stopping writes "
        "because we have 36 level-0 files\n"
    )
    path = tmp_path / "warnings"
    families = ["a"] * 2 + ["b"] * 7 + ["c", "d"]
    path.write_text("".join(line.format(at, name) for at, name in enumerate(families)))
    (finding,) = inspect_path(path).findings
    assert finding.family == "a, b, c (4 in all)"
    assert finding.evidence.startswith("In b: ")
    assert "7 times" in finding.evidence
