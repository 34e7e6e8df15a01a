"""MyRocks' options as texts: what is set is read back, and a user's own my.cnf stays."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsmtune.engines.myrocks.options import (
    as_my_cnf,
    left_out,
    plain_knobs,
    read_base,
    read_settings,
    variables_of,
    with_file,
    with_filter,
)
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.families import FAMILY_SECTIONS, PLAIN, with_families
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.option_text import read_value, struct_fields
from lsmtune.knobs.space import KnobSpace

DATA = Path(__file__).parents[1] / "data" / "captured"
OPTIONS = own_options((DATA / "myrocks-6.29-OPTIONS").read_text())
VARIABLES = {
    "block_cache_size": "536870912", "max_background_jobs": "2", "bytes_per_sync": "0",
    "use_direct_reads": "OFF", "delayed_write_rate": "0",
}  # fmt: skip
FAMILIES = ("cf_orders", "cf_stock")
CATALOGUE = load("myrocks")
BASE = read_settings(CATALOGUE, OPTIONS, VARIABLES)


def told(**changes: object) -> dict[str, str]:
    want = with_families(BASE, FAMILIES) | {n.replace("__", "."): v for n, v in changes.items()}
    catalogue = CATALOGUE.with_families(FAMILIES)
    return variables_of(catalogue, OPTIONS, BASE, {}, want)  # type: ignore[arg-type]


def test_the_base_is_what_the_server_wrote_down() -> None:
    assert BASE["cache_size"] == 512 << 20
    assert BASE["default.write_buffer_size"] == 64 << 20
    assert BASE["default.compression_type"] == "snappy"
    assert BASE["default.bloom_bits"] == -1
    assert BASE["use_direct_reads"] is False
    assert "write_buffer_size" not in BASE
    # RocksDB makes it of the memtables, also of other memtables.
    assert "default.max_write_buffer_size_to_maintain" not in BASE


def test_what_is_as_the_base_has_it_is_not_told() -> None:
    assert told() == {}


def test_options_of_the_database_are_variables() -> None:
    found = told(cache_size=8 << 20, use_direct_reads=True, max_background_jobs=4)
    assert found == {
        "rocksdb_block_cache_size": "8388608",
        "rocksdb_use_direct_reads": "1",
        "rocksdb_max_background_jobs": "4",
    }


def test_options_of_tables_stand_in_a_struct_of_their_own() -> None:
    found = told(default__bloom_bits=10, default__block_size=8192, default__compaction_style=1)
    assert found["rocksdb_default_cf_options"] == (
        "compaction_style=kCompactionStyleUniversal;"
        "block_based_table_factory={filter_policy=bloomfilter:10:false;block_size=8192;};"
    )


def test_a_family_tells_only_what_the_default_one_has_not() -> None:
    found = told(
        default__write_buffer_size=1 << 20, cf_orders__write_buffer_size=1 << 20,
        cf_stock__write_buffer_size=1 << 20, cf_stock__block_size=16384,
    )  # fmt: skip
    assert found["rocksdb_default_cf_options"] == "write_buffer_size=1048576;"
    assert found["rocksdb_override_cf_options"] == (
        "cf_stock={block_based_table_factory={block_size=16384;};}"
    )


def test_what_the_user_has_told_stays() -> None:
    given_ = {"default_cf_options": "write_buffer_size=8m;ttl=0", "flush_log_at_trx_commit": "2"}
    want = BASE | {"default.write_buffer_size": 1 << 20}
    found = variables_of(CATALOGUE, OPTIONS, BASE, given_, want)
    assert found["rocksdb_default_cf_options"] == "write_buffer_size=1048576;ttl=0;"
    assert found["rocksdb_flush_log_at_trx_commit"] == "2"


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_any_config_is_told_so_that_it_can_be_read(seed: int) -> None:
    knobs = CATALOGUE.restricted(BASE).select("all")
    ranged = tuple(knob.around(BASE[knob.name]) for knob in knobs)
    space = KnobSpace(ranged, BASE, 1024, MemoryLimit(memory_bytes(BASE)))
    config = space.sample(np.random.default_rng(seed))
    want = space.settings(config)
    text = variables_of(CATALOGUE, OPTIONS, BASE, {}, want).get("rocksdb_default_cf_options", "")
    fields = struct_fields(f"{{{text}}}")
    assert fields is not None
    tables = struct_fields(fields.pop("block_based_table_factory", "{}"))
    sections = {'CFOptions "default"': fields, 'TableOptions/BlockBasedTable "default"': tables}
    own, before = PLAIN.view(want, "default"), PLAIN.view(BASE, "default")
    for knob in plain_knobs():
        family = knob.option is not None and knob.option.section in FAMILY_SECTIONS
        if family and knob.option is not None and knob.option.form in ("plain", "label"):
            told = read_value(knob, sections)  # type: ignore[arg-type]
            value = before.get(knob.name) if told is None else told
            assert own.get(knob.name) == value or own[knob.name] == pytest.approx(value), knob.name


def test_only_variables_of_rocksdb_are_taken_from_a_my_cnf() -> None:
    text = """
[client]
rocksdb_block_cache_size = 1
[mysqld]
port = 3306
password = secret
loose-rocksdb-block-cache-size = 1G
    datadir = /var/lib/mysql
  rocksdb_override_cf_options =
rocksdb_wal_dir = /fast/disk
rocksdb_info_log_level = error_level
rocksdb_default_cf_options = "write_buffer_size=8m;compression=kLZ4Compression"
[mariadb-10.11]
rocksdb_max_background_jobs
!includedir /etc/mysql/conf.d/
"""
    assert read_base(text) == {
        "block_cache_size": "1G",
        "override_cf_options": "",
        "default_cf_options": "write_buffer_size=8m;compression=kLZ4Compression",
        "max_background_jobs": "1",
    }
    assert [line.partition(":")[0] for line in left_out(text)] == [
        "rocksdb_wal_dir = /fast/disk", "rocksdb_info_log_level = error_level"
    ]  # fmt: skip


def test_sizes_of_a_my_cnf_may_have_a_unit() -> None:
    given_ = {"default_cf_options": "write_buffer_size=8m;ttl=1k", "block_cache_size": "1G"}
    options, found = with_file(CATALOGUE, OPTIONS, BASE, {}, given_)
    assert found["default.write_buffer_size"] == 8 << 20
    assert found["cache_size"] == 1 << 30
    names = {f"rocksdb_{name}": text for name, text in given_.items()}
    assert variables_of(CATALOGUE, options, found, given_, found) == names
    want = {**found, "default.block_size": 1 << 14}
    changed = variables_of(CATALOGUE, options, found, given_, want)
    assert changed["rocksdb_default_cf_options"].startswith("write_buffer_size=8m;ttl=1k;")


def test_a_family_of_the_users_keeps_what_is_not_tuned() -> None:
    given_ = {"override_cf_options": "cf_mine={ttl=5};cf_stock={ttl=7;write_buffer_size=1m}"}
    want = with_families(BASE, FAMILIES) | {"cf_stock.write_buffer_size": 2 << 20}
    catalogue = CATALOGUE.with_families(FAMILIES)
    found = variables_of(catalogue, OPTIONS, BASE, given_, want)
    assert found["rocksdb_override_cf_options"] == (
        "cf_mine={ttl=5};cf_stock={ttl=7;write_buffer_size=2097152;}"
    )


def test_what_is_kept_of_a_my_cnf_holds_no_secret() -> None:
    text = "[client]\npassword=secret\n[mysqld]\npassword=secret\nrocksdb_block_cache_size=1G\n"
    kept = as_my_cnf(read_base(text))
    assert kept == "[mysqld]\nrocksdb_block_cache_size=1G\n"


def test_a_filter_of_the_users_is_known_though_rocksdb_writes_no_bits() -> None:
    told = {"default_cf_options": "block_based_table_factory={filter_policy=bloomfilter:12:false}"}
    settings_ = read_settings(CATALOGUE, with_filter(OPTIONS, told), VARIABLES)
    assert settings_["default.bloom_bits"] == 12


@pytest.mark.parametrize("text", ["", "[mysqld]\nport=1\n", "rocksdb_x = 1\n", "[a\nb"])
def test_a_file_without_rocksdb_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"my\.cnf"):
        read_base(text)


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "nan", "1_000", ""])
def test_a_variable_that_is_no_number_is_not_known(text: str) -> None:
    assert "cache_size" not in read_settings(CATALOGUE, OPTIONS, {"block_cache_size": text})


@pytest.mark.parametrize("text", ["block_based_table_factory=x", "a#b=1", "write_buffer_size=\n"])
def test_family_options_that_cannot_be_written_are_a_mistake_of_the_user(text: str) -> None:
    given = {"default_cf_options": text}
    want = BASE | {"default.block_size": 8192}

    def read_and_change() -> None:
        with_file(CATALOGUE, OPTIONS, BASE, {}, given)
        variables_of(CATALOGUE, OPTIONS, BASE, given, want)

    with pytest.raises(UserError, match=r"^base: "):
        read_and_change()
