"""Kinds of files with options, and which engine reads which kind."""

import re
from typing import Literal

from lsmtune.errors import Argument, UserError
from lsmtune.knobs.options_string import as_options_file, parse_options_string

FileKind = Literal["OPTIONS file", "my.cnf", "tikv.toml", "arangod.conf", "LOG", "options string"]

_ROCKSDB_TABLE = re.compile(r"^\s*\[rocksdb\](?P<body>[^\[]*)", re.MULTILINE)
_DASHED_KEY = re.compile(r"^\s*([a-z][a-z0-9-]*)\s*=", re.MULTILINE)
_OF_TIKV = frozenset({
    "allow-concurrent-memtable-write", "auto-tuned", "bytes-per-sync", "compaction-readahead-size",
    "create-if-missing", "enable-multi-batch-write", "enable-pipelined-write", "enable-statistics",
    "enable-unordered-write", "info-log-dir", "info-log-keep-log-file-num", "info-log-level",
    "info-log-max-size", "info-log-roll-time", "max-background-compactions",
    "max-background-flushes", "max-background-jobs", "max-manifest-file-size", "max-open-files",
    "max-sub-compactions", "max-total-wal-size", "paranoid-checks", "rate-bytes-per-sec",
    "rate-limiter-auto-tuned", "rate-limiter-mode", "rate-limiter-refill-period",
    "stats-dump-period", "track-and-verify-wals-in-manifest",
    "use-direct-io-for-flush-and-compaction", "wal-bytes-per-sync", "wal-dir", "wal-recovery-mode",
    "wal-size-limit", "wal-ttl-seconds", "writable-file-max-buffer-size", "write-buffer-limit",
    "write-buffer-flush-oldest-first", "write-buffer-stall-ratio",
})  # fmt: skip
"""Keys of TiKV's table [rocksdb] (src/config/mod.rs, DbConfig); its other tables have own names."""

_KINDS: tuple[tuple[FileKind, re.Pattern[str]], ...] = (
    ("OPTIONS file", re.compile(r"^\s*\[(?:DBOptions|CFOptions)", re.MULTILINE)),
    ("tikv.toml", re.compile(
        r"^\s*(?:\[(?:raftdb|raft-engine|raftstore|storage|coprocessor|readpool|rocksdb\.\w+)[.\]]"
        r"|(?:raftdb|raft-engine|raftstore|storage|rocksdb\.\w+cf)\.[\w.-]+\s*=)", re.MULTILINE)),
    ("my.cnf", re.compile(r"^\s*\[(?:mysqld|mariadbd?|server)\b", re.MULTILINE | re.IGNORECASE)),
    ("LOG", re.compile(r"^\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d", re.MULTILINE)),
)  # fmt: skip
_READ_BY: dict[FileKind, tuple[str, ...]] = {
    "OPTIONS file": ("rocksdb", "simulated"), "options string": ("rocksdb", "simulated"),
    "my.cnf": ("myrocks",), "tikv.toml": ("tikv",), "arangod.conf": (),
}  # fmt: skip
_FOREIGN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^\s*pebble_version\s*=", re.MULTILINE),
     "this file is an OPTIONS file of Pebble, whose options are not those of RocksDB; use the "
     "OPTIONS file or the LOG of a RocksDB"),
    (re.compile(r"^LevelDB: +version ", re.MULTILINE),
     "this text is output of LevelDB's db_bench; use the output of RocksDB's db_bench"),
    (re.compile(r"^\s*state\.backend\.rocksdb\.|^\s*state\.backend(?:\.type)?:\s*[\"']?rocksdb",
                re.MULTILINE),
     "this file is a configuration of Flink; use the LOG that RocksDB writes into the folder "
     "state.backend.rocksdb.log.dir, or the OPTIONS file next to the data"),
    (re.compile(r"^\s*rocksdb\.\w+[ \t]+[^\s=]", re.MULTILINE),
     "this file is a kvrocks.conf; use the LOG or the OPTIONS file in the folder db of Kvrocks' "
     "data (dir)"),
)  # fmt: skip
"""Files of other stores and programs: how to recognise one, and what to use instead."""


def file_kind(text: str) -> FileKind | None:
    """Return the kind of a file by what it contains; None if it is none of these."""
    kind = next((kind for kind, sign in _KINDS if sign.search(text)), None)
    if kind in ("OPTIONS file", "tikv.toml"):
        return kind
    if (table := _ROCKSDB_TABLE.search(text)) is not None:
        keys = set(_DASHED_KEY.findall(table["body"]))
        return "tikv.toml" if keys <= _OF_TIKV else "arangod.conf"
    if kind is None and parse_options_string(text) is not None:
        return "options string"
    return kind


def foreign_kind(text: str) -> str | None:
    """Return what a file of another store or program is, and what to use instead; None if unknown.

    The kinds are Pebble's OPTIONS file, output of LevelDB's db_bench, flink-conf.yaml and
    kvrocks.conf.
    """
    return next((told for sign, told in _FOREIGN if sign.search(text)), None)


def check_readable(text: str, path: str, engine: str) -> None:
    """Raise UserError if the base is a kind of file that another engine reads.

    An engine without a base refuses every file itself.
    """
    if not any(engine in engines for engines in _READ_BY.values()):
        return
    kind = file_kind(text)
    if kind == "LOG":
        raise UserError(
            f"base: {path}: this file is a LOG; `lsmtune inspect {path} --to-study FILE` writes a "
            "study with the options of the LOG"
        )
    if (told := foreign_kind(text)) is not None and kind is None:
        raise UserError(f"base: {path}: {told}")
    if kind is None or engine in _READ_BY[kind]:
        return
    which = f"this file is a{'n' if kind[0] in 'AEIOaeio' else ''} {kind}"
    if not _READ_BY[kind]:
        raise UserError(
            f"base: {path}: {which}, and lsmtune does not tune its store; use the OPTIONS file "
            "that RocksDB writes next to the data"
        )
    raise UserError(f"base: {path}: {which}; add ", Argument("engine", _READ_BY[kind][0]))


def base_text(text: str, path: str) -> tuple[str, tuple[str, ...]]:
    """Return a baseline as its engine reads it, and remarks about it.

    An options string becomes an OPTIONS file, because trials are made from OPTIONS files. Options
    that it does not set have the defaults of the RocksDB that runs.
    """
    if file_kind(text) != "options string" or (given := parse_options_string(text)) is None:
        return text, ()
    told = f"{path} is an options string; options that it does not set have RocksDB's defaults"
    return as_options_file(given), (told, *given.notes)
