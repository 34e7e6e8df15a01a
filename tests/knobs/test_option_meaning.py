"""Texts of options that mean the same, and texts that do not."""

import pytest

from lsmtune.knobs.option_meaning import expanded, is_same


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("write_buffer_size", "64MB", "67108864"),
        ("write_buffer_size", "64m", "64MiB"),
        ("write_buffer_size", "1g", "1024M"),
        ("disable_auto_compactions", "true", "1"),
        ("disable_auto_compactions", "OFF", "false"),
        ("max_bytes_for_level_multiplier", "10", "10.000000"),
        ("compression", "kLZ4Compression", "lz4"),
        ("compression", "4", "LZ4"),
        ("compression", "no", "kNoCompression"),
        ("bottommost_compression", "kDisableCompressionOption", "disable"),
        ("compression_per_level", "kNoCompression:kLZ4Compression", "['no', 'lz4']"),
        ("compression_per_level", "NoCompression:LZ4", "kNoCompression:kLZ4Compression"),
        ("compaction_style", "kCompactionStyleUniversal", "1"),
        ("compaction_pri", "3", "kMinOverlappingRatio"),
        ("checksum", "4", "kXXH3"),
        ("filter_policy", "bloomfilter:10:false", "bloomfilter:10"),
        ("filter_policy", "rocksdb.BloomFilter:10.0:false", "bloomfilter:10:false"),
        ("filter_policy", "{id=bloomfilter:10:false;bloom_before_level=2147483647;}",
         "bloomfilter:10:false"),
        ("filter_policy", "ribbonfilter:9:0", "{id=ribbonfilter:9:0;bloom_before_level=0;}"),
        ("filter_policy", "bloomfilter", "bloomfilter:12:false"),
        ("prefix_extractor", "fixed:8", "rocksdb.FixedPrefix.8"),
        ("prefix_extractor", "nullptr", "(nil)"),
        ("verify_compression", "0", "false"),
        ("memtable_factory", "skip_list", "SkipListFactory"),
        ("family.compression", "kZSTD", "zstd"),
    ],
)  # fmt: skip
def test_the_same_in_other_words(name: str, one: str, other: str) -> None:
    assert is_same(name, one, other)
    assert is_same(name, other, one)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("write_buffer_size", "64MB", "64000000"),
        ("write_buffer_size", "64", "64k"),
        ("disable_auto_compactions", "true", "false"),
        ("compression", "kLZ4Compression", "kLZ4HCCompression"),
        ("compression", "kNoCompression", "kSnappyCompression"),
        ("compression_per_level", "kNoCompression:kZSTD", "['no', 'lz4']"),
        ("compaction_style", "kCompactionStyleUniversal", "0"),
        ("filter_policy", "bloomfilter:10:false", "bloomfilter:16:false"),
        ("filter_policy", "bloomfilter:10:false", "ribbonfilter:10:0"),
        ("filter_policy", "ribbonfilter:10:0", "ribbonfilter:10:2"),
        ("filter_policy", "nullptr", "bloomfilter:10:false"),
        ("prefix_extractor", "fixed:8", "capped:8"),
        ("wal_dir", "/data", "/Data"),
        ("merge_operator", "nullptr", "put"),
    ],
)
def test_another_meaning(name: str, one: str, other: str) -> None:
    assert not is_same(name, one, other)
    assert not is_same(name, other, one)


def test_structures_become_fields_in_any_order() -> None:
    one = expanded({"compaction_options_universal": "{size_ratio=1;min_merge_width=2;}"})
    other = expanded({"compaction_options_universal": "{min_merge_width=2;size_ratio=1}"})
    assert one == other
    assert set(one) == {"compaction_options_universal.size_ratio",
                        "compaction_options_universal.min_merge_width"}  # fmt: skip


def test_table_options_have_no_prefix() -> None:
    expected = {"block_size": "16K", "metadata_cache_options.partition_pinning": "kFallback"}
    inner = "{block_size=16K;metadata_cache_options={partition_pinning=kFallback;};}"
    assert expanded({"block_based_table_factory": inner}) == expected
    assert expanded({"block_based_table_factory.block_size": "16K"}) == {"block_size": "16K"}
    assert expanded({"table_factory": "BlockBasedTable"}) == {"table_factory": "BlockBasedTable"}


def test_compression_options_between_colons_are_fields() -> None:
    colons = expanded({"compression_opts": "-14:3:0:4096"})
    struct = expanded(
        {"compression_opts": "{max_dict_bytes=4096;level=3;window_bits=-14;strategy=0;}"}
    )
    assert colons == struct
    assert expanded({"compression_opts": "1:2:3:4:5:true"})["compression_opts.enabled"] == "true"


def test_lines_per_level_become_a_list() -> None:
    lines = {"compression[0]": "NoCompression", "compression[1]": "LZ4"}
    assert expanded(lines) == {"compression_per_level": "NoCompression:LZ4"}
    assert expanded({"listeners": "{A:B}"}) == {"listeners": "{A:B}"}


def test_deep_structures_end() -> None:
    text = "{a=" * 5000 + "1" + ";}" * 5000
    assert len(expanded({"x": text})) == 1
    assert not is_same("x", "[" * 5000 + "]" * 5000, "1")
