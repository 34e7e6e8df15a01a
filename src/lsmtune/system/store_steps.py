"""A program of its own that uses a store of RocksDB through the C API of a library.

    python -I store_steps.py < plan.json

The plan is a JSON object:

library      the file of the library
folder       the folder of the store
options      a folder with one OPTIONS file, which RocksDB reads (`rocksdb_load_latest_options`)
texts        without `options`: for each family a text for `rocksdb_get_options_from_string`
create       whether the store and its families are made if they are missing
quiet        whether automatic compactions are off in all families
list         whether only the names of the store's families are printed; the store stays closed
steps        what to do with the open store, in this order: `do` is a public method of `_Store`
             below, and the other keys are its arguments

Each line of output is a JSON object with the key `event`: `opened`, then the name of each step with
its result, or `families` for a list, at last `closed`. `failed` has the name of the step and
RocksDB's own message.
A library that does not work may crash its process. So this program is not lsmtune itself, and
imports nothing of it.
"""

import ctypes
import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

_FORCED = 2
"""`kForce` of BottommostLevelCompaction: also rewrite files that are in the last level already."""
_BLOCK_CACHE_BYTES = 8 << 20
_POLL_S = 0.01
_QUIET_S = 0.3
"""A store that reports no job for this time has settled."""
DIGESTS = 1 << 64
"""Sums of hashes are taken modulo this number."""
_JOBS = (
    b"rocksdb.num-running-compactions",
    b"rocksdb.num-running-flushes",
    b"rocksdb.mem-table-flush-pending",
    b"rocksdb.compaction-pending",
)


class _FailedError(Exception):
    """A call that failed: the step, and the message of RocksDB or of the system."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step


class _Library:
    """The functions of a library, each resolved when it is called."""

    def __init__(self, path: str) -> None:
        try:
            # PyDLL keeps Python's lock in a call: this program has one thread, and reads faster.
            self._library = ctypes.PyDLL(path, os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise _FailedError("library", f"the system cannot load it: {error}") from error
        self._functions: dict[tuple[str, Any], Any] = {}

    def has(self, name: str) -> bool:
        """Return whether the C API has the function."""
        return hasattr(self._library, f"rocksdb_{name}")

    def function(self, name: str, result: Any = ctypes.c_void_p) -> Any:
        """Return a function with this type of result."""
        if (name, result) not in self._functions:
            try:
                found = self._library[f"rocksdb_{name}"]
            except AttributeError as error:
                problem = f"its C API has no function rocksdb_{name}"
                raise _FailedError("library", problem) from error
            found.restype = result
            self._functions[name, result] = found
        return self._functions[name, result]

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function that returns a pointer, or nothing. All arguments are ctypes objects."""
        result = self.function(name)(*arguments)
        return None if result is None else ctypes.c_void_p(result)

    def attempt(self, step: str, name: str, *arguments: Any) -> Any:
        """Call a function whose last parameter takes the text of an error."""
        error = ctypes.c_char_p()
        result = self.call(name, *arguments, ctypes.byref(error))
        if error.value is not None:
            raise _FailedError(step, error.value.decode(errors="replace"))
        return result


class _Options:
    """The options of the database, and those of each family by its name."""

    def __init__(self, library: _Library, plan: Mapping[str, Any]) -> None:
        self.database: Any = library.call("options_create")
        self.families: dict[str, Any] = {}
        if "options" in plan:
            self._load(library, plan["options"])
        else:
            for name, text in plan["texts"].items():
                self.families[name] = _parsed(library, self.database, text)
            self.database = self.families["default"]
        if plan.get("create"):
            for made in ("if_missing", "missing_column_families"):
                library.call(f"options_set_create_{made}", self.database, ctypes.c_ubyte(1))
        if plan.get("quiet"):
            for options in self.families.values():
                library.call("options_set_disable_auto_compactions", options, ctypes.c_int(1))

    def _load(self, library: _Library, folder: str) -> None:
        cache = library.call("cache_create_lru", ctypes.c_size_t(_BLOCK_CACHE_BYTES))
        database, count = ctypes.c_void_p(), ctypes.c_size_t()
        names = ctypes.POINTER(ctypes.c_char_p)()
        options = ctypes.POINTER(ctypes.c_void_p)()
        library.attempt(
            "options", "load_latest_options", ctypes.c_char_p(os.fsencode(folder)),
            library.call("create_default_env"), ctypes.c_bool(False), cache,
            ctypes.byref(database), ctypes.byref(count), ctypes.byref(names),
            ctypes.byref(options),
        )  # fmt: skip
        self.database = database
        for place in range(count.value):
            name = (names[place] or b"").decode(errors="surrogateescape")
            self.families[name] = ctypes.c_void_p(options[place])


def _parsed(library: _Library, base: Any, text: str) -> Any:
    options = library.call("options_create")
    content = ctypes.c_char_p(text.encode(errors="surrogateescape"))
    library.attempt("options", "get_options_from_string", base, content, options)
    return options


class _Store:
    """An open store; each public method is a step."""

    def __init__(self, library: _Library, folder: str, options: _Options) -> None:
        self._library = library
        self._options = options
        names = list(options.families)
        count = len(names)
        handles = (ctypes.c_void_p * count)()
        self._store = library.attempt(
            "open", "open_column_families", options.database,
            ctypes.c_char_p(os.fsencode(folder)), ctypes.c_int(count),
            (ctypes.c_char_p * count)(*(name.encode(errors="surrogateescape") for name in names)),
            (ctypes.c_void_p * count)(*(options.families[name] for name in names)),
            handles,
        )  # fmt: skip
        self._families = {
            name: ctypes.c_void_p(handle) for name, handle in zip(names, handles, strict=True)
        }
        self._writing = library.call("writeoptions_create")
        self._reading = library.call("readoptions_create")
        library.call("readoptions_set_total_order_seek", self._reading, ctypes.c_ubyte(1))

    def put(
        self, keys: int, size: int, prefix: str = "", family: str | None = None, how: str = "put"
    ) -> None:
        """Write this number of records into each family, or into one; `how` is put or merge."""
        for one in self.families if family is None else [family]:
            for number in range(keys):
                key = b"%s%016d" % (prefix.encode(), number)
                self._put(one, key, _value(key, size), how)

    def overwrite(self, every: int, most: int) -> dict[str, int]:
        """Write a new value to each `every`-th key of each family, at most to `most` keys.

        Return for each family what its digest must change by.
        """
        changes = {}
        for name in self._families:
            chosen = list(islice(self._records(name), 0, every * most, every))
            changes[name] = 0
            for key, value in chosen:
                new = _value(key + b"again", len(value))
                self._put(name, key, new)
                changes[name] += _hash(key, new) - _hash(key, value)
        return changes

    def flush(self) -> None:
        """Write the memtables of all families into tables."""
        waiting = self._library.call("flushoptions_create")
        for handle in self._families.values():
            self._library.attempt("flush", "flush_cf", self._store, waiting, handle)

    def compact(self, level: int | None = None, family: str | None = None) -> None:
        """Rewrite families into their last level; with `level`, move the result to this one."""
        library = self._library
        options = library.call("compactoptions_create")
        forced = ctypes.c_ubyte(_FORCED)
        library.call("compactoptions_set_bottommost_level_compaction", options, forced)
        if level is not None:
            library.call("compactoptions_set_change_level", options, ctypes.c_ubyte(1))
            library.call("compactoptions_set_target_level", options, ctypes.c_int(level))
        none, empty = ctypes.c_char_p(None), ctypes.c_size_t(0)
        for name in self.families if family is None else [family]:
            handle = self._families[name]
            library.call(
                "compact_range_cf_opt", self._store, handle, options, none, empty, none, empty
            )

    def settle(self, limit_s: float) -> None:
        """Wait until no flush or compaction runs or waits."""
        limit, quiet_since = time.monotonic() + limit_s, time.monotonic()
        while time.monotonic() - quiet_since < _QUIET_S and time.monotonic() < limit:
            if any(self._number(h, job) for h in self._families.values() for job in _JOBS):
                quiet_since = time.monotonic()
            time.sleep(_POLL_S)

    def digest(self, gets: int = 0) -> dict[str, tuple[int, int]]:
        """Read all records; return for each family their number and the sum of their hashes.

        With `gets`, each `gets`-th key is also read by a get: another value changes the sum.
        """
        found = {}
        for name in self._families:
            count, total = 0, 0
            for key, value in self._records(name):
                total += _hash(key, value)
                if gets and count % gets == 0 and self._get(name, key) != value:
                    total += 1
                count += 1
            found[name] = count, total % DIGESTS
        return found

    def edges(self, most: int, without: list[str]) -> dict[str, Any]:
        """Read the first and the last key of each table, and all of one table with few records.

        Return the numbers of tables and of records that were read, and the hash of these records.
        Tables of the families `without` are left out.
        """
        files = [file for file in self._live_files() if file["family"] not in without]
        small = min((f for f in files if f["records"]), key=lambda f: f["size"], default=None)
        count, content = 0, hashlib.sha256()
        for file in files:
            for key in (file["first"], file["last"]):
                # The table may have a key that a newer table deletes or overwrites.
                for found, value in islice(self._records(file["family"], key), 1):
                    content.update(b"%d %d " % (len(found), len(value)) + found + value)
                    count += 1
        if small is not None:
            for found, value in islice(self._records(small["family"], small["first"]), most):
                if found > small["last"]:
                    break
                content.update(b"%d %d " % (len(found), len(value)) + found + value)
                count += 1
        return {"tables": len(files), "records": count, "hash": content.hexdigest()}

    def levels(self) -> list[dict[str, Any]]:
        """Return the tables: family, name, level and size in bytes."""
        kept = ("family", "name", "level", "size")
        return [{key: file[key] for key in kept} for file in self._live_files()]

    def errors(self) -> int:
        """Return the number of errors of flushes and compactions."""
        return self._number(next(iter(self._families.values())), b"rocksdb.background-errors")

    def make(self, families: dict[str, str]) -> None:
        """Make families, each with the options of another one, and use only them from now on."""
        made = {}
        for name, like in families.items():
            made[name] = self._library.attempt(
                "make", "create_column_family", self._store, self._options.families[like],
                ctypes.c_char_p(name.encode()),
            )  # fmt: skip
        self._families = made

    def only(self, families: list[str]) -> None:
        """Use only these families from now on."""
        self._families = {name: self._families[name] for name in families}

    def drop(self) -> None:
        """Remove the families that are in use."""
        for handle in self._families.values():
            self._library.attempt("drop", "drop_column_family", self._store, handle)

    def close(self) -> None:
        """Close the store; running compactions end before."""
        for handle in self._families.values():
            self._library.call("column_family_handle_destroy", handle)
        self._library.call("close", self._store)

    @property
    def families(self) -> list[str]:
        """The names of the families."""
        return list(self._families)

    def _put(self, family: str, key: bytes, value: bytes, how: str = "put") -> None:
        self._library.attempt(
            how, f"{how}_cf", self._store, self._writing, self._families[family],
            *_sized(key), *_sized(value),
        )  # fmt: skip

    def _get(self, family: str, key: bytes) -> bytes | None:
        size, handle = ctypes.c_size_t(), self._families[family]
        asked = (self._store, self._reading, handle, *_sized(key), ctypes.byref(size))
        start = self._library.attempt("digest", "get_cf", *asked)
        if start is None:
            return None
        value = ctypes.string_at(start, size.value)
        self._library.call("free", start)
        return value

    def _number(self, handle: Any, name: bytes) -> int:
        value = ctypes.c_uint64()
        read = self._library.function("property_int_cf", ctypes.c_int)
        read(self._store, handle, ctypes.c_char_p(name), ctypes.byref(value))
        return value.value

    def _records(self, family: str, first: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        library, size = self._library, ctypes.c_size_t()
        handle = self._families[family]
        iterator = library.call("create_iterator_cf", self._store, self._reading, handle)
        if first is None:
            library.call("iter_seek_to_first", iterator)
        else:
            library.call("iter_seek", iterator, *_sized(first))
        # Plain addresses are passed faster than objects of ctypes.
        place, length, read = iterator.value, ctypes.addressof(size), ctypes.string_at
        valid = library.function("iter_valid", ctypes.c_ubyte)
        step = library.function("iter_next", None)
        key_of, value_of = library.function("iter_key"), library.function("iter_value")
        for function, arguments in ((valid, 1), (step, 1), (key_of, 2), (value_of, 2)):
            function.argtypes = [ctypes.c_void_p] * arguments
        try:  # the reader may stop before the end, and an iterator that is left keeps its family
            while valid(place):
                start = key_of(place, length)
                key = read(start, size.value) if start else b""
                start = value_of(place, length)
                yield key, read(start, size.value) if start else b""
                step(place)
            library.attempt("read", "iter_get_error", iterator)
        finally:
            library.call("iter_destroy", iterator)

    def _live_files(self) -> list[dict[str, Any]]:
        library = self._library
        files = library.call("livefiles", self._store)
        number = {name: library.function(f"livefiles_{name}", kind)
                  for name, kind in (("count", ctypes.c_int), ("level", ctypes.c_int),
                                     ("size", ctypes.c_size_t),
                                     ("entries", ctypes.c_uint64))}  # fmt: skip
        text = {name: library.function(f"livefiles_{name}", ctypes.c_char_p)
                for name in ("column_family_name", "name")}  # fmt: skip
        size = ctypes.c_size_t()

        def key(side: str, place: int) -> bytes:
            start = library.function(f"livefiles_{side}key")(files, place, ctypes.byref(size))
            return ctypes.string_at(start, size.value) if size.value else b""

        found = [
            {
                "family": text["column_family_name"](files, p).decode(errors="surrogateescape"),
                "name": text["name"](files, p).decode(),
                "level": number["level"](files, p),
                "size": number["size"](files, p),
                "records": number["entries"](files, p),
                "first": key("smallest", p),
                "last": key("largest", p),
            }
            for p in range(number["count"](files))
        ]
        library.call("livefiles_destroy", files)
        return found


def _hash(key: bytes, value: bytes) -> int:
    """Return a hash of a record, to be summed."""
    content = hashlib.sha256(b"%d %d " % (len(key), len(value)) + key + value)
    return int.from_bytes(content.digest()[:8], "big")


def _value(key: bytes, size: int) -> bytes:
    """Return a value of this size that depends on the key; half of it compresses."""
    return (hashlib.sha256(key).hexdigest().encode() * (size // 64 + 1))[:size]


def _sized(content: bytes) -> tuple[ctypes.c_char_p, ctypes.c_size_t]:
    return ctypes.c_char_p(content), ctypes.c_size_t(len(content))


def _print(event: str, **more: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **more}) + "\n")
    sys.stdout.flush()


def _list_families(library: _Library, folder: str) -> list[str]:
    count = ctypes.c_size_t()
    names = library.attempt(
        "list", "list_column_families", library.call("options_create"),
        ctypes.c_char_p(os.fsencode(folder)), ctypes.byref(count),
    )  # fmt: skip
    texts = ctypes.cast(names, ctypes.POINTER(ctypes.c_char_p))
    return [(texts[n] or b"").decode(errors="surrogateescape") for n in range(count.value)]


def _carry_out(plan: Mapping[str, Any]) -> None:
    library = _Library(plan["library"])
    if plan.get("list"):
        _print("families", names=_list_families(library, plan["folder"]))
        _print("closed")
        return
    options = _Options(library, plan)
    started = time.monotonic()
    store = _Store(library, plan["folder"], options)
    _print("opened", families=store.families, seconds=time.monotonic() - started)
    for step in plan["steps"]:
        arguments = dict(step)
        name = arguments.pop("do")
        started = time.monotonic()
        result = getattr(store, name)(**arguments)
        _print(name, result=result, seconds=time.monotonic() - started)
    store.close()
    _print("closed")


def main() -> None:
    """Carry out the plan on standard input and end."""
    # A store of the user may have more tables than the usual limit of open files.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        _carry_out(json.load(sys.stdin))
        code = 0
    except _FailedError as failure:
        _print("failed", step=failure.step, message=str(failure))
        code = 1
    # Threads of the library may still run: unloading it now could crash.
    os._exit(code)


if __name__ == "__main__":
    main()
