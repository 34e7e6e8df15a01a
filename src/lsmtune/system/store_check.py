"""A program of its own that uses a RocksDB library once, through its C API.

    python -I store_check.py LIBRARY FOLDER

It opens a store in the folder, writes records, flushes, reads them back and closes the store. The
last line that it prints is a JSON object: `error` is the problem, or null if there is none.
A library that does not work may crash its process. So this program is not lsmtune itself, and
imports nothing of it.
"""

import ctypes
import json
import os
import sys
from typing import Any

RECORDS = 1000
"""The number of records that are written and read back."""


class _FailedError(Exception):
    """A library that does not behave like RocksDB; the message describes the problem."""


class _RocksDB:
    """The functions of a library, each resolved when it is called."""

    def __init__(self, path: str) -> None:
        try:
            self._library = ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise _FailedError(f"the system cannot load it: {error}") from error

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function that returns a pointer, or nothing. All arguments are ctypes objects."""
        try:
            function = self._library[name]
        except AttributeError as error:
            raise _FailedError(f"its C API has no function {name}") from error
        function.restype = ctypes.c_void_p
        result = function(*arguments)
        return None if result is None else ctypes.c_void_p(result)

    def attempt(self, name: str, *arguments: Any) -> Any:
        """Call a function whose last parameter takes the text of an error."""
        error = ctypes.c_char_p()
        result = self.call(name, *arguments, ctypes.byref(error))
        if error.value is not None:
            raise _FailedError(f"{name}: {error.value.decode(errors='replace')}")
        return result


def _use(rocksdb: _RocksDB, folder: str) -> None:
    options = rocksdb.call("rocksdb_options_create")
    rocksdb.call("rocksdb_options_set_create_if_missing", options, ctypes.c_ubyte(1))
    store = rocksdb.attempt("rocksdb_open", options, ctypes.c_char_p(os.fsencode(folder)))
    writing = rocksdb.call("rocksdb_writeoptions_create")
    for number in range(RECORDS):
        rocksdb.attempt("rocksdb_put", store, writing, *_sized(_key(number)), *_sized(_of(number)))
    rocksdb.attempt("rocksdb_flush", store, rocksdb.call("rocksdb_flushoptions_create"))
    reading = rocksdb.call("rocksdb_readoptions_create")
    wrong = sum(_get(rocksdb, store, reading, number) != _of(number) for number in range(RECORDS))
    if wrong:
        raise _FailedError(f"{wrong} of {RECORDS} records were not read back as they were written")
    rocksdb.call("rocksdb_close", store)


def _get(rocksdb: _RocksDB, store: Any, reading: Any, number: int) -> bytes | None:
    size = ctypes.c_size_t()
    key = _sized(_key(number))
    value = rocksdb.attempt("rocksdb_get", store, reading, *key, ctypes.byref(size))
    if value is None:
        return None
    content = ctypes.string_at(value, size.value)
    rocksdb.call("rocksdb_free", value)
    return content


def _key(number: int) -> bytes:
    return b"%016d" % number


def _of(number: int) -> bytes:
    """Return the value of a record."""
    return b"value %d " % number * 10


def _sized(content: bytes) -> tuple[ctypes.c_char_p, ctypes.c_size_t]:
    return ctypes.c_char_p(content), ctypes.c_size_t(len(content))


def main(library: str, folder: str) -> None:
    """Check the library, print the answer and end."""
    try:
        _use(_RocksDB(library), folder)
        error = None
    except _FailedError as failure:
        error = str(failure)
    sys.stdout.write(json.dumps({"error": error}) + "\n")
    sys.stdout.flush()
    # Threads of the library may still run: unloading it now could crash.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
