"""Kinds of files with options: which engine reads which kind, and those of other programs."""

import re
from collections.abc import Iterable

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base_files import BaseFile
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.registry import entry_of, usable_entries
from lsmtune.errors import Argument, LsmtuneError, UserError

_ROCKSDB_TABLE = re.compile(r"^\s*\[rocksdb\]", re.MULTILINE)
_LINE_OF_LOG = re.compile(r"^\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d", re.MULTILINE)
_LOG = BaseFile("LOG", lambda text: _LINE_OF_LOG.search(text) is not None, rank=1)
_UNREAD = (BaseFile("arangod.conf", lambda text: _ROCKSDB_TABLE.search(text) is not None), _LOG)
"""Kinds that no engine reads."""
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
    kind = _kind(text, [entry_of(name) for name in ENGINES.built_in])
    return None if kind is None else kind.name


def _kind(text: str, entries: Iterable[EngineEntry]) -> BaseFile | None:
    """Return the kind of a text; of kinds with the same rank, the first one."""
    kinds = [kind for entry in entries for kind in entry.base_files]
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


def read_base(text: str, path: str, engine: str) -> tuple[str, tuple[str, ...]]:
    """Return a baseline as its engine gets it, and remarks about it.

    UserError if the engine reads no file, or if the file is of a kind that it does not read.
    """
    own = entry_of(engine)
    if not own.base_files:
        raise UserError(f"base: not used by engine {engine}; remove base")
    entries = [own, *(entry_of(name) for name in ENGINES.built_in if name != engine)]
    kind = _kind(text, entries)
    if kind is None:  # maybe a file of another package, which is imported only for the message
        entries = list(usable_entries())
        kind = _kind(text, entries)
    if kind is None:
        if (told := foreign_kind(text)) is not None:
            raise UserError(f"base: {path}: {told}")
        return text, ()
    if kind is _LOG:
        raise UserError(
            f"base: {path}: this file is a LOG; `lsmtune inspect {path} --to-study FILE` writes a "
            "study with the options of the LOG"
        )
    if kind in own.base_files:
        return kind.read(text, path)
    which = f"this file is a{'n' if kind.name[0] in 'AEIOaeio' else ''} {kind.name}"
    reader = next((entry.name for entry in entries if kind in entry.base_files), None)
    if reader is None:
        raise UserError(
            f"base: {path}: {which}, and lsmtune does not tune its store; use the OPTIONS file "
            "that RocksDB writes next to the data"
        )
    raise UserError(f"base: {path}: {which}; add ", Argument("engine", reader))
