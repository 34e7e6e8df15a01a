"""First steps: one for each code, about an option that is worth a change in the situation."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from log_texts import compaction, dump, event, flush, log, stalls
from planted_texts import GIB, L0, MEMTABLES, MIB, PENDING, TEXTS, compactions, flushes
from test_inspect import CAUSES, PLANTED
from test_rules import PUT_TOGETHER, RULES, codes, codes_in, the

from lsmtune.analysis.inspect.computed_steps import computed
from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.findings import FIRST_STEPS
from lsmtune.analysis.inspect.first_steps import direction, first_step
from lsmtune.analysis.inspect.inspection import Finding
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.knobs.advice import Direction, action

_MOST_WORDS = 14


def planted(code: str, tmp_path: Path) -> Finding:
    """A finding with this code, of a text or of a LOG with a planted problem."""
    if code in TEXTS:
        return the(tmp_path, code, TEXTS[code])
    case = next(case for case, (of, _) in CAUSES.items() if of == code)
    findings = inspect_path(PLANTED / f"{case}.LOG.gz").findings
    return next(finding for finding in findings if finding.code == code)


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
    for told in FIRST_STEPS.values():
        assert len(told) == len(set(told)) > 0
        for step in told:
            assert 0 < len(step.split()) <= _MOST_WORDS
            assert step[0].islower()
            assert not step.endswith(".")


@pytest.mark.parametrize("step", sorted({step for told in FIRST_STEPS.values() for step in told}))
def test_each_step_has_a_cost_in_its_direction(step: str) -> None:
    options = [word.strip(",;:()") for word in step.split()]
    known = [option for option in options if is_known(option)]
    for option in known[:1]:
        assert action(option, direction(step)).cost


def is_known(option: str) -> bool:
    try:
        return bool(action(option))
    except KeyError:
        return False


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("double write_buffer_size", "higher"),
        ("raise max_subcompactions to 4", "higher"),
        ("halve max_compaction_bytes", "lower"),
        ("lower num_shard_bits", "lower"),
        ("set max_open_files to -1", "lower"),
        ("raise write_buffer_size; if it is larger, lower ttl", "higher"),
        ("call CompactRange once, then lower ttl", "lower"),
        ("set ttl to one day (86400) or less", "lower"),
        ("set disable_auto_compactions to true during CompactRange, and to false later", "true"),
        ("use one path, or set level_compaction_dynamic_level_bytes to false", "false"),
    ],
)
def test_the_direction_of_a_step_is_the_one_that_it_says_first(
    step: str, expected: Direction
) -> None:
    assert direction(step) == expected


@pytest.mark.parametrize(
    ("look_at", "expected"),
    [
        (("ttl", "max_open_files"), ("lower ttl, then set ttl and max_open_files", "ttl")),
        (("max_open_files", "ttl"), ("lower ttl, then set ttl and max_open_files", "ttl")),
        (("max_background_jobs", "ttl"), ("raise max_background_jobs", "max_background_jobs")),
        (("write_buffer_size",), ("raise max_background_jobs", None)),
    ],
)
def test_the_first_option_chooses_the_step_and_the_first_in_the_step_costs(
    look_at: tuple[str, ...], expected: tuple[str, str | None]
) -> None:
    steps = ("lower ttl, then set ttl and max_open_files", "raise max_background_jobs")
    assert first_step(steps, look_at) == expected


def test_costs_of_a_first_step_are_those_of_its_direction(tmp_path: Path) -> None:
    smaller = planted("wal-limit-unused", tmp_path).first_action
    larger = planted("compaction-behind", tmp_path).first_action
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
def test_a_step_names_one_of_the_options_of_its_finding(code: str, tmp_path: Path) -> None:
    finding = planted(code, tmp_path)
    assert finding.steps == FIRST_STEPS[code]
    step, _ = first_step(finding.steps, finding.look_at)
    assert finding.first_step == computed(step, finding.current)[0]
    if finding.look_at:
        assert finding.first_action is not None
        assert finding.first_action.option in finding.look_at
        assert finding.first_action.option in finding.first_step
    else:
        assert finding.first_action is None


def test_the_document_has_the_first_step(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(TEXTS["few-memtables"])
    log_ = inspect_path(path)
    for finding, told in zip(log_.findings, inspection_document(log_)["findings"], strict=True):
        assert told["first_step"] == finding.first_step


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
    "a manual compaction since 7.6": ("manual-compaction", TEXTS["manual-compaction"].replace(
        "7.8.3", "8.6.1"), "disable_auto_compactions"),
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
