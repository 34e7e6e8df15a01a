"""The text of a trial's options: whole, unescaped, and without what a trial must not have."""

import pytest

from lsmtune.engines.rocksdb.options import option_string
from lsmtune.errors import ParseError

HEAD = "[Version]\n  rocksdb_version=11.8.1\n"


def fields(text: str) -> dict[str, str]:
    """The options of the text, as RocksDB splits it: braces belong to the value."""
    found, depth, start = {}, 0, 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == ";" and depth == 0:
            key, _, value = text[start:at].partition("=")
            assert key not in found
            found[key], start = value, at + 1
    assert start == len(text)
    return found


def made(database: str = "", family: str = "", tables: str = "") -> dict[str, str]:
    return fields(
        option_string(
            f'{HEAD}[DBOptions]\n{database}\n[CFOptions "default"]\n{family}\n'
            f'[TableOptions/BlockBasedTable "default"]\n{tables}\n'
        )
    )


def test_options_of_database_family_and_tables_are_one_text() -> None:
    found = made("  bytes_per_sync=1", "  num_levels=7", "  block_size=4096\n  checksum=kXXH3")
    tables = "{block_size=4096;checksum=kXXH3;}"
    assert found == {"bytes_per_sync": "1", "num_levels": "7", "block_based_table_factory": tables}


def test_values_are_not_escaped() -> None:
    found = made("  db_host_id=a\\:b\\#c", tables="  filter_policy=bloomfilter\\:10\\:false")
    assert found["db_host_id"] == "a:b#c"
    assert found["block_based_table_factory"] == "{filter_policy=bloomfilter:10:false;}"


@pytest.mark.parametrize(
    "struct", ["{level=3;strategy=0;}", "{a={b=1;c=2;};d=3;}", "{{a=1;}:{b;}}"]
)
def test_structs_arrive_whole(struct: str) -> None:
    assert made(family=f"  compression_opts={struct}") == {"compression_opts": struct}


def test_what_a_trial_must_not_have_is_left_out() -> None:
    database = (
        "wal_dir=/wal\ndb_log_dir=/log\ninfo_log_level=WARN_LEVEL\nmax_log_file_size=9\n"
        "env=x\nwal_filter=y\ncreate_if_missing=false\nerror_if_exists=true\nmax_open_files=20"
    )
    family = (
        "comparator=mine\nmerge_operator=mine\ncompaction_filter=nullptr\ncf_paths={a;}\n"
        "table_factory=BlockBasedTable\nplain_table_factory={a=1;}\nnum_levels=4\n"
        "block_based_table_factory={block_cache=1;}\ncompression_per_level="
    )
    assert made(database, family) == {"max_open_files": "20", "num_levels": "4"}


def test_what_a_config_may_set_stays() -> None:
    assert made(family="disable_auto_compactions=true") == {"disable_auto_compactions": "true"}


@pytest.mark.parametrize("value", ["a;wal_dir=/wal", "{a};wal_dir={/wal}", "a;b"])
def test_a_value_never_becomes_an_option(value: str) -> None:
    assert made(f"db_host_id={value}") == {"db_host_id": f"{{{value}}}"}


@pytest.mark.parametrize("line", ["a;wal_dir=/wal", "db_host_id=}", "db_host_id={", "x={}}{"])
def test_what_could_be_read_as_several_options_is_refused(line: str) -> None:
    with pytest.raises(ParseError):
        made(line)
    with pytest.raises(ParseError):
        made(tables=line)
