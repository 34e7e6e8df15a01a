"""The catalogue of knobs: whole, sane, and what RocksDB itself writes."""

from pathlib import Path

import pytest

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.option_text import option_place, option_text, same_option
from lsmtune.knobs.types import Knob, parse_value
from lsmtune.metrics.options_file import parse_options
from lsmtune.workloads import Workload

CATALOGUE = load("rocksdb")
KNOBS = CATALOGUE.knobs
CAPTURED = Path(__file__).parent.parent / "data" / "captured"

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

CAPTURED_SETTINGS = {knob.name: knob.scaled(1 / 64).default for knob in KNOBS} | {
    "level0_slowdown_writes_trigger": 8,
    "bloom_bits": 10,
    "max_background_compactions": -1,  # left to max_background_jobs
    "max_background_flushes": -1,
}
"""With what the captured runs were made."""

NOT_WRITTEN = {"cache_size", "min_level_to_compress"}
"""The block cache RocksDB never writes into its OPTIONS file, codecs by level only if there are."""

every_knob = pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.name)


def named(name: str) -> Knob:
    return CATALOGUE.knob(name)


@every_knob
def test_the_default_is_allowed(knob: Knob) -> None:
    assert knob.allows(knob.default)
    assert parse_value(knob, str(knob.default)) == knob.default


@every_knob
def test_ranges_are_sane(knob: Knob) -> None:
    if not knob.is_range:
        assert knob.low is knob.high is None
        assert len(set(knob.values)) == len(knob.values) >= 2
        assert (knob.log, knob.scales, knob.special) == (False, False, ())
        return
    low, high = knob.bounds()
    assert low < high
    assert low > 0 or not knob.log
    assert high / low > 3 or not knob.log
    assert not knob.choices
    for special in knob.special:
        assert not low <= special.value <= high
        assert special.meaning


@every_knob
def test_texts_are_there(knob: Knob) -> None:
    texts = (knob.name, knob.trade, knob.since, knob.option.section, knob.option.key)
    assert all(text.strip() == text != "" for text in texts)
    assert knob.unit == knob.unit.strip()
    assert knob.inert is None or knob.inert
    if not knob.is_range:
        assert all(str(value).lower() in knob.allowed_text() for value in knob.values)


@every_knob
def test_labels_name_all_choices_or_none(knob: Knob) -> None:
    assert len(knob.labels) == (len(knob.choices) if knob.option.form == "label" else 0)
    assert len(set(knob.labels)) == len(knob.labels)


@every_knob
def test_only_sizes_in_bytes_scale(knob: Knob) -> None:
    assert not knob.scales or (knob.unit == "bytes" and knob.kind == "int")


def test_names_and_option_places_are_unique() -> None:
    assert len({knob.name for knob in KNOBS}) == len(KNOBS)
    assert len({option_place(knob) for knob in KNOBS}) == len(KNOBS)


@pytest.mark.parametrize("run", ["rocksdb-7.8.3-level", "rocksdb-11.8.1-level"])
@every_knob
def test_place_and_text_are_those_of_rocksdb(knob: Knob, run: str) -> None:
    options = parse_options((CAPTURED / run / "OPTIONS").read_text())
    found = options.get(*option_place(knob))
    if knob.name in NOT_WRITTEN:
        assert found is None
    else:
        assert found is not None
        wanted = option_text(knob, CAPTURED_SETTINGS, CATALOGUE.codec_labels)
        assert same_option(wanted, found)


def test_the_parameters_of_the_study_are_28_knobs_and_two_of_the_workload() -> None:
    ours = {parameter.name for parameter in CATALOGUE.workload_parameters}
    assert ours == {"threads", "compression_ratio"}
    assert len(KNOBS) == 28
    assert {knob.name for knob in KNOBS} | ours == set(STUDY_PARAMETERS)
    assert len(STUDY_PARAMETERS) == 30


@pytest.mark.parametrize("parameter", CATALOGUE.workload_parameters, ids=lambda p: p.name)
def test_parameters_of_the_workload_are_no_knobs(parameter: object) -> None:
    name, field = parameter.name, parameter.field  # type: ignore[attr-defined]
    assert field in Workload.model_fields
    with pytest.raises(UserError, match=f"{name} is a parameter of the workload"):
        CATALOGUE.select(f"num_levels,{name}")


@pytest.mark.parametrize("preset", CATALOGUE.presets, ids=lambda preset: preset.name)
def test_presets_name_knobs_that_there_are(preset: object) -> None:
    chosen = CATALOGUE.select(preset.name)  # type: ignore[attr-defined]
    assert chosen
    assert all(knob.inert is None for knob in chosen)
    assert preset.title  # type: ignore[attr-defined]
    for name, value in preset.fixed.items():  # type: ignore[attr-defined]
        assert value == named(name).default  # a fixed knob stays at the base
        assert name not in {knob.name for knob in chosen}


def test_the_preset_of_the_study_is_leveled_and_has_every_other_knob_with_an_effect() -> None:
    tuned = {knob.name for knob in CATALOGUE.select("jin2022")}
    effective = {knob.name for knob in KNOBS if knob.inert is None}
    assert tuned == effective - {"compaction_style"}
    assert {knob.name for knob in CATALOGUE.select("all")} == effective


@pytest.mark.parametrize("start", CATALOGUE.starts, ids=lambda start: start.name)
def test_advised_starts_are_values_of_knobs_and_name_their_source(start: object) -> None:
    assert start.source  # type: ignore[attr-defined]
    for name, value in start.settings.items():  # type: ignore[attr-defined]
        assert named(name).allows(value)
        assert named(name).inert is None


def test_a_list_selects_in_its_own_order() -> None:
    assert [knob.name for knob in CATALOGUE.select("num_levels, block_size")] == [
        "num_levels",
        "block_size",
    ]


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        ("num_level", "no knob 'num_level'"),
        ("num_levels,block_size,num_levels", "num_levels is named twice"),
        (" , ", r"the list is empty; give a preset \(.*jin2022"),
        ("bloom_locality", "bloom_locality has no effect here: only the plain table"),
    ],
)
def test_a_wrong_list_is_refused(selection: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
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
    assert parse_value(named(name), text) == value


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("num_levels", "9", "5 to 8"),
        ("num_levels", "6.5", "5 to 8"),
        ("num_levels", "six", "5 to 8"),
        ("compression_type", "zstd", "none, snappy, lz4, zlib"),
        ("mmap_read", "1", "false, true"),
        ("bloom_bits", "0", "2 to 20 bits/key, or -1 (no Bloom filter)"),
        ("max_bytes_for_level_multiplier", "nan", "8 to 12"),
    ],
)
def test_other_values_are_refused_with_what_is_allowed(name: str, text: str, allowed: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_value(named(name), text)
    assert f"knob {name}: '{text}'" in str(caught.value)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("value", [True, "4", 4.5, None])
def test_a_value_of_another_type_is_not_allowed(value: object) -> None:
    assert not named("level0_file_num_compaction_trigger").allows(value)  # type: ignore[arg-type]


def test_true_is_not_one_among_choices() -> None:
    assert named("compaction_style").allows(1)
    assert not named("compaction_style").allows(True)
    assert not named("mmap_read").allows(1)
