"""The catalogue of knobs: whole, sane, and what RocksDB itself writes."""

from collections import Counter
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.each import each
from knobs.real import captured, read_all
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, Preset, Start, load
from lsmtune.knobs.knob_text import parse_value
from lsmtune.knobs.rules.refused import CODEC_KNOBS, CODEC_LABELS
from lsmtune.knobs.types import Knob, Value
from lsmtune.workloads import WORKLOADS, Workload

CATALOGUE = load("rocksdb")
KNOBS = CATALOGUE.knobs
OLD = read_all(captured("rocksdb-7.8.3-level"))
NEW = read_all(captured("rocksdb-11.8.1-level"))

STUDY_PARAMETERS = [
    "max_background_compactions", "max_background_flushes", "write_buffer_size",
    "max_write_buffer_number", "min_write_buffer_number_to_merge", "compaction_pri",
    "compaction_style", "level0_file_num_compaction_trigger",
    "level0_slowdown_writes_trigger", "level0_stop_writes_trigger", "compression_type",
    "bloom_locality", "open_files", "block_size", "cache_index_and_filter_blocks",
    "max_bytes_for_level_base", "max_bytes_for_level_multiplier", "target_file_size_base",
    "target_file_size_multiplier", "num_levels", "memtable_bloom_size_ratio",
    "compression_ratio", "min_level_to_compress", "threads", "mmap_write", "mmap_read",
    "bytes_per_sync", "wal_bytes_per_sync", "bloom_bits", "cache_size",
]  # fmt: skip
"""The 30 parameters of Jin et al. 2022."""

every_knob = each(KNOBS, lambda knob: knob.name)


def named(name: str) -> Knob:
    return CATALOGUE.knob(name)


@every_knob
def test_the_default_is_allowed(knob: Knob) -> None:
    assert knob.allows(knob.default)
    assert parse_value(knob, str(knob.default), "knob") == knob.default
    assert knob.default not in knob.named_only


@every_knob
def test_ranges_are_sane(knob: Knob) -> None:
    if not knob.is_range:
        assert knob.low is knob.high is None
        assert len(set(knob.values)) == len(knob.values) >= 2
        assert knob.drawn
        assert (knob.log, knob.scales, knob.special) == (False, False, ())
        return
    low, high = knob.bounds()
    assert low < high
    assert low > 0 or not knob.log
    assert not knob.log or high / low > 3
    assert knob.least is None or knob.least <= low
    assert knob.most is None or knob.most >= high
    assert not knob.choices
    for special in knob.special:
        assert not low <= special.value <= high
        assert special.meaning


@every_knob
def test_texts_are_there(knob: Knob) -> None:
    texts = (knob.name, knob.area, knob.trade, knob.since)
    assert all(text.strip() == text != "" for text in texts)
    assert knob.unit == knob.unit.strip()
    assert knob.inert is None or knob.inert
    assert knob.risk is None or knob.risk
    if not knob.is_range:
        assert all(str(value).lower() in knob.allowed_text().lower() for value in knob.values)


LABELLED = {"label", "codec", "factory", "plain"}


@every_knob
def test_labels_are_for_forms_that_have_them(knob: Knob) -> None:
    assert not knob.labels or (knob.option and knob.option.form in LABELLED)
    assert len(set(knob.labels)) == len(knob.labels)


@every_knob
def test_only_sizes_in_bytes_scale(knob: Knob) -> None:
    assert not knob.scales or (knob.unit == "bytes" and knob.kind == "int")


@every_knob
def test_conditions_are_values_of_other_knobs(knob: Knob) -> None:
    for name, values in knob.when.items():
        assert name != knob.name
        assert all(named(name).allows(value) for value in values)


@every_knob
def test_a_knob_stands_in_the_options_of_one_of_the_captured_versions(knob: Knob) -> None:
    if knob.option is None:
        assert knob.flag
        return
    assert knob.name in OLD or knob.name in NEW
    assert (knob.name in OLD) == (version_of(knob.since) <= (7, 8))
    assert (knob.name in NEW) == (knob.until is None)


def version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def test_names_and_option_places_are_unique() -> None:
    assert len({knob.name for knob in KNOBS}) == len(KNOBS) > 150
    places = Counter(
        (knob.option.section, knob.option.key, knob.option.field)
        for knob in KNOBS
        if knob.option is not None
    )
    shared = {place for place, count in places.items() if count > 1}
    assert {key for _, key, _ in shared} == {"filter_policy"}


def test_codecs_have_the_names_that_the_rules_know() -> None:
    for name in CODEC_KNOBS:
        labels = dict(zip(named(name).choices, named(name).labels, strict=True))
        assert {n: labels[n] for n in CODEC_LABELS} == CODEC_LABELS


def test_the_parameters_of_the_study_are_28_knobs_and_two_of_the_workload() -> None:
    ours = {parameter.name for parameter in CATALOGUE.workload_parameters}
    assert ours == {"threads", "compression_ratio"}
    assert len(STUDY_PARAMETERS) == 30
    assert {knob.name for knob in KNOBS} >= set(STUDY_PARAMETERS) - ours


@pytest.mark.parametrize("parameter", CATALOGUE.workload_parameters, ids=lambda p: p.name)
def test_parameters_of_the_workload_are_no_knobs(parameter: object) -> None:
    name = field = parameter.name  # type: ignore[attr-defined]
    assert field in Workload.model_fields
    with pytest.raises(UserError, match=rf"^knobs: {name}\b.*workload"):
        CATALOGUE.select(f"num_levels,{name}")


@pytest.mark.parametrize("preset", CATALOGUE.presets, ids=lambda preset: preset.name)
def test_presets_name_knobs_that_there_are(preset: Preset) -> None:
    chosen = [k for k in CATALOGUE.select(preset.name) if k.name not in preset.load]
    assert len(chosen) + len(preset.load) == len(CATALOGUE.select(preset.name))
    assert chosen
    assert all(knob.inert is None for knob in chosen)
    risky = {knob.name for knob in chosen if knob.risk is not None}
    assert risky == ({"disable_auto_compactions"} if "autotikv" in preset.name else set())
    base = {knob.name: knob.default for knob in KNOBS} | CATALOGUE.begun(preset.name)
    assert all(knob.allows(base[knob.name]) for knob in chosen)
    assert preset.title
    if preset.knobs is not None:
        assert [knob.name for knob in chosen] == list(preset.knobs)
    for name, value in preset.fixed.items():
        assert value == base[name]  # a fixed knob stays at the base
        assert name not in {knob.name for knob in chosen}


CORE = {
    "write_buffer_size": (33554432, 134152192), "max_write_buffer_number": (2, 8),
    "min_write_buffer_number_to_merge": (1, 2), "level0_file_num_compaction_trigger": (2, 8),
    "level0_slowdown_writes_trigger": (16, 32), "level0_stop_writes_trigger": (32, 64),
    "max_background_compactions": (1, 16), "max_background_flushes": (1, 16),
    "block_size": (2048, 16384), "max_bytes_for_level_base": (134217728, 536870912),
    "max_bytes_for_level_multiplier": (8, 12), "target_file_size_base": (33554432, 134217728),
    "target_file_size_multiplier": (1, 2), "num_levels": (5, 8), "min_level_to_compress": (1, 6),
    "bytes_per_sync": (65536, 8388608), "wal_bytes_per_sync": (65536, 8388608),
    "bloom_bits": (2, 20), "cache_size": (1048576, 33554432),
    "compaction_pri": (0, 1, 2, 3),
    "compression_type": ("none", "snappy", "lz4", "zlib"),
    "open_files": (-1, 10000, 100000, 1000000), "mmap_read": (False, True),
    "mmap_write": (False, True), "cache_index_and_filter_blocks": (False, True),
}  # fmt: skip
"""What shipped results were measured with."""


@pytest.mark.parametrize(
    "preset", sorted({one.knobs for one in WORKLOADS.built_in.values() if one.knobs})
)
@pytest.mark.parametrize("engine", ["rocksdb", "myrocks"])
def test_default_presets_leave_alone_what_production_systems_do(engine: str, preset: str) -> None:
    catalogue = load(engine)
    if preset in {found.name for found in catalogue.presets}:
        assert [k.name for k in catalogue.select(preset) if k.avoid] == []
    avoided = {knob.name for knob in CATALOGUE.knobs if knob.avoid}
    assert avoided == {
        "mmap_read", "mmap_write", "open_files", "max_background_flushes",
        "max_background_compactions",
    }  # fmt: skip


def test_the_published_preset_is_what_the_study_searched() -> None:
    knobs = CATALOGUE.select("jin2022")
    assert {k.name: k.bounds() if k.is_range else k.drawn for k in knobs} == CORE
    assert set(CORE) < set(STUDY_PARAMETERS)


def test_all_are_those_that_have_an_effect_and_give_nothing_up() -> None:
    chosen = {knob.name for knob in CATALOGUE.select("all")}
    assert chosen == {k.name for k in KNOBS if k.inert is None and k.risk is None}
    assert len(chosen) > 130
    assert {"manual_wal_flush", "unordered_write", "fifo_max_table_files_size"} & chosen == set()


@pytest.mark.parametrize("start", CATALOGUE.starts, ids=lambda start: start.name)
def test_advised_starts_are_values_of_knobs_and_name_their_source(start: Start) -> None:
    assert start.source
    for name, value in start.settings.items():
        assert named(name).accepts(value)
        assert named(name).inert is named(name).risk is None
    for preset in start.suits:
        tuned = {knob.name: knob for knob in CATALOGUE.select(preset)}
        taken = {n: v for n, v in start.settings.items() if n in tuned}
        assert taken
        assert all(tuned[name].allows(value) for name, value in taken.items())


def test_starts_are_advised_for_the_presets_that_they_suit() -> None:
    assert [start.name for start in CATALOGUE.advised("core", sized=False)] == [
        "memtables first", "memtables first, universal", "level style",
    ]  # fmt: skip
    assert [start.name for start in CATALOGUE.advised("core", sized=True)] == [
        "fewer, larger compactions", "universal", "level style at equal memory",
    ]  # fmt: skip
    for sized in (False, True):
        assert "scans" in {start.name for start in CATALOGUE.advised("reads", sized=sized)}
    listed = [CATALOGUE.advised("num_levels,block_size", sized=sized) for sized in (False, True)]
    assert all(any(start in starts for starts in listed) for start in CATALOGUE.starts)


OLDER = CATALOGUE.restricted({knob.name for knob in KNOBS} - {"bloom_bits", "num_levels"})


def test_an_older_version_has_fewer_knobs() -> None:
    names = {knob.name for knob in CATALOGUE.select("core")}
    assert {knob.name for knob in OLDER.select("core")} == names - {"bloom_bits", "num_levels"}
    assert OLDER.defaults(1).keys() == CATALOGUE.defaults(1).keys() - {"bloom_bits", "num_levels"}
    assert OLDER.restricted(["block_size"]).absent > {"bloom_bits", "write_buffer_size"}
    assert {f.name for f in fields(Catalogue)} >= {"absent", "notes"}


def test_a_knob_that_this_version_lacks_is_refused_by_name() -> None:
    with pytest.raises(UserError, match=r"^knobs: bloom_bits\b.*RocksDB"):
        OLDER.select("block_size,bloom_bits")
    with pytest.raises(UserError, match=r"^knobs: .*'bloom_bit'.*lsmtune knobs rocksdb"):
        OLDER.select("bloom_bit")


def test_settings_scale_but_for_special_values_and_what_is_too_small() -> None:
    settings = {
        "write_buffer_size": 1 << 20, "db_write_buffer_size": 0, "cache_size": 8 << 20,
        "compaction_style": 1, "max_compaction_bytes": 0, "nosuch": 64,
    }  # fmt: skip
    small = {"write_buffer_size": 64 << 10, "cache_size": 128 << 10}
    assert CATALOGUE.scaled(settings, 1 / 64) == settings | small
    assert CATALOGUE.scaled(settings, 2)["write_buffer_size"] == 2 << 20


@given(
    knob=st.sampled_from([knob for knob in KNOBS if knob.is_range]),
    number=st.one_of(
        st.integers(-(2**31), 2**64 - 1), st.floats(-1e6, 1e12), st.sampled_from([0, -1, 1])
    ),
)
def test_a_knob_can_be_widened_to_hold_a_value(knob: Knob, number: float) -> None:
    value = round(number) if knob.kind == "int" else round(number, 3)
    wider = knob.around(value)
    assert wider.allows(value)
    assert wider.around(value) == wider
    assert wider.bounds()[0] > 0 or not knob.log
    low, high = wider.bounds()
    assert low <= knob.bounds()[0] < knob.bounds()[1] <= high
    if knob.log and knob.bounds()[0] <= value <= knob.bounds()[1]:
        assert low <= max(value / 4, knob.least or 0) + 1
        assert high >= min(value * 4, knob.most or value * 4) - 1


def test_a_list_gets_the_value_and_a_knob_of_names_knows_only_its_own() -> None:
    assert named("open_files").around(512).choices == (-1, 10_000, 100_000, 1_000_000, 512)
    assert named("memtable_bloom_size_ratio").around(0.03).allows(0.03)
    assert named("compression_type").around("brotli") == named("compression_type")
    assert named("mmap_read").around(True) == named("mmap_read")
    fifo = named("compaction_style").around(2)
    assert (named("compaction_style").drawn, fifo.drawn) == ((0, 1), (0, 1, 2))
    assert named("universal_max_merge_width").around(2**32 - 1) == named(
        "universal_max_merge_width"
    )
    sentinel = named("level0_stop_writes_trigger").around(2**31 - 1)
    assert sentinel.bounds() == (32, 64)
    assert sentinel.special_values == (2**31 - 1,)


def test_a_list_selects_in_its_own_order() -> None:
    assert [knob.name for knob in CATALOGUE.select("num_levels, block_size")] == [
        "num_levels",
        "block_size",
    ]


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        ("num_level", "'num_level'.*'num_levels'"),
        ("num_levels,block_size,num_levels", "num_levels .*twice"),
        (" , ", "empty.*core, jin2022,"),
        ("bloom_locality", f"bloom_locality .*{CATALOGUE.knob('bloom_locality').inert}"),
    ],
)
def test_a_wrong_list_is_refused(selection: str, words: str) -> None:
    with pytest.raises(UserError, match=f"^knobs: .*{words}"):
        CATALOGUE.select(selection)


def test_an_engine_without_a_catalogue_is_refused() -> None:
    with pytest.raises(UserError, match="'leveldb'"):
        load("leveldb")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("write_buffer_size", "67108864", 67_108_864),
        ("mmap_read", "TRUE", True),
        ("compression_type", "lz4", "lz4"),
        ("compaction_pri", "2", 2),
        ("bloom_bits", "-1", -1),
        ("max_bytes_for_level_multiplier", "9.5", 9.5),
    ],
)
def test_values_are_read_from_text(name: str, text: str, value: object) -> None:
    assert parse_value(named(name), text, "knob") == value


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("num_levels", 9, "5 to 8"),
        ("num_levels", 6.5, "5 to 8"),
        ("num_levels", "six", "5 to 8"),
        ("compression_type", "lzma", "none, snappy, lz4, zlib, zstd"),
        ("mmap_read", 1, "false, true"),
        ("bloom_bits", 0, "2 to 20 bits/key, or -1 (no filter)"),
        ("max_bytes_for_level_multiplier", float("nan"), "8 to 12"),
    ],
)
def test_a_knob_says_which_values_are_allowed(name: str, value: Value, allowed: str) -> None:
    assert not named(name).allows(value)
    assert allowed in named(name).allowed_text()


@pytest.mark.parametrize("value", [True, "4", 4.5, None])
def test_a_value_of_another_type_is_not_allowed(value: object) -> None:
    assert not named("level0_file_num_compaction_trigger").allows(value)  # type: ignore[arg-type]


def test_true_is_not_one_among_choices() -> None:
    assert named("compaction_style").allows(1)
    assert not named("compaction_style").allows(True)
    assert not named("mmap_read").allows(1)


def test_a_published_study_has_its_own_values_and_its_own_base() -> None:
    chosen = {knob.name: knob.drawn for knob in CATALOGUE.select("autotikv")}
    assert chosen["bloom_bits"] == (5, 10, 15, 20)
    assert chosen["block_size"] == (4096, 8192, 16384, 32768, 65536)
    assert chosen["disable_auto_compactions"] == (False, True)
    begun = CATALOGUE.begun("autotikv")
    assert begun == CATALOGUE.begun("autotikv-writes")
    assert begun["bloom_bits"] == 10
    assert begun["cache_index_and_filter_blocks"] is True
    assert CATALOGUE.begun("core") == CATALOGUE.begun("bloom_bits,block_size") == {}


def test_a_knob_that_gives_something_up_is_chosen_where_it_is_named() -> None:
    named_there = "disable_auto_compactions"
    assert named_there not in {knob.name for knob in CATALOGUE.select("all")}
    assert [knob.name for knob in CATALOGUE.select(named_there)] == [named_there]
