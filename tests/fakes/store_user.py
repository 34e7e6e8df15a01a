"""A program of a user that opens a store through RocksDB's C API, with classes of its own.

    python store_user.py LIBRARY FOLDER KIND [STUDY HOME]

KIND is plain, comparator, merge or paths: the store has a comparator or a merge operator of the
program, or a second folder for tables. Prints "open" and keeps the store open until its input ends.
With a study, it calls `lsmtune.rehearse` on the store that it has open, and prints the error.
"""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

_DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_NAME = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
_COMPARE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
    ctypes.c_size_t,
)  # fmt: skip


def _compared(_: Any, a: int, a_size: int, b: int, b_size: int) -> int:
    left, right = ctypes.string_at(a, a_size), ctypes.string_at(b, b_size)
    return (left > right) - (left < right)


KEPT = [_DESTROY(lambda _: None), _NAME(lambda _: b"my.class"), _COMPARE(_compared)]
"""The functions that the library calls."""


def options_of(library: Any, folder: str, kind: str) -> Any:
    """Return the options of a store of this kind."""
    options = ctypes.c_void_p(library.rocksdb_options_create())
    library.rocksdb_options_set_create_if_missing(options, ctypes.c_ubyte(1))
    destroy, name, compare = KEPT
    if kind == "comparator":
        made = ctypes.c_void_p(library.rocksdb_comparator_create(None, destroy, compare, name))
        library.rocksdb_options_set_comparator(options, made)
    elif kind == "merge":
        made = ctypes.c_void_p(
            library.rocksdb_mergeoperator_create(None, destroy, None, None, None, name)
        )
        library.rocksdb_options_set_merge_operator(options, made)
    elif kind == "paths":
        sizes = {f"{folder}-second": 1 << 40, folder: 1 << 40}
        made = [ctypes.c_void_p(library.rocksdb_dbpath_create(path.encode(), ctypes.c_uint64(n)))
                for path, n in sizes.items()]  # fmt: skip
        paths = (ctypes.c_void_p * 2)(*made)
        library.rocksdb_options_set_db_paths(options, paths, ctypes.c_size_t(2))
    return options


def main() -> None:
    """Do what the module says."""
    path, folder, kind, *study = sys.argv[1:]
    library = ctypes.CDLL(path)
    for name in ("options_create", "open", "comparator_create", "mergeoperator_create",
                 "dbpath_create", "writeoptions_create", "flushoptions_create"):  # fmt: skip
        getattr(library, f"rocksdb_{name}").restype = ctypes.c_void_p
    error = ctypes.c_char_p()
    options = options_of(library, folder, kind)
    store = ctypes.c_void_p(library.rocksdb_open(options, folder.encode(), ctypes.byref(error)))
    assert error.value is None, error.value
    writing = ctypes.c_void_p(library.rocksdb_writeoptions_create())
    flushing = ctypes.c_void_p(library.rocksdb_flushoptions_create())
    eight = ctypes.c_size_t(8)
    for number in range(0 if kind == "plain" else 200):
        key = b"%08d" % number
        library.rocksdb_put(store, writing, key, eight, key, eight, ctypes.byref(error))
    library.rocksdb_flush(store, flushing, ctypes.byref(error))
    assert error.value is None, error.value
    sys.stdout.write("open\n")
    if study:
        import lsmtune  # noqa: PLC0415 - the other kinds do without

        try:
            lsmtune.rehearse(study[0], Path(folder), home=study[1])
        except lsmtune.UserError as refused:
            sys.stdout.write(f"{refused}\n")
    sys.stdout.flush()
    sys.stdin.read()
    library.rocksdb_close(store)
    os._exit(0)


if __name__ == "__main__":
    main()
