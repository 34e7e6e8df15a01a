"""The user's own OPTIONS file as base: what is taken over, what is not, and why."""

import re
import subprocess
from pathlib import Path

import pytest

from fakes.rig import Rig
from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.registry import read_base
from lsmtune.engines.rocksdb.options import (
    check_possible,
    merged_options,
    read_back,
    rendered_options,
    version_notes,
    with_filter_bits,
)
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.options_file import parse_options, replace_options
from lsmtune.spec import StudySettings
from lsmtune.trials import Status
from lsmtune.workloads import Workload

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
OWN = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()

THEIRS = """
[Version]
  rocksdb_version=6.20.3
  options_file_version=1.1
[DBOptions]
  max_background_jobs=6
  wal_dir=PRODUCTION
  some_old_option=17
[CFOptions "default"]
  write_buffer_size=8388608
[CFOptions "orders"]
  write_buffer_size=268435456
  max_write_buffer_number=4
  arena_block_size=1048576
  max_compaction_bytes=3355443200
  target_file_size_base=134217728
  compression=kLZ4Compression
  merge_operator=OurMergeOperator
  comparator=leveldb.BytewiseComparator
[TableOptions/BlockBasedTable "orders"]
  block_size=16384
  filter_policy=bloomfilter:10:false
"""


def test_merged_options_take_the_values_of_the_users_family() -> None:
    asked = merged_options(OWN, parse_options(THEIRS), "orders")
    assert asked.unprinted == {("DBOptions", "some_old_option"): "17"}
    merged = merged_options(OWN, parse_options(THEIRS), "orders", asked.unprinted)
    text, left_out = merged.text, merged.left_out
    assert merged.unprinted == {}
    family = parse_options(text).sections['CFOptions "default"']
    assert family["write_buffer_size"] == "268435456"
    assert family["compression"] == "kLZ4Compression"
    tables = parse_options(text).sections['TableOptions/BlockBasedTable "default"']
    assert tables["block_size"] == "16384"
    assert parse_options(text).get("DBOptions", "max_background_jobs") == "6"
    names = [line.partition(":")[0] for line in left_out]
    assert names == [
        "wal_dir = PRODUCTION",
        "some_old_option = 17",
        "merge_operator = OurMergeOperator",
    ]
    assert "7.8.3" in left_out[1]


def test_version_notes_name_both_versions_when_they_differ() -> None:
    (note,) = version_notes(parse_options(THEIRS), "7.8.3")
    assert "6.20.3" in note
    assert "7.8.3" in note
    assert version_notes(parse_options(THEIRS), "6.20.3") == ()
    no_version = THEIRS.replace("rocksdb_version=6.20.3", "")
    assert version_notes(parse_options(no_version), "7.8.3") == ()


def test_options_that_an_options_string_lacks_are_those_of_the_engine() -> None:
    text, _ = read_base(
        "write_buffer_size=32M,compression=kZSTD,compaction_options_universal.size_ratio=4,"
        "max_background_jobs=7,block_based_table_factory={block_size=32K}",
        "ours", "rocksdb",
    )  # fmt: skip
    merged = merged_options(OWN, parse_options(text), "default")
    assert merged.left_out == ()
    assert merged.unprinted == {}
    before, after = parse_options(OWN).sections, parse_options(merged.text).sections
    changed = {
        key: value
        for section, told in after.items()
        for key, value in told.items()
        if before[section].get(key) != value
    }
    assert changed.pop("compaction_options_universal").count("size_ratio=4;") == 1
    assert changed == {
        "write_buffer_size": str(32 << 20), "compression": "kZSTD", "max_background_jobs": "7",
        "block_size": "32768",
    }  # fmt: skip


FILTER = 'TableOptions/BlockBasedTable "default"', "filter_policy"
NAMELESS = "rocksdb.BuiltinBloomFilter"


def test_a_filter_of_which_the_file_does_not_tell_the_bits_is_listed_and_not_used() -> None:
    theirs = THEIRS.replace("bloomfilter:10:false", NAMELESS)
    merged = merged_options(OWN, parse_options(theirs), "orders")
    assert parse_options(merged.text).get(*FILTER) == parse_options(OWN).get(*FILTER)
    assert any(line.startswith(f"filter_policy = {NAMELESS}") for line in merged.left_out)


def test_bits_of_a_filter_that_rocksdb_does_not_write_down_are_those_that_were_given() -> None:
    given = replace_options(OWN, {FILTER: "bloomfilter:10:false"})
    written = replace_options(OWN, {FILTER: NAMELESS})
    assert with_filter_bits(written, given) == given
    assert with_filter_bits(OWN, given) == OWN


@pytest.mark.parametrize("text", [NAMELESS, "nullptr"])
def test_the_name_of_a_filter_says_that_there_is_one(text: str) -> None:
    written = replace_options(OWN, {FILTER: text})
    asked: Settings = {"bloom_bits": 10, "use_ribbon_filter": False}
    if text == NAMELESS:
        assert set(read_back(load("rocksdb"), asked, written, LogOptions()).values()) == {NAMELESS}
    else:
        with pytest.raises(TrialFailedError):
            read_back(load("rocksdb"), asked, written, LogOptions())


TABLES = 'TableOptions/BlockBasedTable "default"'


@pytest.mark.parametrize(
    ("version", "format_version", "is_taken"),
    [("7.8.3", 5, True), ("7.8.3", 6, False), ("8.10.2", 6, True), ("8.10.2", 7, False)],
)
def test_a_format_that_is_newer_than_the_default_is_taken_if_the_version_writes_it(
    version: str, format_version: int, is_taken: bool
) -> None:
    assert parse_options(OWN).get(TABLES, "format_version") == "5"
    own = OWN.replace("rocksdb_version=7.8.3", f"rocksdb_version={version}")
    theirs = THEIRS.replace("block_size=16384", f"format_version={format_version}")
    merged = merged_options(own, parse_options(theirs), "orders")
    wanted = str(format_version) if is_taken else "5"
    assert parse_options(merged.text).get(TABLES, "format_version") == wanted
    listed = [line for line in merged.left_out if line.startswith("format_version")]
    assert len(listed) == (not is_taken)


@pytest.mark.parametrize(
    ("text", "is_taken"), [("{id=VectorRepFactory;count=0;}", True), ("{id=Ours;a=1;}", False)]
)
def test_a_memtable_of_rocksdb_may_have_fields(text: str, is_taken: bool) -> None:
    theirs = THEIRS.replace("compression=kLZ4Compression", f"memtable_factory={text}")
    merged = merged_options(OWN, parse_options(theirs), "orders")
    found = parse_options(merged.text).get('CFOptions "default"', "memtable_factory")
    assert (found == text) is is_taken


def test_nothing_leads_to_the_users_own_folders() -> None:
    text = merged_options(OWN, parse_options(THEIRS), "orders").text
    assert "PRODUCTION" not in text


LOG_OPTIONS = {
    "wal_dir": "/fast/wal", "db_log_dir": "/var/log/store", "info_log_level": "WARN_LEVEL",
    "max_log_file_size": "1000", "log_file_time_to_roll": "60", "keep_log_file_num": "2",
    "stats_dump_period_sec": "7",
}  # fmt: skip
"""Options that lead a trial's files away, or make its LOG incomplete."""


def test_options_of_folders_and_of_the_log_are_listed_and_not_used() -> None:
    lines = "".join(f"  {key}={value}\n" for key, value in LOG_OPTIONS.items())
    theirs = THEIRS.replace("  wal_dir=PRODUCTION\n", lines)
    merged = merged_options(OWN, parse_options(theirs), "orders")
    text, left_out = merged.text, merged.left_out
    used, own = (parse_options(each).sections["DBOptions"] for each in (text, OWN))
    assert {key: used.get(key) for key in LOG_OPTIONS} == {k: own.get(k) for k in LOG_OPTIONS}
    listed = [line.partition(":")[0] for line in left_out]
    assert [f"{key} = {value}" for key, value in LOG_OPTIONS.items()] == [
        line for line in listed if line.partition(" = ")[0] in LOG_OPTIONS
    ]


def test_what_follows_from_other_options_follows_again() -> None:
    text = merged_options(OWN, parse_options(THEIRS), "orders").text
    family = parse_options(text).sections['CFOptions "default"']
    assert family["max_compaction_bytes"] == "0"
    assert family["arena_block_size"] == "0"


def test_merged_options_unknown_family_raises_user_error() -> None:
    with pytest.raises(UserError, match=r"^family: .*'items'.*default, orders"):
        merged_options(OWN, parse_options(THEIRS), "items")


def test_a_trial_differs_from_the_base_in_the_tuned_keys_alone() -> None:
    catalogue = load("rocksdb")
    text = rendered_options(catalogue, OWN, {"block_size": 12345})
    before, after = parse_options(OWN).sections, parse_options(text).sections
    changed = {
        (section, key)
        for section, texts in after.items()
        for key, value in texts.items()
        if before[section].get(key) != value
    }
    assert changed == {('TableOptions/BlockBasedTable "default"', "block_size")}


@pytest.mark.parametrize("option", ["write_buffer_size", "num_levels", "max_background_jobs"])
@pytest.mark.parametrize(
    "program", ["lsmsim", pytest.param("db_bench", marks=pytest.mark.db_bench)]
)
def test_a_negative_number_is_refused(tmp_path: Path, option: str, program: str) -> None:
    file = tmp_path / "OPTIONS"
    file.write_text(re.sub(rf"( {option}=).*", r"\g<1>-67108864", OWN))
    engine = "simulated" if program == "lsmsim" else "rocksdb"
    with pytest.raises(UserError, match=rf"^base: {option} = -67108864: .*0 or more"):
        Rig(program, tmp_path / "rig", StudySettings(base=str(file), engine=engine))


@pytest.mark.parametrize("path", sorted(CAPTURED.rglob("OPTIONS")), ids=lambda p: p.parent.name)
def test_an_options_file_that_rocksdb_wrote_is_not_refused(path: Path) -> None:
    check_possible(parse_options(path.read_text()), "default")


@pytest.mark.db_bench
def test_a_trial_runs_on_the_users_base_at_scale(tmp_path: Path) -> None:
    file = tmp_path / "OPTIONS-000123"
    file.write_text(THEIRS)
    spec = StudySettings(base=str(file), family="orders", cache="512MiB")
    rig = Rig("db_bench", tmp_path / "rig", spec)
    assert rig.base["write_buffer_size"] == 4 << 20  # 256 MiB at 1/64
    assert rig.base["cache_size"] == 8 << 20
    assert rig.facts.version in rig.ground.base.notes[0]
    assert len(rig.ground.base.left_out) == 3
    outcome = rig.run(workload=Workload(num=2000))
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    options = parse_options(outcome.evidence["OPTIONS"].read_text())
    assert options.get("DBOptions", "max_background_jobs") == "6"
    assert options.get('CFOptions "default"', "write_buffer_size") == str(4 << 20)
    assert options.get('TableOptions/BlockBasedTable "default"', "block_size") == "16384"


@pytest.mark.db_bench
def test_options_that_db_bench_does_not_print_by_itself_are_used(tmp_path: Path) -> None:
    codecs = "kNoCompression:kNoCompression:kLZ4Compression"
    more = f"merge_operator=nullptr\n  compression_per_level={codecs}\n  other_old_option=1"
    file = tmp_path / "OPTIONS"
    file.write_text(THEIRS.replace("merge_operator=OurMergeOperator", more))
    rig = Rig("db_bench", tmp_path / "rig", StudySettings(base=str(file), family="orders"))
    names = [line.partition(" ")[0] for line in rig.ground.base.left_out]
    assert names == ["wal_dir", "some_old_option", "other_old_option"]
    outcome = rig.run(workload=Workload(num=2000))
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    ran = parse_options(outcome.evidence["OPTIONS"].read_text())
    assert ran.get('CFOptions "default"', "compression_per_level") == codecs


@pytest.mark.db_bench
def test_options_that_rocksdb_reads_without_using_them_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "OPTIONS"
    file.write_text(THEIRS.replace("some_old_option=17", "base_background_compactions=1"))
    rig = Rig("db_bench", tmp_path / "rig", StudySettings(base=str(file), family="orders"))
    listed = [line for line in rig.ground.base.left_out if "base_background" in line]
    assert len(listed) == 1
    assert "does not use" in listed[0]


@pytest.mark.db_bench
def test_a_trial_settles_whatever_the_users_log_level_is(tmp_path: Path) -> None:
    file = tmp_path / "OPTIONS"
    level = "info_log_level=FATAL_LEVEL\n  stats_dump_period_sec=1"
    file.write_text(THEIRS.replace("some_old_option=17", level))
    rig = Rig("db_bench", tmp_path / "rig", StudySettings(base=str(file), family="orders"))
    outcome = rig.run(workload=Workload(num=100_000, value_size=400))
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    assert outcome.result.metrics["flushes"] > 0
    assert outcome.result.metrics["settle_s"] > 0


@pytest.mark.db_bench
def test_baseline_that_rocksdb_refuses_raises_user_error(tmp_path: Path) -> None:
    file = tmp_path / "OPTIONS"
    both = "allow_mmap_reads=true\n  use_direct_reads=true"
    file.write_text(THEIRS.replace("max_background_jobs=6", both))
    with pytest.raises(UserError, match=r"^base: .*(mmap|direct)"):
        Rig("db_bench", tmp_path / "rig", StudySettings(base=str(file), family="orders"))


@pytest.mark.db_bench
def test_a_trace_is_replayed(tmp_path: Path) -> None:
    trace, database = tmp_path / "trace", tmp_path / "recorded"
    common = [f"--db={database}", "--num=3000", "--value_size=200", "--seed=3"]
    subprocess.run(["db_bench", "--benchmarks=filluniquerandom,flush", *common], check=True,
                   capture_output=True)  # fmt: skip
    (tmp_path / "copy").mkdir()
    for path in database.iterdir():
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    subprocess.run(
        ["db_bench", "--benchmarks=readrandomwriterandom", "--use_existing_db=1", "--reads=1000",
         "--readwritepercent=60", f"--trace_file={trace}", *common],
        check=True, capture_output=True,
    )  # fmt: skip
    rig = Rig("db_bench", tmp_path / "rig")
    load = Workload(name="trace", num=3000, trace=str(trace), database=str(tmp_path / "copy"))
    result = rig.run(workload=load).result
    assert result.status is Status.COMPLETE, result.reason
    assert result.metrics["throughput_ops_s"] * result.metrics["load_s"] == pytest.approx(1000)
    assert result.metrics["read_amp"] > 0
