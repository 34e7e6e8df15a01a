"""Kinds of files with options: those of lsmtune's engines, and those of other programs."""

import re
from collections.abc import Iterable

from lsmtune.engines.base_files import BaseFile
from lsmtune.engines.myrocks.base_files import BASE_FILES as _OF_MYROCKS
from lsmtune.engines.rocksdb.base_files import BASE_FILES as _OF_ROCKSDB
from lsmtune.engines.tikv.base_files import BASE_FILES as _OF_TIKV
from lsmtune.errors import LsmtuneError

OF_ENGINES = (*_OF_ROCKSDB, *_OF_MYROCKS, *_OF_TIKV)
"""The kinds that the engines of lsmtune read."""
_ROCKSDB_TABLE = re.compile(r"^\s*\[rocksdb\]", re.MULTILINE)
_LINE_OF_LOG = re.compile(r"^\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d", re.MULTILINE)
LOG = BaseFile("LOG", lambda text: _LINE_OF_LOG.search(text) is not None, rank=1)
_UNREAD = (BaseFile("arangod.conf", lambda text: _ROCKSDB_TABLE.search(text) is not None), LOG)
"""Kinds that no engine reads."""
_FOREIGN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^\s*pebble_version\s*=", re.MULTILINE),
     "this file is an OPTIONS file of Pebble, whose options are not those of RocksDB; use the "
     "OPTIONS file or the LOG of a RocksDB"),
    (re.compile(r"^LevelDB: +version [01]\.", re.MULTILINE),
     "this text is output of LevelDB's db_bench; use the output of RocksDB's db_bench"),
    (re.compile(r"^\s*state\.backend\.rocksdb\.|^\s*state\.backend(?:\.type)?:\s*[\"']?rocksdb",
                re.MULTILINE),
     "this file is a configuration of Flink; use the LOG that RocksDB writes into the folder "
     "state.backend.rocksdb.log.dir, or the OPTIONS file next to the data"),
    (re.compile(r"^\s*rocksdb\.config\.setter\s*=", re.MULTILINE),
     "this file is a configuration of Kafka Streams; use the LOG in the folder of a store below "
     "state.dir, after the RocksDBConfigSetter called options.setInfoLogLevel(INFO_LEVEL)"),
    (re.compile(r"^\s*--rocksdb_(?:batch_size|block_cache|disable_wal)\b"
                r"|EventListener\.h:\d+\] Rocksdb ", re.MULTILINE),
     "this text is from Nebula Graph; use the LOG in the folder nebula/SPACE/data below data_path"),
    (re.compile(r"\[event_listener/\w+\] "),
     "this text is the server log of Kvrocks; use the LOG in the folder db of Kvrocks' data (dir)"),
    (re.compile(r"\[JOB \d+\] (?:compact|flush|WAL |MANIFEST |sstable |all initial)"),
     "this text is a log of Pebble, whose options are not those of RocksDB; use the LOG of a "
     "RocksDB"),
    (re.compile(r"^\s*rocksdb\.options[ \t]", re.MULTILINE),
     "this file is an ardb.conf, and rocksdb.options has no option of RocksDB; use the LOG or the "
     "OPTIONS file in the folder of the data"),
    (re.compile(r"^\s*rocksdb\.\w+[ \t]+[^\s=]", re.MULTILINE),
     "this file is a kvrocks.conf; use the LOG or the OPTIONS file in the folder db of Kvrocks' "
     "data (dir)"),
)  # fmt: skip
"""Files of other stores and programs: how to recognise one, and what to use instead."""


def file_kind(text: str) -> str | None:
    """Return the kind of a file by what it contains; None if it is none of these.

    The kinds are those of the engines of lsmtune, "LOG" and "arangod.conf".
    """
    kind = kind_among(text, OF_ENGINES)
    return None if kind is None else kind.name


def kind_among(text: str, kinds: Iterable[BaseFile]) -> BaseFile | None:
    """Return the kind of a text, one of these or of those that no engine reads; None if unknown.

    Of kinds with the same rank it is the first one.
    """
    ranked = sorted([*kinds, *_UNREAD], key=lambda kind: kind.rank)
    return next((kind for kind in ranked if _is_of(kind, text)), None)


def _is_of(kind: BaseFile, text: str) -> bool:
    try:
        return kind.recognises(text)
    except LsmtuneError:
        raise
    except Exception:
        return False


def foreign_kind(text: str) -> str | None:
    """Return what a file of another store or program is, and what to use instead; None if unknown.

    The kinds are Pebble's OPTIONS file and log, output of LevelDB's db_bench, kvrocks.conf,
    ardb.conf, configurations of Flink, Kafka Streams and Nebula Graph, and logs of the last and of
    Kvrocks.
    """
    return next((told for sign, told in _FOREIGN if sign.search(text)), None)
