"""What the file of a library shows."""

from pathlib import Path

import pytest

from lsmtune.engines.libraries.installed import installed_engines
from lsmtune.engines.libraries.natives import has_assertions, has_function

SIGNATURE = b"static rocksdb::Status rocksdb::DBImpl::Open(const rocksdb::DBOptions&)\0"
SYMBOL = b"\0_ZN7rocksdb6DBImpl4OpenERKNS_9DBOptionsE\0"


@pytest.mark.parametrize(("more", "expected"), [(b"", False), (SIGNATURE, True)])
def test_assertions_contain_signatures(more: bytes, expected: bool, tmp_path: Path) -> None:
    library = tmp_path / "librocksdb.so"
    library.write_bytes(b"ELF" + SYMBOL + b"rocksdb_open\0" + more)
    assert has_assertions(library) is expected


def test_a_function_is_a_whole_name(tmp_path: Path) -> None:
    library = tmp_path / "librocksdb.so"
    library.write_bytes(b"ELF\0rocksdb_set_options\0rocksdb_open\0")
    assert has_function(library, "rocksdb_set_options")
    assert not has_function(library, "rocksdb_set")
    assert not has_function(library, "options")


def test_installed_libraries_have_no_assertions(installed: Path) -> None:
    engines = installed_engines(installed)
    assert not any(has_assertions(engine.library) for engine in engines)
    assert all(has_function(engine.library, "rocksdb_set_options") for engine in engines)
