"""TiKV's options as texts: what is told is read back, and a user's own file stays."""

import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.fake_tikv import DEFAULTS
from fakes.tikv_site import FILE
from lsmtune.engines.tikv.options import (
    as_run,
    as_told,
    edited,
    of_store,
    read_settings,
    value_of,
    with_store,
)
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.tikv_toml import flat, parse_file

CATALOGUE = load("tikv")
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
RUNNING = read_settings(CATALOGUE, flat(DEFAULTS))
BLOCK = "rocksdb.defaultcf.block-size"


def test_every_knob_is_found_in_what_tikv_tells() -> None:
    assert RUNNING.keys() == {knob.name for knob in CATALOGUE.knobs}
    assert all(type(RUNNING[k.name]) is type(k.default) for k in CATALOGUE.knobs)
    assert as_run(CATALOGUE, flat(DEFAULTS))["rocksdb.defaultcf.compression-per-level"] == (
        "no:no:lz4:lz4:lz4:zstd:zstd"
    )


@pytest.mark.parametrize(
    ("told", "size"),
    [("64MiB", 64 * MIB), ("64MB", 64 * MIB), ("64M", 64 * MIB), ("1.5GB", 1536 * MIB),
     ("4096", 4096), ("4096B", 4096), ("0KiB", 0), (" 4 KiB ", 4096), (8192, 8192),
     ("45%", None), ("many", None), (True, None), ("9" * 400, None), ("9" * 308 + "P", None)],
)  # fmt: skip
def test_sizes_are_read_as_tikv_reads_them(told: object, size: int | None) -> None:
    assert value_of(CATALOGUE.knob("storage.block-cache.capacity"), told) == size


def test_a_choice_may_be_told_by_its_name() -> None:
    knob = CATALOGUE.knob("rocksdb.writecf.compaction-pri")
    assert value_of(knob, "oldest-smallest-seq-first") == 2
    assert value_of(knob, 2) == 2


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("storage.block-cache.capacity", GIB, "1GiB"),
        ("storage.block-cache.capacity", 1536 * MIB, "1536MiB"),
        ("storage.block-cache.capacity", 1000, "1000B"),
        ("rocksdb.rate-bytes-per-sec", 0, "0B"),
        ("rocksdb.max-background-jobs", 4, 4),
        ("storage.flow-control.enable", False, False),
        ("rocksdb.defaultcf.compaction-pri", 3, 3),
        ("rocksdb.defaultcf.bottommost-level-compression", "zstd", "zstd"),
        ("rocksdb.defaultcf.compression-per-level", "no:lz4", ["no", "lz4"]),
    ],
)
def test_values_are_told_as_tikv_spells_them(name: str, value: object, told: object) -> None:
    knob = CATALOGUE.knob(name)
    assert as_told(knob, value) == told  # type: ignore[arg-type]
    assert value_of(knob, told) == value


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_any_config_is_written_so_that_it_is_read(seed: int) -> None:
    limit = MemoryLimit(memory_bytes(RUNNING, CATALOGUE.names))
    space = KnobSpace(
        CATALOGUE.select("all"), RUNNING, 1024, limit, names=CATALOGUE.names, rules=CATALOGUE.rules
    )
    wanted = space.settings(space.sample(np.random.default_rng(seed)))
    told = {knob.name: as_told(knob, wanted[knob.name]) for knob in CATALOGUE.knobs}
    written = edited(FILE, told)
    assert read_settings(CATALOGUE, parse_file(written, "here")) == wanted
    assert tomllib.loads(written)["security"] == tomllib.loads(FILE)["security"]


def test_only_the_tuned_keys_of_a_file_change() -> None:
    written = edited(FILE, {BLOCK: "4KiB", "rocksdb.writecf.write-buffer-size": "256MiB",
                            "rocksdb.max-background-jobs": 4})  # fmt: skip
    lines = set(FILE.splitlines()) - {'block-size = "64KB" # as ever'}
    assert lines <= set(written.splitlines())
    assert 'block-size = "4KiB" # as ever' in written
    assert edited(FILE, {}) == FILE
    assert edited(FILE, {BLOCK: "64KB"}) == FILE


@pytest.mark.parametrize(
    "text",
    [
        "",
        'rocksdb.defaultcf.block-size = "64KB"\n',
        'rocksdb = { defaultcf = { block-size = "64KB" }, max-background-jobs = 2 }\n',
        '[rocksdb]\n[storage]\n[rocksdb.writecf]\nx = 1\n[rocksdb.defaultcf] # late\nb = "c"\n',
        '[rocksdb.defaultcf]\r\nblock-size = "64KB"\r\n',
    ],
)
def test_a_file_may_be_written_in_any_way(text: str) -> None:
    changes = {
        BLOCK: "4KiB", "rocksdb.writecf.block-size": "8KiB",
        "storage.block-cache.capacity": "1GiB", "rocksdb.max-background-jobs": 4,
    }  # fmt: skip
    assert parse_file(edited(text, changes), "here") == parse_file(text, "here") | changes


@pytest.mark.parametrize("text", ["rocksdb = 3\n", "[rocksdb]\ndefaultcf = 'all'\n"])
def test_a_file_that_cannot_be_edited_is_told(text: str) -> None:
    with pytest.raises(UserError, match=r"^tikv\.config:"):
        edited(text, {BLOCK: "4KiB"})


def test_only_what_is_about_the_store_is_kept_of_a_file() -> None:
    assert parse_file(of_store(FILE, "here"), "here") == {
        "storage.block-cache.capacity": "1GB", BLOCK: "64KB",
    }  # fmt: skip
    assert of_store("[server]\naddr = 'x'\n", "here") == ""
    with pytest.raises(UserError, match=r"^base:.*TOML"):
        of_store("block-size 4", "base")


def test_another_base_takes_the_place_of_what_a_file_says_of_the_store() -> None:
    other = '[rocksdb]\nmax-open-files = 4\n[rocksdb.defaultcf]\nblock-size = "16KB"\n'
    written = with_store(FILE, other)
    assert parse_file(of_store(written, "here"), "here") == parse_file(other, "here")
    for stays in ('data-dir = "/data/tikv"   # big disk', 'path = "never-to-be-shown"'):
        assert stays in written
    assert with_store(FILE, of_store(FILE, "here")) == FILE
