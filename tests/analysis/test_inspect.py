"""What LOGs say: the cause of each planted problem first, no alarm for a healthy one, studies."""

import gzip
import json
import re
import tomllib
from pathlib import Path

import pytest
from recorded_logs import DATA, PLANTED, inspected
from recorded_logs import EXAMPLE as README_LOG

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import covered_s
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.analysis.inspect.study import study_files
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load as load_catalogue
from lsmtune.knobs.option_text import read_value
from lsmtune.metrics.options_file import parse_options
from lsmtune.spec import make_spec

CAPTURED, SEEDS = DATA / "captured", DATA / "seeds"
RUNS = sorted(path.name for path in CAPTURED.iterdir() if path.is_dir())
CAUSES = {
    "memtable": ("small-memtable", "write_buffer_size"),
    "jobs": ("few-jobs", "max_background_jobs"),
    "l0_trigger": ("low-l0-trigger", "level0_slowdown_writes_trigger"),
    "filter": ("no-filter", "filter_policy"),
    "pending": ("pending-bytes", "soft_pending_compaction_bytes_limit"),
    "cache": ("small-cache", "block_cache"),
    "tombstones": ("tombstones", "ttl"),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_planted_problem_is_named_first(case: str) -> None:
    log = inspected(PLANTED / f"{case}.LOG.gz")
    code, option = CAUSES[case]
    assert log.findings, "nothing was found"
    assert (log.findings[0].code, log.findings[0].look_at[0]) == (code, option)
    assert log.findings[0].evidence


def test_a_healthy_log_gets_no_alarm() -> None:
    assert inspected(PLANTED / "healthy.LOG.gz").findings == ()


@pytest.mark.parametrize("run", RUNS)
def test_write_amplification_is_that_of_the_tickers_and_of_the_events(run: str) -> None:
    log = inspected(CAPTURED / run / "LOG.gz")
    totals, tickers = log.totals, log.tickers
    assert totals.write_amp_from == "tickers"
    written = sum(tickers[f"rocksdb.{kind}.write.bytes"] for kind in ("flush", "compact"))
    assert totals.write_amp == pytest.approx(written / tickers["rocksdb.bytes.written"])
    flushed, compacted = totals.flush_write_bytes, totals.compact_write_bytes
    assert flushed is not None
    assert compacted is not None
    user = sum(job.user_bytes or 0 for job in log.jobs if job.kind == "flush")
    assert (flushed + compacted) / user == pytest.approx(totals.write_amp, rel=0.03)


@pytest.mark.parametrize("run", RUNS)
def test_levels_add_up(run: str) -> None:
    log = inspected(CAPTURED / run / "LOG.gz")
    written = sum(level.write_bytes or 0 for level in log.levels)
    assert written == sum(job.written_bytes or 0 for job in log.jobs)
    assert log.load.value_bytes == pytest.approx(1024)
    assert log.load.key_bytes == pytest.approx(16)


@pytest.mark.parametrize(
    "path", [*PLANTED.glob("*.LOG.gz"), *CAPTURED.glob("**/*LOG.gz"), README_LOG], ids=str
)
def test_bytes_of_one_period_give_the_write_amplification(path: Path) -> None:
    totals = inspected(path).totals
    assert totals.clients_period == totals.jobs_period is not None
    moved = (totals.flush_write_bytes or 0) + (totals.compact_write_bytes or 0)
    assert moved / (totals.ingest_bytes or 0) == pytest.approx(totals.write_amp, rel=1e-9)


def test_bytes_of_different_periods_name_them(tmp_path: Path) -> None:
    """Without tickers and a beginning: clients since the opening, jobs since the first line."""
    text = gzip.decompress(README_LOG.read_bytes()).decode()
    later = text[text.index("EVENT_LOG_v1", len(text) // 3) :]
    late = re.sub(r"^rocksdb\.\S+ COUNT : \d+$", "", later[later.index("\n") + 1 :], flags=re.M)
    (tmp_path / "LOG").write_text(late)
    totals = inspect_path(tmp_path / "LOG").totals
    assert totals.write_amp_from == "cumulative"
    assert (totals.clients_period, totals.jobs_period) == ("until_last_dump", "log")
    moved = (totals.flush_write_bytes or 0) + (totals.compact_write_bytes or 0)
    assert moved / (totals.ingest_bytes or 1) != pytest.approx(totals.write_amp, rel=0.05)


def test_a_dump_from_the_beginning_is_not_taken_for_the_whole() -> None:
    log = inspected(CAPTURED / "myrocks-6.29-tpcc-universal.LOG.gz")
    assert log.totals.stall_s is None
    assert log.totals.write_amp_from == "events"
    assert log.tickers == {}
    assert any("does not use the dump" in fault for fault in log.incomplete)
    assert all(level.size_bytes is None for level in log.levels)


def test_options_that_differ_are_those_that_were_set() -> None:
    changed = inspected(CAPTURED / "rocksdb-7.8.3-level" / "LOG.gz").options_changed
    assert changed["write_buffer_size"].value == str(1 << 20)
    assert changed["write_buffer_size"].default == str(64 << 20)
    assert "arena_block_size" not in changed
    assert "max_compaction_bytes" not in changed
    assert "compression" not in changed


def test_an_output_of_db_bench_is_read_as_well() -> None:
    log = inspected(CAPTURED / "rocksdb-11.8.1-level" / "stdout.txt")
    assert log.kind == "db_bench output"
    assert log.levels
    assert log.totals.stall_percent is not None
    assert log.totals.compactions is None


@pytest.mark.parametrize("path", sorted(SEEDS.iterdir()), ids=lambda path: path.name)
def test_outputs_pasted_into_documents_never_fail(path: Path) -> None:
    assert inspect_path(path).kind in ("db_bench output", "statistics dump")


def test_of_several_dumps_the_last_counts(tmp_path: Path) -> None:
    text = (CAPTURED / "rocksdb-11.8.1-level" / "stdout.txt").read_text()
    twice = tmp_path / "stdout.txt"
    twice.write_text(text.replace("Cumulative stall: 00:00:", "Cumulative stall: 00:59:") + text)
    assert (
        inspect_path(twice).totals
        == inspect_path(CAPTURED / "rocksdb-11.8.1-level" / "stdout.txt").totals
    )


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    for content in (b"", b"\x89PNG\r\n\x1a\n" + bytes(1000)):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"picture\.png: .*LOG"):
            inspect_path(path)
    with pytest.raises(UserError, match=f"^{tmp_path}: .*LOG"):
        inspect_path(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "becomes"),
    [
        (r'"total_data_size": \d+', f'"total_data_size": {"9" * 400}'),
        (r'"raw_key_size": \d+', '"raw_key_size": -5'),
        (r'"time_micros": \d+', f'"time_micros": {"9" * 30}'),
        (r'"files_L0"', '"files_L²"'),
        (r"Uptime\(secs\): \d+", "Uptime(secs): " + "9" * 400),
        (r"Cumulative writes: (\S+) writes, \d+", r"Cumulative writes: \1 writes, " + "9" * 5000),
        (r"Cumulative stall: \d+", "Cumulative stall: " + "9" * 5000),
        (r"RocksDB version: \d+", "RocksDB version: " + "9" * 5000),
        (r"Options\.write_buffer_size: \d+", "Options.write_buffer_size: inf"),
        (r"capacity : \d+", "capacity : ²"),
        (r"capacity : \d+", "capacity : " + "9" * 5000),
    ],
)
def test_numbers_that_no_rocksdb_has_are_left_out(
    tmp_path: Path, pattern: str, becomes: str
) -> None:
    whole = gzip.decompress((CAPTURED / "rocksdb-11.8.1-universal" / "LOG.gz").read_bytes())
    damaged, count = re.subn(pattern, becomes, whole.decode())
    assert count
    (tmp_path / "LOG").write_text(damaged)
    log = inspect_path(tmp_path / "LOG", force=True)
    json.dumps(inspection_document(log), allow_nan=False)
    study_files(log, "O")


def test_a_folder_is_read_from_its_oldest_log_on(tmp_path: Path) -> None:
    whole = gzip.decompress((CAPTURED / "rocksdb-7.8.3-level" / "LOG.gz").read_bytes())
    cut = whole.index(b"\n", len(whole) // 2) + 1
    (tmp_path / "LOG.old.1").write_bytes(whole[:cut])
    (tmp_path / "LOG").write_bytes(whole[cut:])
    assert (
        inspect_path(tmp_path).totals
        == inspected(CAPTURED / "rocksdb-7.8.3-level" / "LOG.gz").totals
    )


@pytest.mark.parametrize("path", [*CAPTURED.glob("*/LOG.gz"), *CAPTURED.glob("*.LOG.gz")])
def test_a_study_of_a_log_has_its_options_and_a_like_load(path: Path) -> None:
    log = inspected(path)
    study, options, _ = study_files(log, "LOG.OPTIONS")
    spec = make_spec({**tomllib.loads(study), "rocksdb": "11.8.1"}, "study")
    assert spec.base == "LOG.OPTIONS"
    assert spec.workload.value_size == round(log.load.value_bytes or 0)
    sections = parse_options(options).sections
    catalogue = load_catalogue("rocksdb")
    for name in ("write_buffer_size", "compaction_style", "level0_slowdown_writes_trigger"):
        knob = next(knob for knob in catalogue.knobs if knob.name == name)
        value = read_value(knob, sections)
        assert value is not None
        told = log.option(name)
        assert told in (str(value), *knob.labels)


def test_a_database_s_own_options_are_those_that_are_made_of_its_log() -> None:
    for run in RUNS:
        made = parse_options(
            study_files(inspected(CAPTURED / run / "LOG.gz"), "O").options
        ).sections
        compared = 0
        own = parse_options((CAPTURED / run / "OPTIONS").read_text()).sections
        for knob in load_catalogue("rocksdb").knobs:
            actual = read_value(knob, own) if knob.option is not None else None
            if actual is not None and (value := read_value(knob, made)) is not None:
                assert value == actual, knob.name
                compared += 1
        assert compared > 90


def test_the_document_is_json_and_says_null_for_what_is_not_told() -> None:
    document = inspection_document(inspected(CAPTURED / "myrocks-6.29-tpcc-universal.LOG.gz"))
    again = json.loads(json.dumps(document))
    assert again["totals"]["stall_s"] is None
    assert again["compactions"]["count"] == 38
    assert again["stalls"] is None
    assert {"version", "options_changed", "levels", "totals", "stalls", "compactions", "findings",
            "incomplete"} <= set(again)  # fmt: skip


def test_stretches_that_overlap_count_once() -> None:
    assert covered_s([(0, 2_000_000), (1_000_000, 3_000_000), (5_000_000, 6_000_000)]) == 4.0
