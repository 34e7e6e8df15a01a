"""How knobs stand in OPTIONS files: what a file says, and what must change so that it says more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knobs.real import CATALOGUE, captured, read_all
from lsmtune.errors import ParseError
from lsmtune.knobs.option_text import (
    option_place,
    read_value,
    statements,
    struct_fields,
    with_field,
)
from lsmtune.knobs.space import value_at
from lsmtune.knobs.types import Settings, Value

DB, CF, TABLE = "DBOptions", 'CFOptions "default"', 'TableOptions/BlockBasedTable "default"'
VERSIONS = {run: captured(run) for run in ("rocksdb-7.8.3-level", "rocksdb-11.8.1-universal")}
OLD = VERSIONS["rocksdb-7.8.3-level"]
PLAIN, SNAPPY, ZLIB, LZ4 = (f"k{name}Compression" for name in ("No", "Snappy", "Zlib", "LZ4"))

Texts = dict[tuple[str, str], str]


def edited(sections: object, texts: Texts) -> dict[str, dict[str, str]]:
    """The file with texts changed."""
    file = {name: dict(section) for name, section in sections.items()}  # type: ignore[attr-defined]
    for (section, key), text in texts.items():
        file.setdefault(section, {})[key] = text
    return file


def read(name: str, section: str, key: str, text: str) -> Value | None:
    return read_value(CATALOGUE.knob(name), edited(OLD, {(section, key): text}))


def write(settings: Settings, texts: Texts | None = None) -> Texts:
    return statements(CATALOGUE.knobs, settings, edited(OLD, texts or {}))


@pytest.mark.parametrize("run", VERSIONS)
def test_what_the_file_says_needs_no_statement(run: str) -> None:
    told = read_all(VERSIONS[run])
    assert len(told) > 120
    assert statements(CATALOGUE.knobs, told, VERSIONS[run]) == {}


@pytest.mark.parametrize("run", VERSIONS)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_what_was_written_is_what_is_read(run: str, seed: int) -> None:
    sections, rng = VERSIONS[run], np.random.default_rng(seed)
    known = read_all(sections)
    some = [name for name in known if rng.random() < rng.random()]
    settings = known | {name: value_at(CATALOGUE.knob(name), rng.random()) for name in some}
    if settings["bloom_bits"] == -1:  # no filter is of no kind
        settings["use_ribbon_filter"] = False
    if settings["compression_type"] == "none":
        settings["min_level_to_compress"] = -1
    settings["num_levels"] = max(int(settings["num_levels"]), 7)
    changes = statements(CATALOGUE.knobs, settings, sections)
    again = edited(sections, changes)
    assert read_all(again) == settings
    assert statements(CATALOGUE.knobs, settings, again) == {}
    assert all(
        sections.get(section, {}).get(key) != text for (section, key), text in changes.items()
    )


@pytest.mark.parametrize(
    ("name", "value", "place", "written"),
    [
        ("write_buffer_size", 2_097_152, (CF, "write_buffer_size"), "2097152"),
        ("mmap_read", True, (DB, "allow_mmap_reads"), "true"),
        ("enable_pipelined_write", False, (DB, "enable_pipelined_write"), "false"),
        ("open_files", 100, (DB, "max_open_files"), "100"),
        ("compaction_pri", 1, (CF, "compaction_pri"), "kOldestLargestSeqFirst"),
        ("compression_type", "zlib", (CF, "compression"), ZLIB),
        ("bloom_bits", -1, (TABLE, "filter_policy"), "nullptr"),
        ("bloom_bits", 12, (TABLE, "filter_policy"), "bloomfilter:12:false"),
        ("use_ribbon_filter", True, (TABLE, "filter_policy"), "ribbonfilter:10:0"),
        ("max_bytes_for_level_multiplier", 9.125, (CF, "max_bytes_for_level_multiplier"), "9.125"),
        (
            "use_data_block_hash_index",
            True,
            (TABLE, "data_block_index_type"),
            "kDataBlockBinaryAndHash",
        ),
        ("memtablerep", "vector", (CF, "memtable_factory"), "VectorRepFactory"),
        ("prefix_size", 8, (CF, "prefix_extractor"), "rocksdb.FixedPrefix.8"),
    ],
)
def test_each_form(name: str, value: Value, place: tuple[str, str], written: str) -> None:
    assert write({name: value}) == {place: written}


def test_a_field_is_edited_inside_its_struct() -> None:
    key = (CF, "compression_opts")
    assert write({"compression_level": 3, "compression_max_dict_bytes": 16384}) == {
        key: OLD[CF]["compression_opts"]
        .replace("max_dict_bytes=0;", "max_dict_bytes=16384;")
        .replace("level=32767;", "level=3;")
    }
    assert write({"unpartitioned_pinning": "all"}) == {
        (TABLE, "metadata_cache_options"): OLD[TABLE]["metadata_cache_options"].replace(
            "unpartitioned_pinning=kFallback", "unpartitioned_pinning=kAll"
        )
    }


def test_a_field_that_the_struct_lacks_is_not_known_and_can_be_added() -> None:
    knob = CATALOGUE.knob("universal_max_read_amp")
    assert read_value(knob, OLD) is None
    changed = write({knob.name: 5})[CF, "compaction_options_universal"]
    assert changed == OLD[CF]["compaction_options_universal"].replace("1;}", "1;max_read_amp=5;}")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{}", {}),
        ("{a=1;}", {"a": "1"}),
        ("{a=1;b=}", {"a": "1", "b": ""}),
        ("{a={x=1;y={z=2;};};b=k;}", {"a": "{x=1;y={z=2;};}", "b": "k"}),
        ("{A:B}", {}),
        ("-14:32767:0:0", None),
        ("", None),
    ],
)
def test_struct_texts(text: str, fields: dict[str, str] | None) -> None:
    assert struct_fields(text) == fields


def test_a_text_that_is_no_struct_is_not_known_and_not_edited() -> None:
    old_form = {(CF, "compression_opts"): "-14:32767:0:0:0:0:false"}
    knob = CATALOGUE.knob("compression_level")
    assert read_value(knob, edited(OLD, old_form)) is None
    with pytest.raises(ParseError, match=r"level .*'-14:32767"):
        write({"compression_level": 3}, old_form)
    assert with_field("{a=1;b=2;}", "a", "3") == "{a=3;b=2;}"


@pytest.mark.parametrize(
    ("text", "bits", "ribbon"),
    [
        ("nullptr", -1, False),
        ("bloomfilter:10:false", 10, False),
        ("bloomfilter:10.000000:false", 10, False),
        ("bloomfilter\\:10\\:false", 10, False),
        ("ribbonfilter:12:-1", 12, True),
        ("ribbonfilter:12", 12, True),
        ("{id=ribbonfilter:12:0;bloom_before_level=0;}", 12, True),
        ("bloomfilter:9.9:false", None, None),
        ("rocksdb.BuiltinBloomFilter", None, None),
    ],
)
def test_filters(text: str, bits: int | None, ribbon: bool | None) -> None:
    assert read("bloom_bits", TABLE, "filter_policy", text) == bits
    assert read("use_ribbon_filter", TABLE, "filter_policy", text) == ribbon


def test_of_a_filter_the_rest_is_kept() -> None:
    present = {(TABLE, "filter_policy"): "ribbonfilter:10:3"}
    assert write({"bloom_bits": 8}, present) == {(TABLE, "filter_policy"): "ribbonfilter:8:3"}
    newer = {(TABLE, "filter_policy"): "{id=ribbonfilter:10:0;bloom_before_level=3;}"}
    assert write({"bloom_bits": 8}, newer) == {(TABLE, "filter_policy"): "ribbonfilter:8:3"}
    assert write({"bloom_bits": 8, "use_ribbon_filter": False}, present) == {
        (TABLE, "filter_policy"): "bloomfilter:8:false"
    }


@pytest.mark.parametrize(
    ("by_level", "codec", "first"),
    [
        ("", "snappy", -1),
        (f"{PLAIN}:{PLAIN}:{LZ4}:{LZ4}", "lz4", 2),
        (f"{LZ4}:{LZ4}", "lz4", -1),
        (f"{PLAIN}:{PLAIN}", "none", -1),
        (f"{PLAIN}:{LZ4}:{ZLIB}", None, None),
        (f"{PLAIN}:{LZ4}:{PLAIN}", None, None),
    ],
)
def test_a_list_of_codecs_by_level_overrules_the_codec(
    by_level: str, codec: str | None, first: int | None
) -> None:
    assert read("compression_type", CF, "compression_per_level", by_level) == codec
    assert read("min_level_to_compress", CF, "compression_per_level", by_level) == first


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        (
            {"min_level_to_compress": 5},
            {"compression_per_level": ":".join([PLAIN] * 5 + [SNAPPY] * 2)},
        ),
        (
            {"min_level_to_compress": 2, "num_levels": 4, "compression_type": "zlib"},
            {
                "num_levels": "4",
                "compression": ZLIB,
                "compression_per_level": f"{PLAIN}:{PLAIN}:{ZLIB}:{ZLIB}",
            },
        ),
        ({"min_level_to_compress": -1}, {}),
    ],
)
def test_the_codecs_by_level(settings: Settings, texts: dict[str, str]) -> None:
    assert write(settings) == {(CF, key): text for key, text in texts.items()}


@pytest.mark.parametrize(
    ("levels", "count"), [("inf", 3), ("7x", 3), ("-1", 3), ("3000000000", 100), ("5", 5)]
)
def test_a_number_of_levels_that_rocksdb_cannot_have(levels: str, count: int) -> None:
    texts = write({"min_level_to_compress": 2}, {(CF, "num_levels"): levels})
    assert texts[CF, "compression_per_level"] == ":".join([PLAIN] * 2 + [SNAPPY] * (count - 2))


def test_a_list_of_codecs_by_level_is_emptied_where_every_level_is_alike() -> None:
    present = {(CF, "compression_per_level"): f"{PLAIN}:{LZ4}"}
    assert write({"min_level_to_compress": -1}, present) == {
        (CF, "compression_per_level"): "",
        (CF, "compression"): LZ4,
    }


def test_what_rocksdb_derives_is_automatic_until_it_is_something_else() -> None:
    settings = {"target_file_size_base": 2 << 20, "max_compaction_bytes": 0, "arena_block_size": 0}
    assert read_value(CATALOGUE.knob("max_compaction_bytes"), OLD) == 0
    assert read("max_compaction_bytes", CF, "max_compaction_bytes", "0") == 0
    assert read("max_compaction_bytes", CF, "target_file_size_base", "4096") == 26_214_400
    assert write(settings) == {
        (CF, "target_file_size_base"): "2097152",
        (CF, "max_compaction_bytes"): "0",
    }


@pytest.mark.parametrize(
    ("name", "section", "key", "text"),
    [
        ("write_buffer_size", CF, "write_buffer_size", "64MB"),
        ("compaction_style", CF, "compaction_style", "kCompactionStyleNone"),
        ("mmap_read", DB, "allow_mmap_reads", "maybe"),
        ("memtablerep", CF, "memtable_factory", "MyFactory"),
        ("prefix_size", CF, "prefix_extractor", "rocksdb.CappedPrefix.8"),
        ("compression_type", CF, "compression", "kXpressCompression"),
        ("write_buffer_size", CF, "write_buffer_size", "9" * 400),
        ("write_buffer_size", CF, "write_buffer_size", "1_000"),
        ("memtable_bloom_size_ratio", CF, "memtable_prefix_bloom_size_ratio", "nan"),
        ("memtable_bloom_size_ratio", CF, "memtable_prefix_bloom_size_ratio", "1e400"),
        ("prefix_size", CF, "prefix_extractor", "rocksdb.FixedPrefix." + "9" * 5000),
        ("bloom_bits", TABLE, "filter_policy", f"bloomfilter:{'9' * 5000}:false"),
    ],
)
def test_a_text_that_means_nothing_to_the_knob(
    name: str, section: str, key: str, text: str
) -> None:
    assert read(name, section, key, text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SkipListFactory", "skip_list"),
        ("SkipListFactory:3", "skip_list"),
        ("{id=VectorRepFactory;count=0;}", "vector"),
        ("{id=HashSkipListRepFactory;bucket_count=1;}", "prefix_hash"),
    ],
)
def test_memtables_by_name(text: str, value: str) -> None:
    assert read("memtablerep", CF, "memtable_factory", text) == value


def test_values_outside_the_range_are_read_as_they_are() -> None:
    assert read("num_levels", CF, "num_levels", "2") == 2
    assert read("memtable_bloom_size_ratio", CF, "memtable_prefix_bloom_size_ratio", "0.03") == 0.03


def test_a_knob_of_flags_alone_is_in_no_file() -> None:
    knob = CATALOGUE.knob("cache_size")
    assert read_value(knob, OLD) is None
    assert write({"cache_size": 1 << 30, "nosuch": 1}) == {}
    with pytest.raises(ValueError, match=r"cache_size .*db_bench"):
        option_place(knob)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("open_files", (DB, "max_open_files")),
        ("num_levels", ('CFOptions "hot"', "num_levels")),
        ("bloom_bits", ('TableOptions/BlockBasedTable "hot"', "filter_policy")),
    ],
)
def test_a_column_family_has_its_own_sections(name: str, place: tuple[str, str]) -> None:
    assert option_place(CATALOGUE.knob(name), "hot") == place


def test_another_column_family_is_read_and_changed_for_itself() -> None:
    hot = {'CFOptions "hot"': OLD[CF] | {"num_levels": "4"}, **OLD}
    knob = CATALOGUE.knob("num_levels")
    assert (read_value(knob, hot), read_value(knob, hot, "hot")) == (7, 4)
    assert statements([knob], {"num_levels": 5}, hot, "hot") == {
        ('CFOptions "hot"', "num_levels"): "5"
    }
    assert read_value(knob, hot, "cold") is None
