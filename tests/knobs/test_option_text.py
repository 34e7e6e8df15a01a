"""How knobs are written in an OPTIONS file."""

import pytest

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.option_text import option_place, option_text, same_option
from lsmtune.knobs.types import Value

CATALOGUE = load("rocksdb")
DEFAULTS = {knob.name: knob.default for knob in CATALOGUE.knobs}
PLAIN, ZLIB = "kNoCompression", "kZlibCompression"


def text(name: str, **changes: Value) -> str:
    return option_text(CATALOGUE.knob(name), DEFAULTS | changes, CATALOGUE.codec_labels)


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("write_buffer_size", 1_048_576, "1048576"),
        ("mmap_read", True, "true"),
        ("mmap_read", False, "false"),
        ("open_files", -1, "-1"),
        ("compaction_pri", 1, "kOldestLargestSeqFirst"),
        ("compaction_style", 1, "kCompactionStyleUniversal"),
        ("compression_type", "zlib", ZLIB),
        ("bloom_bits", -1, "nullptr"),
        ("bloom_bits", 10, "bloomfilter:10:false"),
        ("max_bytes_for_level_multiplier", 9.125, "9.125"),
    ],
)
def test_each_form(name: str, value: Value, written: str) -> None:
    assert text(name, **{name: value}) == written


@pytest.mark.parametrize(
    ("first", "levels", "codecs"),
    [
        (-1, 5, []),
        (1, 5, [PLAIN, ZLIB, ZLIB, ZLIB, ZLIB]),
        (4, 5, [PLAIN, PLAIN, PLAIN, PLAIN, ZLIB]),
        (2, 7, [PLAIN, PLAIN, ZLIB, ZLIB, ZLIB, ZLIB, ZLIB]),
    ],
)
def test_the_codecs_by_level(first: int, levels: int, codecs: list[str]) -> None:
    found = text(
        "min_level_to_compress",
        min_level_to_compress=first,
        num_levels=levels,
        compression_type="zlib",
    )
    assert found == ":".join(codecs)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("open_files", ("DBOptions", "max_open_files")),
        ("num_levels", ('CFOptions "default"', "num_levels")),
        ("bloom_bits", ('TableOptions/BlockBasedTable "default"', "filter_policy")),
    ],
)
def test_options_of_the_column_family_stand_in_the_sections_of_the_default_one(
    name: str, place: tuple[str, str]
) -> None:
    assert option_place(CATALOGUE.knob(name)) == place


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("10.0", "10.000000", True),
        ("9.125", "9.125000", True),
        ("4", "4", True),
        ("kLZ4Compression", "kLZ4Compression", True),
        ("true", "true", True),
        ("", "", True),
        ("4", "5", False),
        ("9.125", "9.126000", False),
        ("true", "false", False),
        ("4", "", False),
        ("", "0", False),
    ],
)
def test_equal_as_text_or_as_numbers(expected: str, actual: str, *, same: bool) -> None:
    assert same_option(expected, actual) is same
