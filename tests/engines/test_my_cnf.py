"""my.cnf for MyRocks: only the tuned variables change, and a server would read what was meant."""

from lsmtune.engines.myrocks.my_cnf import export_my_cnf, with_variables
from lsmtune.engines.myrocks.options import read_base

GIVEN = """\
# production
[client]
port = 3306

[mysqld]
datadir = /var/lib/mysql
rocksdb-block-cache-size = 1G
rocksdb_max_background_jobs=4
rocksdb_max_background_jobs=8
key_buffer_size = 16M

[mysqldump]
quick
"""


def test_only_the_tuned_variables_change() -> None:
    text = export_my_cnf(
        GIVEN, {"rocksdb_block_cache_size": "536870912", "rocksdb_bytes_per_sync": "1"}, "a note"
    )
    lines = text.splitlines()
    assert lines[0] == "# a note"
    assert "rocksdb-block-cache-size = 536870912" in lines
    kept = [line for line in GIVEN.splitlines() if "block-cache" not in line]
    assert [line for line in lines[1:] if line in kept] == kept
    at = lines.index("rocksdb_bytes_per_sync=1")
    assert lines.index("key_buffer_size = 16M") < at < lines.index("[mysqldump]")


def test_of_a_variable_that_comes_twice_the_last_one_counts() -> None:
    text = export_my_cnf(GIVEN, {"rocksdb_max_background_jobs": "2"}, "")
    assert "rocksdb_max_background_jobs=4\nrocksdb_max_background_jobs=2\n" in text
    assert read_base(text)["max_background_jobs"] == "2"


def test_what_is_as_it_was_stays_to_the_byte() -> None:
    assert export_my_cnf(GIVEN, {"rocksdb_block_cache_size": "1G"}, "") == GIVEN
    loose = "[mysqld]\nloose-rocksdb_bytes_per_sync = 5\n"
    assert "loose-rocksdb_bytes_per_sync = 6\n" in export_my_cnf(
        loose, {"rocksdb_bytes_per_sync": "6"}, ""
    )


def test_without_a_file_there_is_a_section_of_its_own() -> None:
    text = export_my_cnf("", {"rocksdb_block_cache_size": "1048576"}, "note")
    assert text == "# note\n[mysqld]\nrocksdb_block_cache_size=1048576\n"
    assert read_base(text) == {"block_cache_size": "1048576"}


def test_spaces_comments_and_line_ends_stay() -> None:
    given = (
        "[mysqld]\r\n  rocksdb_bytes_per_sync\t=  '1M'  # a # b\r\n\x0c\r\n"
        "rocksdb_strict_bytes_per_sync # on\r\nport=1"
    )
    assert read_base(given) == {"bytes_per_sync": "1M", "strict_bytes_per_sync": "1"}
    text = export_my_cnf(
        given,
        {"rocksdb_bytes_per_sync": "2", "rocksdb_strict_bytes_per_sync": "0", "rocksdb_x": "3"},
        "",
    )
    assert text == (
        "[mysqld]\r\n  rocksdb_bytes_per_sync\t=  2  # a # b\r\n\x0c\r\n"
        "rocksdb_strict_bytes_per_sync=0 # on\r\nport=1\nrocksdb_x=3"
    )


def test_a_hash_within_quotes_is_no_comment() -> None:
    given = "[mysqld]\nrocksdb_default_cf_options='a=\"#\";b=1' # note\n"
    assert read_base(given) == {"default_cf_options": 'a="#";b=1'}
    assert "options=a=2 # note\n" in export_my_cnf(given, {"rocksdb_default_cf_options": "a=2"}, "")


def test_a_file_gets_exactly_the_variables_that_were_kept() -> None:
    kept = read_base(GIVEN)
    assert with_variables(GIVEN, kept) == GIVEN
    wal = "rocksdb_wal_dir = /wal\n"
    other = GIVEN.replace("1G\n", f"2G\n{wal}rocksdb_bytes_per_sync=1\n")
    assert with_variables(other, kept) == GIVEN.replace("1G\n", f"1G\n{wal}")
