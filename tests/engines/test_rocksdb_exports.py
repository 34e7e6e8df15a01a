"""Notes of an exported OPTIONS file: which calls change its options at run time."""

import re

import pytest

from lsmtune.engines.rocksdb.exports import OptionsBase, deployment_lines
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Settings

KNOBS = load("rocksdb").select("write_buffer_size,max_background_jobs")
SETTINGS = {"write_buffer_size": 8 << 20, "max_background_jobs": 4}
FAMILY = '[CFOptions "default"]\n  write_buffer_size=4194304\n'


@pytest.mark.parametrize(
    ("database", "calls", "told"),
    [
        ("", ["SetOptions"], False),
        ("[DBOptions]\n  max_background_jobs=2\n", ["SetDBOptions", "SetOptions"], False),
        ("[DBOptions]\n  max_background_jobs=4\n  bytes_per_sync=0\n", ["SetOptions"], False),
        ("[DBOptions]\n  max_background_jobs=2\n  bytes_per_sync=0\n",
         ["SetDBOptions", "SetOptions"], True),
    ],
)  # fmt: skip
def test_calls_are_those_of_the_options_that_change(
    database: str, calls: list[str], told: bool
) -> None:
    knobs = KNOBS if database else KNOBS[:1]
    lines = deployment_lines(knobs, {}, SETTINGS, OptionsBase(database + FAMILY, "default"))
    made = [line.partition("(")[0].strip() for line in lines if line.startswith("  db->")]
    assert made == [f"db->{call}" for call in calls]
    assert any("bytes_per_sync" in line for line in lines) is told


def test_settings_outside_the_file_are_named_as_the_program_sets_them_with_a_unit() -> None:
    names = ("cache_size", "row_cache_size", "cache_numshardbits", "rate_limiter_bytes_per_sec")
    knobs = load("rocksdb").select(",".join(names))
    before: Settings = {k.name: k.default for k in knobs}
    after: Settings = {"cache_size": 1 << 20, "row_cache_size": 3 << 19, "cache_numshardbits": 4,
                       "rate_limiter_bytes_per_sec": 64 << 20}  # fmt: skip
    lines = deployment_lines(knobs, before, after, OptionsBase(FAMILY, "default"))
    cache, row_cache, shards, limiter = (line for line in lines if line.startswith("  "))
    assert re.search(r"NewLRUCache.*1 MiB.*1048576 bytes.*8 MiB", cache)
    assert re.search(r"row_cache.*1\.5 MiB.*no row cache", row_cache)
    assert re.search(r"num_shard_bits.* 4 bits", shards)
    assert re.search(r"NewGenericRateLimiter.*67,?108,?864 bytes/s", limiter)
    assert not any(name in line for name in names[:1] for line in lines)


def test_every_setting_that_no_options_file_contains_has_a_place_in_the_program() -> None:
    outside = [knob for knob in load("rocksdb").knobs if knob.option is None and not knob.inert]
    assert outside
    assert all(knob.set_by for knob in outside)
    assert not any(knob.set_by for knob in load("rocksdb").knobs if knob.option is not None)
