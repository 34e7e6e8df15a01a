"""First steps: one for each code, about an option that is worth a change in the situation."""

import ast
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from log_texts import compaction, dump, event, flush, log, stalls
from planted_texts import GIB, L0, MEMTABLES, MIB, PENDING, TEXTS, compactions, flushes
from recorded_logs import PLANTED, inspected
from test_inspect import CAUSES
from test_rules import PUT_TOGETHER, RULES, codes, codes_in, the

from lsmtune.analysis.inspect.applying import Line, lines_to_apply
from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.findings import FIRST_STEPS, with_step
from lsmtune.analysis.inspect.first_steps import Change, FirstStep, Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.knobs.advice import action, name_in_texts

_MOST_WORDS = 14
PRESENT = (None, "default", "1", "3", "-1", "0", "1048576", str(1 << 40), str(2**64 - 2), "true",
           "false", "kZSTD", "kLZ4Compression", "0.25")  # fmt: skip
"""Values that an option may have; None: the text lacks it."""


def planted(code: str) -> Finding:
    """A finding with this code, of a text or of a LOG with a planted problem."""
    log_ = planted_log(code)
    return next(finding for finding in log_.findings if finding.code == code)


@cache
def planted_log(code: str) -> Inspection:
    if code not in TEXTS:
        case = next(case for case, (of, _) in CAUSES.items() if of == code)
        return inspected(PLANTED / f"{case}.LOG.gz")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "LOG"
        path.write_text(TEXTS[code])
        return inspect_path(path)


def codes_with_steps(path: Path) -> Iterator[str]:
    """The keys of FIRST_STEPS in the source of a file of rules, also those that are there twice."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "FIRST_STEPS":
            assert isinstance(node.value, ast.Dict)
            yield from (key.value for key in node.value.keys if isinstance(key, ast.Constant))


FILES = sorted(RULES.glob("[a-z]*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_steps_of_a_code_are_in_the_file_of_its_rule(path: Path) -> None:
    own = {*codes_with_steps(path)}
    assert own - PUT_TOGETHER == codes_in(path) - PUT_TOGETHER
    assert own


def test_no_code_has_steps_twice() -> None:
    counts = Counter(code for path in FILES for code in codes_with_steps(path))
    assert counts == Counter(FIRST_STEPS.keys())


def test_each_code_has_steps_and_each_step_a_code() -> None:
    assert FIRST_STEPS.keys() == codes()
    for steps in FIRST_STEPS.values():
        assert len(steps) == len(set(steps)) > 0
        for text in (step for step in steps if isinstance(step, str)):
            assert 0 < len(text.split()) <= _MOST_WORDS
            assert text[0].islower()
            assert not text.endswith(".")


def with_value(log_: Inspection, option: str, value: str | None) -> Inspection:
    """The inspection of a text in which an option has another value, or is missing."""
    name = name_in_texts(option)
    families = [*log_.options] or [log_.main_family]
    options = {}
    for scope in families:
        own = {key: text for key, text in log_.options.get(scope, {}).items() if key != name}
        options[scope] = own if value is None else {**own, name: value}
    return replace(log_, options=options)


@pytest.mark.parametrize("code", sorted(codes()))
def test_verb_direction_and_numbers_of_a_step_agree_whatever_the_present_value_is(
    code: str,
) -> None:
    log_ = planted_log(code)
    finding = next(finding for finding in log_.findings if finding.code == code)
    options = {*finding.look_at, *(c.option for c in finding.step.changes)}
    stepped = [s.option for s in FIRST_STEPS[code] if isinstance(s, Step)]
    for option in {*stepped, *options}:
        for value in PRESENT:
            changed = log_ if value == "default" else with_value(log_, option, value)
            found = with_step(finding, changed)
            document = inspection_document(replace(changed, findings=(found,)))["findings"][0]
            check_step(document, {change.option for change in found.step.changes})


def check_step(document: Mapping[str, Any], changed: set[str]) -> None:
    """Check the first step of a finding in the JSON: its words, its direction and its values."""
    text = document["first_step"]
    assert text
    for act in document["actions"]:
        way, old, new = act["direction"], act["from"], act["to"]
        if act["option"] not in changed:
            assert (way, new) == (None, None)
            continue
        verbs = {"raise": ("raise", "double"), "lower": ("lower", "halve"), "set": ("set",)}[way]
        assert any(f"{verb} {act['option']}" in text for verb in verbs)
        assert action(act["option"]).cost
        if new is None:
            assert f"{act['option']} from" not in text
            continue
        assert new != old
        before, after = as_number(old), as_number(new)
        if way in ("raise", "lower"):
            assert before is not None
            assert after is not None
            assert min(before, after) > 0
            assert (after > before) == (way == "raise")
        elif before is not None and after is not None:
            assert min(before, after) <= 0 or max(before, after) >= 1 << 30


@pytest.mark.parametrize(
    ("present", "direction", "to"),
    [
        (str(256 * MIB), "raise", str(GIB)),
        (str(512 * MIB), "raise", str(GIB)),
        (str(GIB), "raise", str(2 * GIB)),
        ("0", "set", str(GIB)),
        (str(2**64 - 1), "set", str(GIB)),
    ],
)
def test_level_1_grows_to_one_compaction_of_level_0_or_twice(
    present: str, direction: str, to: str
) -> None:
    """The fault that this keeps away: a step that lowers what is too small."""
    log_ = with_value(planted_log("tiny-levels"), "write_buffer_size", str(256 * MIB))
    log_ = with_value(log_, "max_bytes_for_level_base", present)
    finding = next(finding for finding in log_.findings if finding.code == "tiny-levels")
    (change, *_) = with_step(finding, log_).step.changes
    assert (change.direction, change.before, change.after) == (direction, present, to)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("wal-limit", Change("max_total_wal_size", "raise", str(100 * MIB), str(256 * MIB))),
        ("wal-limit", Change("max_total_wal_size", "raise", str(GIB), str(2 * GIB))),
        ("wal-limit", Change("max_total_wal_size", "set", "0", str(2 * GIB))),
        ("few-memtables", Change("max_write_buffer_number", "raise", "2", "4")),
        ("few-memtables", Change("max_write_buffer_number", "raise", "6", "12")),
        ("periodic-in-place", Change("ttl", "set", str(2**64 - 2), "86400")),
        ("periodic-in-place", Change("ttl", "lower", "3600", "1800")),
        ("intra-l0", Change("max_compaction_bytes", "lower", str(GIB), str(GIB // 2))),
        ("metadata-misses", Change("block_cache", "raise", str(GIB), str(2 * GIB))),
    ],
)
def test_step_follows_from_the_present_value(code: str, change: Change) -> None:
    log_ = with_value(planted_log(code), change.option, change.before)
    finding = next(finding for finding in log_.findings if finding.code == code)
    assert with_step(finding, log_).step.changes[0] == change


def as_number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def test_costs_of_a_first_step_are_those_of_its_direction() -> None:
    smaller = planted("wal-limit-unused").first_action
    larger = planted("compaction-behind").first_action
    assert smaller is not None
    assert larger == action("write_buffer_size", "higher")
    assert smaller == action("write_buffer_size", "lower")
    assert smaller.cost != action("write_buffer_size", "higher").cost
    assert all(
        action("write_buffer_size", way).cost in action("write_buffer_size").cost
        for way in ("higher", "lower")
    )


def test_a_cost_without_a_direction_is_a_fault() -> None:
    with pytest.raises(KeyError):
        action("write_buffer_size", "true")


@pytest.mark.parametrize("code", sorted(codes()))
def test_a_step_names_one_of_the_options_of_its_finding(code: str) -> None:
    finding = planted(code)
    if finding.step.changes:
        assert finding.first_action is not None
        assert finding.first_action.option in finding.look_at
        assert finding.first_action.option in finding.step.text
    else:
        assert finding.first_action is None
        assert finding.step.text in FIRST_STEPS[code] or "check " in finding.step.text


def test_the_document_has_the_first_step(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(TEXTS["few-memtables"])
    log_ = inspect_path(path)
    for finding, told in zip(log_.findings, inspection_document(log_)["findings"], strict=True):
        assert told["first_step"] == finding.step.text


@pytest.mark.parametrize("version", ["5.18.3", "6.0.1", "9.6.1"])
def test_options_since_6_0_are_in_every_version(version: str) -> None:
    assert action("max_bytes_for_level_base").is_in(version)


def test_newer_options_are_not_in_older_versions() -> None:
    newer = action("memtable_max_range_deletions")
    assert [newer.is_in(version) for version in ("5.18.3", "8.5.3", "8.6.0", "10.0.1")] == [
        False, False, True, True,
    ]  # fmt: skip


_BUSY = compactions(30, took_s=2.0, cpu=0.95)
_UNIVERSAL = {"compaction_style": "kCompactionStyleUniversal"}
_FIFO = {"compaction_style": "kCompactionStyleFIFO"}
_OLD = {"max_background_compactions": 1}
_GARBAGE = dump(
    100, tail="Blob file count: 25, total size: 0.3 GB, garbage size: 0.2 GB, space amp: 3.0"
)
_SYNCED = dump(100, tickers={"wal.synced": 300, "write.wal": 300})
_COUNTED = "** DB Stats **\nUptime(secs): 15.0 total, 2.0 interval\nWrite Stall (count): "
_DELETES = flush(1, 2, entries=9000, deletes=8000)
_RECOVERED = [
    (1, f"[db/db_impl/db_impl_open.cc:1043] Recovering log #{n} mode 2") for n in range(30)
]


_FIFO_LIMIT = (
    "compaction_style=kCompactionStyleFIFO;write_buffer_size=64m;"
    "compaction_options_fifo={{max_table_files_size={}}}"
)


def collecting(**told: object) -> str:
    return log(_GARBAGE, family={"enable_blob_garbage_collection": "true", **told})


SITUATIONS: dict[str, tuple[str, str, str | None]] = {
    "jobs of the new option": ("few-jobs", log(stalls(L0, times=60), _BUSY, database={
        "max_background_jobs": 2}), "max_background_jobs"),
    "jobs of the old option": ("few-jobs", log(
        stalls(L0, times=60), _BUSY, database=_OLD), "max_background_compactions"),
    "jobs where flushes are set alone": ("few-jobs", log(
        stalls(L0, times=60), _BUSY, database={"max_background_jobs": 2,
        "max_background_flushes": 4}), "max_background_compactions"),
    "low limits of pending bytes": ("pending-bytes", log(
        stalls(PENDING, times=60), (61, "end"), family={
            "soft_pending_compaction_bytes_limit": 6 * GIB}),
        "soft_pending_compaction_bytes_limit"),
    "high limits of pending bytes": ("pending-bytes", log(
        stalls(PENDING, times=60), (61, "end")), "max_background_jobs"),
    "compactions that do not use all jobs": ("compaction-behind", log(
        stalls(L0, times=60), compactions(2, took_s=0.1)), "write_buffer_size"),
    "options unknown, memtables": ("stall-options-unknown", TEXTS["stall-options-unknown"].replace(
        L0, MEMTABLES), "max_write_buffer_number"),
    "warnings of memtables": ("writes-stopped", TEXTS["writes-stopped"].replace(
        L0, MEMTABLES), "max_write_buffer_number"),
    "slowdowns by pending bytes": ("writes-slowed", TEXTS["writes-slowed"].replace(
        L0, PENDING), "max_background_jobs"),
    "an end with full memtables": ("stopped-at-the-end", TEXTS["stopped-at-the-end"].replace(
        L0, MEMTABLES), "max_write_buffer_number"),
    "an end with old options": ("stopped-at-the-end", log(
        event(25, "flush_finished", job=2, lsm_state=[9, 0]),
        (26, f"[WARN] [default] Stopping writes because {L0}"), database=_OLD),
        "max_background_compactions"),
    "counts of memtables": ("counted-stalls", TEXTS["counted-stalls"].replace(
        "7 level0_slowdown", "0 level0_slowdown").replace(
        "0 memtable_compaction", "7 memtable_compaction"), "max_write_buffer_number"),
    "counts of the memory limit": (
        "counted-stalls", _COUNTED + "write-buffer-manager-limit-stops: 12\n",
        "db_write_buffer_size"),
    "a huge trigger of level 0": ("many-l0-files", log(
        event(1, "flush_finished", job=2, lsm_state=[200, 0]),
        family={"level0_file_num_compaction_trigger": 1000}),
        "level0_file_num_compaction_trigger"),
    "a usual trigger and old options": ("many-l0-files", log(
        event(1, "flush_finished", job=2, lsm_state=[200, 0]), database=_OLD),
        "max_background_compactions"),
    "compactions behind a limiter": ("slow-compactions", log(
        compactions(20, took_s=1.9, cpu=0.1), database={"rate_limiter": "0x5639f86d1a30"}),
        "rate_limiter_bytes_per_sec"),
    "flushes behind a limiter": ("slow-flushes", log(
        flushes(5, data=16 * MIB, took_s=5.0), database={"rate_limiter": "0x5639f86d1a30"}),
        "rate_limiter_bytes_per_sec"),
    "a costly codec of all levels": ("costly-codec", log(
        compactions(20, took_s=1.9, cpu=0.97), family={
            "compression": "ZSTD", "bottommost_compression": "ZSTD"}), "compression"),
    "deletions in levels": ("tombstones", log(_DELETES), "ttl"),
    "deletions with universal": (
        "tombstones", log(_DELETES, family=_UNIVERSAL), "periodic_compaction_seconds"),
    "deletions with FIFO, where an age deletes data": (
        "tombstones", log(_DELETES, family=_FIFO), "iterate_upper_bound"),
    "quiet deletions with universal": ("quiet-deletions", log(
        _DELETES, (9000, "still here"), family=_UNIVERSAL), "periodic_compaction_seconds"),
    "garbage that is collected": ("blob-garbage", collecting(
        blob_garbage_collection_age_cutoff="0.250000"), "blob_garbage_collection_age_cutoff"),
    "garbage of all ages that is collected": ("blob-garbage", collecting(
        blob_garbage_collection_age_cutoff="1.000000"),
        "blob_garbage_collection_force_threshold"),
    "compactions by ttl": ("timed-compactions", log(compactions(4, reason="Ttl")), "ttl"),
    "a manual compaction while level 0 grows": (
        "manual-compaction", TEXTS["manual-compaction"], "exclusive_manual_compaction"),
    "a manual compaction with many pending bytes": (
        "manual-compaction", TEXTS["manual-compaction"].replace(L0, PENDING),
        "disable_auto_compactions"),
    "a threshold of flow control that the file sets": (
        "tikv-flow-control", "[rocksdb.writecf]\nlevel0-slowdown-writes-trigger = 20\n"
        "[storage.flow-control]\nl0-files-threshold = 50\n", "level0_slowdown_writes_trigger"),
    "limits of pending bytes without a slowdown": (
        "no-slowdown", "soft_pending_compaction_bytes_limit=8G;"
        "hard_pending_compaction_bytes_limit=8G", "hard_pending_compaction_bytes_limit"),
    "a large index block": ("large-filter-block", TEXTS["large-filter-block"].replace(
        "filter_block_read_count = 2, index_block_read_count = 0",
        "filter_block_read_count = 0, index_block_read_count = 2"), "index_type"),
    "syncs where WAL files are not recycled": ("sync-writes", log(_SYNCED), None),
    "syncs where WAL files are recycled": (
        "sync-writes", log(_SYNCED, version="9.1.0"), "recycle_log_file_num"),
    "an opening that reads no statistics": ("slow-opening", log(
        opened_s=90.0, database={"skip_stats_update_on_db_open": 1}),
        "max_file_opening_threads"),
    "an opening with a large MANIFEST": ("slow-opening", log(opened_s=90.0, summary=[
        "MANIFEST file:  MANIFEST-000004 size: 2000000000 Bytes"]), "max_manifest_file_size"),
    "a filter larger than the cache": ("large-metadata", TEXTS["large-metadata"].replace(
        f"capacity : {32 * MIB}", f"capacity : {4 * MIB}"), "block_cache"),
    "old flushes without compactions": (
        "half-set-jobs", TEXTS["half-set-jobs"], "max_background_flushes"),
    "old compactions without flushes": ("half-set-jobs", log(database={
        "max_background_jobs": 16, "max_background_compactions": 4}),
        "max_background_compactions"),
    "flow control by pending bytes": (
        "tikv-flow-control", '[rocksdb.writecf]\nsoft-pending-compaction-bytes-limit = "300GB"\n',
        "storage.flow-control.soft-pending-compaction-bytes-limit"),
    "many WAL files of two families": ("many-wals", log(_RECOVERED, families=("default", "a")),
                                       "max_total_wal_size"),
    "many WAL files below a low limit": ("many-wals", log(
        _RECOVERED, families=("default", "a"), database={"max_total_wal_size": MIB}), None),
    "many WAL files of one family": ("many-wals", log(_RECOVERED), None),
    "many WAL files that openings keep": ("many-wals", log(_RECOVERED, database={
        "avoid_flush_during_recovery": 1}), "avoid_flush_during_recovery"),
    "an atomic flush": ("merge-number-ignored", log(
        (1, "[WARN] Currently, min_write_buffer_number_to_merge > 1 is not compatible with "
         "atomic_flush")), "min_write_buffer_number_to_merge"),
}  # fmt: skip
"""A code, a text in which it comes up, and the option that is to be tried first there."""


@pytest.mark.parametrize("case", SITUATIONS)
def test_the_step_is_about_the_option_that_counts_in_the_situation(
    case: str, tmp_path: Path
) -> None:
    code, text, option = SITUATIONS[case]
    first = the(tmp_path, code, text).first_action
    assert (first.option if first else None) == option


@pytest.mark.parametrize(
    ("code", "text", "change"),
    [
        ("fifo-tiny-limit", _FIFO_LIMIT.format(20480), Change(
            "fifo_max_table_files_size", "raise", "20480", str(640 * MIB))),
        ("wal-unlimited", "[Version]\nrocksdb_version=6.7.3\n[DBOptions]\n" + "".join(
            f'[CFOptions "{name}"]\nwrite_buffer_size={GIB}\n' for name in ("default", "a")),
         Change("max_total_wal_size", "set", None, str(4 * GIB))),
        ("many-wals", log(_RECOVERED, families=("default", "a"), database={
            "max_total_wal_size": 1 << 40}),
         Change("max_total_wal_size", "lower", str(1 << 40), str(512 * MIB))),
        ("no-slowdown", TEXTS["no-slowdown"], Change(
            "level0_stop_writes_trigger", "raise", "30", "46")),
    ],
)  # fmt: skip
def test_the_number_of_a_step_follows_from_the_text(
    code: str, text: str, change: Change, tmp_path: Path
) -> None:
    assert the(tmp_path, code, text).step.changes[0] == change


def test_quiet_deletions_are_no_matter_of_fifo(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(log(_DELETES, (9000, "still here"), family=_FIFO))
    assert "quiet-deletions" not in [finding.code for finding in inspect_path(path).findings]


def test_a_step_about_ttl_stays_away_where_the_style_is_unknown(tmp_path: Path) -> None:
    text = "\n".join(
        entry for entry in log(compaction(1, 3), _DELETES).splitlines() if "Options." not in entry
    )
    first = the(tmp_path, "tombstones", text).first_action
    assert first is not None
    assert first.option == "iterate_upper_bound"


@pytest.mark.parametrize(
    ("code", "option", "present"),
    [
        ("table-cache", "max_open_files", "-1"),
        ("hits-only-filter", "optimize_filters_for_hits", "0"),
    ],
)
def test_an_option_that_has_its_value_already_is_only_checked(
    code: str, option: str, present: str
) -> None:
    log_ = with_value(planted_log(code), option, present)
    finding = next(finding for finding in planted_log(code).findings
                   if finding.code == code)  # fmt: skip
    found = with_step(finding, log_)
    assert found.step.changes == ()
    assert found.first_action is None
    assert lines_to_apply(found, log_) == ()


def test_an_options_string_has_no_calls(tmp_path: Path) -> None:
    path = tmp_path / "options"
    path.write_text("write_buffer_size=512M;level0_file_num_compaction_trigger=4")
    log_ = inspect_path(path)
    (finding,) = log_.findings
    (line,) = lines_to_apply(finding, log_)
    assert line == Line(f"max_bytes_for_level_base={4 * 512 << 20}", "the options string")


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("few-memtables", Line('db->SetOptions({{"max_write_buffer_number", "4"}})')),
        ("no-readahead", Line('db->SetDBOptions({{"compaction_readahead_size", "2097152"}})')),
        ("fifo-merges-ttl", Line(
            'db->SetOptions({{"compaction_options_fifo", "{allow_compaction=false;}"}})')),
        ("metadata-misses", Line("cache->SetCapacity(67108864)")),
        ("wal-not-recycled", Line("recycle_log_file_num=0", "the OPTIONS file, [DBOptions]")),
        ("low-wal-limit", Line("SET GLOBAL rocksdb_max_total_wal_size = 134217728")),
        ("wal-off", Line("SET GLOBAL rocksdb_write_disable_wal = false")),
        ("tikv-sync-log", Line("raftstore.sync-log = true", "tikv.toml")),
    ],
)  # fmt: skip
def test_line_to_apply_is_that_of_the_program(code: str, line: Line) -> None:
    log_ = planted_log(code)
    finding = next(finding for finding in log_.findings if finding.code == code)
    assert lines_to_apply(finding, log_) == (line,)


def test_the_block_cache_of_myrocks_has_a_variable_of_its_own() -> None:
    log_ = planted_log("wal-off")
    change = Change("block_cache", "raise", str(GIB), str(2 * GIB))
    finding = replace(log_.findings[0], step=FirstStep("", (change,)))
    line = Line(f"SET GLOBAL rocksdb_block_cache_size = {2 * GIB}")
    assert lines_to_apply(finding, log_) == (line,)


@pytest.mark.parametrize("code", sorted(codes()))
def test_the_document_says_cause_step_call_cost_and_check(code: str) -> None:
    log_ = planted_log(code)
    documents = inspection_document(log_)["findings"]
    document = next(one for one in documents if one["code"] == code)
    assert document["do"] == document["first_step"]
    assert document["evidence"] in document["cause"]
    assert document["check"]
    is_change = any(act["direction"] for act in document["actions"])
    assert (document["apply"] is not None) == (document["cost"] is not None) == is_change
