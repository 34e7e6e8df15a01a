"""The defaults of RocksDB's options by version."""

import pytest

from lsmtune.knobs.defaults import (
    Default,
    defaults_of,
    differs,
    is_address,
    known_versions,
    nearest_of,
)


@pytest.mark.parametrize(
    ("option", "version", "value"),
    [
        ("write_buffer_size", "7.8.3", 64 << 20),
        ("max_background_jobs", "6.29.5", 2),
        ("format_version", "6.29.5", 5),
        ("format_version", "11.8.1", 7),
        ("level_compaction_dynamic_level_bytes", "8.3", False),
        ("level_compaction_dynamic_level_bytes", "8.4.4", True),
        ("compaction_pri", "5.18.4", "kByCompensatedSize"),
        ("compaction_pri", "6.0.1", "kMinOverlappingRatio"),
        ("compression", "7.8.3", "kSnappyCompression"),
        ("compaction_options_universal.size_ratio", "7.8.3", 1),
    ],
)
def test_defaults_follow_the_version(option: str, version: str, value: object) -> None:
    assert defaults_of(version)[option].value == value


@pytest.mark.parametrize("version", ["3.9", "garbage", "99.1"])
def test_versions_that_are_not_known_have_those_of_the_nearest(version: str) -> None:
    oldest, newest = known_versions()
    nearest = newest if version == "99.1" else oldest
    assert defaults_of(version) == defaults_of(nearest)


@pytest.mark.parametrize(
    ("version", "nearest"),
    [("6.20.3", "6.29.5"), ("7.1.0", "6.29.5"), ("8.5.4", "7.8.3"), ("10.10.1", "11.8.1")],
)
def test_the_nearest_version_is_as_few_releases_away(version: str, nearest: str) -> None:
    assert nearest_of(version, ["7.8.3", "6.29.5", "11.8.1"]) == nearest


@pytest.mark.parametrize(
    ("option", "same", "other"),
    [
        ("write_buffer_size", ["67108864"], ["1048576"]),
        ("atomic_flush", ["0", "false"], ["1", "true"]),
        ("compression", ["Snappy", "kSnappyCompression", "1"], ["NoCompression", "LZ4"]),
        ("compaction_style", ["kCompactionStyleLevel"], ["kCompactionStyleUniversal"]),
        ("rate_limiter", ["(nil)", "None", "nullptr", "0000000000000000"], ["0x7f"]),
        ("compaction_style", ["0"], ["1", "kCompactionStyleFIFO"]),
        ("wal_recovery_mode", ["2", "kPointInTimeRecovery"], ["0", "kAbsoluteConsistency"]),
        ("index_shortening", ["1", "kShortenSeparators"], ["kNoShortening"]),
        ("bottommost_compression", ["Disabled", "kDisableCompressionOption"], ["ZSTD"]),
        ("read_amp_bytes_per_bit", ["0", "8589934592"], ["32"]),
        ("ttl", ["2592000", "0"], ["86400"]),
        ("max_bytes_for_level_multiplier", ["10.000000"], ["8.000000"]),
    ],
)
def test_texts_of_a_log_are_compared_by_what_they_mean(
    option: str, same: list[str], other: list[str]
) -> None:
    default = defaults_of("7.8.3")[option]
    assert not any(differs(option, text, default) for text in same)
    assert all(differs(option, text, default) for text in other)


def test_the_largest_number_is_itself() -> None:
    largest = str(2**64 - 1)
    assert not differs("x", largest, Default(2**64 - 1, frozenset({2**64 - 1})))
    assert differs("x", str(2**64 - 2), Default(2**64 - 1, frozenset({2**64 - 1})))


@pytest.mark.parametrize("text", ["0x7f7ff401", "0000019A7A683850"])
def test_addresses_are_those_of_linux_and_of_windows(text: str) -> None:
    assert is_address(text)
    assert not is_address("0" * 16)
    assert not is_address("67108864")


def test_a_number_of_thousands_of_digits_differs() -> None:
    default = defaults_of("7.8.3")["read_amp_bytes_per_bit"]
    assert differs("read_amp_bytes_per_bit", "9" * 5000, default)
