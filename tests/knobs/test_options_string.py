"""Options strings: forms, separators, keys of programs, and keys that RocksDB does not have."""

import pytest

from lsmtune.errors import UserError
from lsmtune.knobs.option_names import section_of
from lsmtune.knobs.options_string import (
    as_options_file,
    fields_of,
    in_bytes,
    parse_options_string,
)
from lsmtune.metrics.options_file import parse_options

DATABASE = {"max_background_jobs": "6", "max_total_wal_size": str(3 << 30)}
FAMILY = {"write_buffer_size": str(96 << 20), "compression": "kLZ4Compression"}
TABLE = {"block_size": "16384", "filter_policy": "bloomfilter:12:false"}
PLAIN = "max_background_jobs=6{0}max_total_wal_size=3G{0}write_buffer_size=96MB{0}"
NESTED = (
    PLAIN + "compression=kLZ4Compression{0}block_based_table_factory="
    "{{block_size=16K;filter_policy=bloomfilter:12:false}}"
)
DOTTED = (
    PLAIN + "compression=kLZ4Compression{0}block_based_table_factory.block_size=16384{0}"
    "block_based_table_factory.filter_policy=bloomfilter:12:false"
)
COMMAS = NESTED.format(",")
FORMS = {
    "semicolons": NESTED.format(";"),
    "commas": COMMAS,
    "commas and blanks": NESTED.format(" , "),
    "lines": NESTED.format("\n"),
    "a last separator": NESTED.format(";") + ";\n",
    "braces around": f"{{{NESTED.format(';')}}}",
    "dotted keys": DOTTED.format(";"),
    "dotted keys and commas": DOTTED.format(","),
    "a table factory": NESTED.format(";").replace(
        "block_based_table_factory={", "table_factory={id=BlockBasedTable;"),
    "a key": f"bluestore_rocksdb_options = {COMMAS}\n",
    "a key in double quotes": f'bluestore_rocksdb_options = "{COMMAS}"\n',
    "a key in single quotes": f"filestore_rocksdb_options='{COMMAS}'\n",
    "a key with blanks": f"bluestore rocksdb options = {COMMAS}\n",
    "a key in an ini file": f"# ours\n[global]\nfsid = 7\n[osd]\nosd_memory_target = 9 # B\n"
                            f"bluestore_rocksdb_options = {COMMAS}\n[mon]\nlog = x\n",
    "a key with continued lines": "[osd]\nbluestore_rocksdb_options = " + COMMAS.replace(
        ",write", ",\\\n    write") + "\n",
    "a key of YAML": f'store:\n  rocksdb_options: "{NESTED.format(";")}"\n',
    "a key of JSON": f'{{\n    "bluestore_rocksdb_options": "{COMMAS}",\n    "other": "1"\n}}\n',
    "a flag": f"--rocksdb_options={NESTED.format(';')}\n",
    "objects of JSON in flags": '--port=7\n--rocksdb_db_options={"max_background_jobs":"6",'
    '"max_total_wal_size":"3G"}\n--rocksdb_column_family_options={"write_buffer_size":"100663296",'
    '"compression":"kLZ4Compression"}\n--rocksdb_block_based_table_options={"block_size":"16384",'
    '"filter_policy":"bloomfilter:12:false"}\n',
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_form_has_the_same_options(form: str) -> None:
    found = parse_options_string(FORMS[form])
    assert found is not None
    assert found.sections == {
        "DBOptions": DATABASE, "CFOptions": FAMILY, "TableOptions/BlockBasedTable": TABLE,
    }  # fmt: skip
    assert found.unknown == {}
    assert found.notes == ()


OTHERS = {
    "nothing": "",
    "one word": "RocksDB\n",
    "no option of RocksDB": "colour=red;size=7",
    "a few words that RocksDB has too": "listeners=a\nenv=b\nnodes=3\nport=9\nname=x\n",
    "tickers": "STATISTICS:\nrocksdb.stall.micros COUNT : 5000000\n",
    "properties": "  SST file compression options: window_bits=-14; level=32767; strategy=0;\n",
    "open braces": "write_buffer_size=8;block_based_table_factory={block_size=16K",
    "a program": "options.write_buffer_size = 64 << 20;\noptions.max_open_files = -1;\n",
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_texts_are_no_options_strings(case: str) -> None:
    assert parse_options_string(OTHERS[case]) is None


def test_a_value_in_braces_stays_whole() -> None:
    found = parse_options_string("write_buffer_size=8M,block_cache={capacity=8M,num_shard_bits=2}")
    assert found is not None
    assert found.sections["CFOptions"] == {"write_buffer_size": str(8 << 20)}
    assert found.sections["TableOptions/BlockBasedTable"] == {
        "block_cache": "{capacity=8M,num_shard_bits=2}"
    }


def test_a_comma_that_no_pair_follows_belongs_to_the_value() -> None:
    found = parse_options_string("max_bytes_for_level_multiplier=7,500000;num_levels=5")
    assert found is not None
    assert found.sections["CFOptions"] == {
        "max_bytes_for_level_multiplier": "7,500000", "num_levels": "5",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["compaction_options_universal={size_ratio=3;max_merge_width=9}",
     "compaction_options_universal.size_ratio=3;compaction_options_universal.max_merge_width=9",
     "compaction_options_universal.size_ratio=3,compaction_options_universal.max_merge_width=9"],
)  # fmt: skip
def test_fields_of_structs_have_one_form(text: str) -> None:
    found = parse_options_string(text)
    assert found is not None
    assert found.sections["CFOptions"] == {
        "compaction_options_universal.size_ratio": "3",
        "compaction_options_universal.max_merge_width": "9",
    }
    written = parse_options(as_options_file(found)).sections['CFOptions "default"']
    assert written == {"compaction_options_universal": "{size_ratio=3;max_merge_width=9;}"}


def test_keys_that_rocksdb_does_not_have_are_named() -> None:
    found = parse_options_string("write_bufer_size=8M;max_open_files=7;flusher_threads=3")
    assert found is not None
    assert found.unknown == {"write_bufer_size": str(8 << 20), "flusher_threads": "3"}
    assert [name in " ".join(found.notes) for name in found.unknown] == [True, True]
    assert "max_open_files" not in " ".join(found.notes)


def test_the_key_of_a_program_is_named() -> None:
    found = parse_options_string("port 16379\nrocksdb.options  write_buffer_size=8M;ttl=9\n")
    assert found is not None
    assert found.holders == ("rocksdb.options",)
    assert "ardb.conf" in " ".join(found.places)


def test_options_of_two_stores_are_refused() -> None:
    text = "a_options = write_buffer_size=8M,num_levels=7\nb_options = write_buffer_size=9M\n"
    with pytest.raises(UserError, match=r"a_options.*b_options.*write_buffer_size"):
        parse_options_string(text)
    assert parse_options_string(text.replace("9M", "8M")) is not None


def test_an_annex_adds_options() -> None:
    text = "[osd]\nx_options = num_levels=7\nx_options_annex = max_open_files=7\n"
    found = parse_options_string(text)
    assert found is not None
    assert found.sections["CFOptions"] | found.sections["DBOptions"] == {
        "num_levels": "7", "max_open_files": "7",
    }  # fmt: skip


def test_an_options_file_has_all_sections_and_the_options() -> None:
    found = fields_of(NESTED.format(";") + ";memtable=vector:64")
    assert found is not None
    sections = parse_options(as_options_file(found)).sections
    assert sections["DBOptions"] == DATABASE
    assert sections['CFOptions "default"'] == {**FAMILY, "memtable_factory": "vector:64"}
    assert sections['TableOptions/BlockBasedTable "default"'] == TABLE


@pytest.mark.parametrize(
    ("text", "value"),
    [("64m", 64 << 20), ("2MB", 2 << 20), ("1GiB", 1 << 30), ("16k", 16 << 10), ("3T", 3 << 40)],
)
def test_letters_of_sizes_are_powers_of_1024(text: str, value: int) -> None:
    assert in_bytes(text) == str(value)


@pytest.mark.parametrize("text", ["64", "-1", "0.25", "kZSTD", "1M2", "-14:4:0", "9" * 30 + "m"])
def test_other_values_stay_as_they_are(text: str) -> None:
    assert in_bytes(text) == text


def test_names_have_the_section_of_an_options_file() -> None:
    names = {
        "max_open_files": "DBOptions", "row_cache": "DBOptions", "soft_rate_limit": "CFOptions",
        "compaction_options_fifo.ttl": "CFOptions", "cache_index_and_filter_blocks":
        "TableOptions/BlockBasedTable", "write_buffer_size.x": None, "flusher_threads": None,
    }  # fmt: skip
    assert {name: section_of(name) for name in names} == names
