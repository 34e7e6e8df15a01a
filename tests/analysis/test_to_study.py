"""The study that is written of a LOG runs."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from recorded_logs import DATA, LOGS, inspected
from tomlkit import TOMLDocument

from fakes.rig import Rig
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.analysis.inspect.study import study_files
from lsmtune.api.inspect_study import study_of
from lsmtune.metrics.families import FamilySum
from lsmtune.spec import make_spec
from lsmtune.trials import Status

DRIVER = {"rocksdb": "11.8.1"}
OLD = """2016/01/06-19:35:00.165673 7fcb0468c780 RocksDB version: 3.13.1
2016/01/06-19:35:00.165702 7fcb0468c780 Options.comparator: leveldb.BytewiseComparator
2016/01/06-19:35:00.165726 7fcb0468c780 Options.write_buffer_size: 4194304
2016/01/06-19:35:00.165740 7fcb0468c780 Options.compression: 1
2016/01/06-19:35:00.165775 7fcb0468c780 Options.compression_opts.level: -1
2016/01/06-19:35:00.165776 7fcb0468c780 Options.compaction_style: 0
2016/01/06-19:35:00.165777 7fcb0468c780 Options.compaction_pri: 1
"""
"""Numbers where later versions have names."""


def check_that_it_runs(log: Inspection, folder: Path) -> None:
    options = folder / "LOG.OPTIONS"
    study, text, _ = study_files(log, str(options))
    options.write_text(text)
    given = tomllib.loads(study)
    given.pop("rate", None)  # db_bench has none
    spec = make_spec(given, "study")
    rig = Rig("db_bench", folder / "rig", spec)
    load = spec.workload.model_copy(update={"num": 1000})
    outcome = rig.run(workload=load)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason


@pytest.mark.db_bench
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_written_study_runs(path: Path, tmp_path: Path) -> None:
    check_that_it_runs(inspected(path), tmp_path)


@pytest.mark.db_bench
def test_a_study_of_an_old_log_runs(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(OLD)
    check_that_it_runs(inspect_path(path), tmp_path)


def test_names_of_files_may_have_quotes() -> None:
    name = 'a "b" \\ c.OPTIONS'
    study, *_ = study_files(inspected(LOGS[0]), name)
    assert tomllib.loads(study)["base"] == name


def written(path: Path) -> tuple[TOMLDocument, set[str]]:
    files = study_files(inspect_path(path), "O")
    return tomlkit.parse(files.study), set(files.assumed)


def comment(table: Any, key: str) -> str:
    return table.value.item(key).trivia.comment


def test_unknown_reads_make_the_workload_an_assumption() -> None:
    """A LOG with gets and without statistics has no number of reads."""
    study, assumed = written(DATA / "captured" / "myrocks-6.29-tpcc-universal.LOG.gz")
    assert inspected(DATA / "captured" / "myrocks-6.29-tpcc-universal.LOG.gz").tickers == {}
    assert assumed == {"name"}
    assert "reads are unknown" in comment(study["workload"], "name")
    assert "mix" in study.as_string().partition("base = ")[0]
    study, assumed = written(DATA / "planted" / "cache.LOG.gz")
    assert assumed == set()
    assert study["workload"]["name"] == "mix"


def test_the_number_of_records_has_its_source() -> None:
    mixed, _ = written(DATA / "planted" / "cache.LOG.gz")
    assert "tree" in comment(mixed["workload"], "num")
    path = DATA / "captured" / "rocksdb-7.8.3-level" / "LOG.gz"
    writing, _ = written(path)
    assert writing["workload"]["num"] == inspected(path).load.records
    assert "number of writes" in comment(writing["workload"], "num")


def test_a_number_of_records_that_was_limited_is_named() -> None:
    log = inspected(DATA / "captured" / "rocksdb-7.8.3-level" / "LOG.gz")
    many = replace(log, load=replace(log.load, records=7_654_321, value_bytes=100.0))
    study = tomlkit.parse(study_files(many, "O").study)
    assert study["workload"]["num"] == 1_000_000
    assert "7,654,321" in comment(study["workload"], "num")


@pytest.mark.parametrize(("told", "written"), [("1", 65536), ("1048576", 1048576)])
def test_a_cache_of_the_log_becomes_one_that_a_study_accepts(told: str, written: int) -> None:
    log = inspected(DATA / "captured" / "rocksdb-7.8.3-level" / "LOG.gz")
    family = {**log.options[log.main_family], "block_cache_capacity": told}
    small = replace(log, options={**log.options, log.main_family: family})
    spec = make_spec({**tomllib.loads(study_files(small, "O").study), **DRIVER}, "study")
    assert spec.cache_bytes == written


def test_a_log_without_writes_makes_the_whole_workload_an_assumption(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text(OLD)
    study, assumed = written(tmp_path / "LOG")
    assert assumed == set(study["workload"])


def test_options_alone_make_the_whole_workload_an_assumption() -> None:
    path = DATA / "captured" / "rocksdb-7.8.3-level" / "OPTIONS"
    study, assumed = written(path)
    assert assumed == set(study["workload"])
    assert "LOG" not in study.as_string().replace(str(path), "")


@pytest.mark.parametrize(
    ("memtable", "scale", "at_scale"),
    [(64 << 20, "1/64", "1 MiB"), (8 << 20, "1/16", "512 KiB"), (4 << 20, "1/4", "1 MiB"),
     (1 << 20, "1", "512 KiB")],
)  # fmt: skip
def test_the_scale_has_its_reason(tmp_path: Path, memtable: int, scale: str, at_scale: str) -> None:
    text = (DATA / "captured" / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
    sizes = {"write_buffer_size": memtable, "target_file_size_base": 64 << 20,
             "max_bytes_for_level_base": 256 << 20}  # fmt: skip
    changed = text
    for key, size in sizes.items():
        changed, count = re.subn(rf"(?<=^  {key}=)\d+$", str(size), changed, flags=re.M)
        assert count
    (tmp_path / "OPTIONS").write_text(changed)
    study, _ = written(tmp_path / "OPTIONS")
    assert study["scale"] == scale
    assert at_scale in study.item("scale").trivia.comment


def test_skewed_writes_are_suggested_only_for_workloads_that_write(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(OLD)
    log = inspect_path(path)
    load = replace(log.load, writes_s=1000.0, gets_s=10.0, seeks_s=0.0, read_percent=1.0)
    writes = replace(log, load=load)
    reads = replace(log, load=replace(load, writes_s=1.0, gets_s=1000.0, read_percent=99.9))
    assert "write_skew" in study_files(writes, "O").study
    assert "write_skew" not in study_files(reads, "O").study


MYROCKS = DATA / "captured" / "myrocks-6.29-tpcc-universal.LOG.gz"


def given_rate(log: Inspection) -> float | None:
    """Return the rate of the study of a LOG, which has to be a valid study."""
    given = tomllib.loads(study_files(log, "O").study)
    spec = make_spec({**given, **DRIVER}, "study")
    assert spec.is_running == (given["workload"]["name"] in ("overwrite", "mix", "rangedelete"))
    if "rate" not in given:
        return None
    rate, is_share = spec.given_rate
    assert not is_share
    return rate


def changed(log: Inspection, **load: Any) -> Inspection:
    return replace(log, load=replace(log.load, **load))


def test_the_rate_of_a_log_that_writes_is_that_of_its_writes() -> None:
    log = inspected(MYROCKS)
    assert log.load.writes_s == pytest.approx(9989.63, abs=0.01)
    assert given_rate(log) == 9990
    text = comment_of_rate(log)
    assert all(part in text for part in ("9,990 writes/s", "1.43 MB/s", "60 s", "unknown"))
    known = changed(log, read_percent=1.0, gets_s=100.0, seeks_s=0.0)
    assert given_rate(known) == 9990  # the workload has no reads
    assert "unknown" not in comment_of_rate(known)


def test_the_rate_of_a_mix_counts_its_reads() -> None:
    log = inspected(DATA / "planted" / "cache.LOG.gz")
    assert given_rate(log) == 14_203
    text = comment_of_rate(log)
    assert all(part in text for part in ("10,000 writes/s", "4,203 gets/s", "0 scans/s", "15 s"))
    assert given_rate(changed(log, seeks_s=800.0)) == 15_003


@pytest.mark.parametrize(("writes_s", "rate"), [(0.125, 0.12), (42.5, 42.5), (2.5e7, 25_000_000.0)])
def test_a_rate_of_any_size(writes_s: float, rate: float) -> None:
    assert given_rate(changed(inspected(MYROCKS), writes_s=writes_s)) == rate


@pytest.mark.parametrize("writes_s", [None, 0.0])
def test_an_unknown_rate_has_to_be_entered(tmp_path: Path, writes_s: float | None) -> None:
    log = changed(inspected(MYROCKS), writes_s=writes_s)
    assert given_rate(log) is None
    made = study_of(tmp_path / "s.toml", [log])
    assert any(line.startswith("# rate = ") for line in made.study.splitlines())
    assert any("enter" in remark and "rate" in remark for remark in made.remarks)


def test_a_filled_study_has_no_rate() -> None:
    filling = inspected(DATA / "captured" / "rocksdb-7.8.3-level" / "LOG.gz")
    assert given_rate(filling) is None
    (line,) = (one for one in study_files(filling, "O").study.splitlines() if "rate = " in one)
    assert line.startswith("# ")
    assert '"14286"' in line
    reading = changed(filling, gets_s=1e6, read_percent=99.9)
    assert "rate = " not in study_files(reading, "O").study
    log = inspected(MYROCKS)
    family = {**log.options[log.main_family], "compaction_style": "kCompactionStyleFIFO"}
    fifo = replace(log, options={**log.options, log.main_family: family})
    assert "rate = " not in study_files(fifo, "O").study


def test_the_rate_of_several_families_has_to_be_checked(tmp_path: Path) -> None:
    log = inspected(MYROCKS)
    assert len(log.family_sums) > 1  # the other one has 4 KiB of 414 MiB
    assert not any("families" in one for one in study_of(tmp_path / "s", [log]).remarks)
    names = (log.main_family, "other")
    several = replace(log, family_sums=[FamilySum(name, 1, 1000, 1000) for name in names])
    assert sum("families" in one for one in study_of(tmp_path / "s", [several]).remarks) == 1


def comment_of_rate(log: Inspection) -> str:
    return str(tomlkit.parse(study_files(log, "O").study).item("rate").trivia.comment)


def test_the_size_of_values_is_asked_for_if_large_values_are_in_blob_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(
        "write_buffer_size=64m;enable_blob_files=true;min_blob_size=4096"
    )
    files = study_files(inspect_path(tmp_path / "file"), "base.OPTIONS")
    assert "4096" in files.assumed["value_size"]
    (tmp_path / "file").write_text("write_buffer_size=64m;min_blob_size=4096")
    assert "4096" not in study_files(inspect_path(tmp_path / "file"), "b").assumed["value_size"]
