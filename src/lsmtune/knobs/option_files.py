"""Kinds of files with options: those of lsmtune's engines, and those of other programs."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.my_cnf import is_my_cnf
from lsmtune.knobs.options_string import as_options_file, parse_options_string
from lsmtune.knobs.tikv_toml import is_tikv_toml


def _unchanged(text: str, path: str) -> tuple[str, tuple[str, ...]]:
    return text, ()


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A kind of file that an engine reads as the baseline of a study.

    name        the kind in messages, such as my.cnf
    recognises  whether a text is a file of this kind
    rank        kinds with a lower rank are tried first. A kind needs a higher rank than another one
                if it also recognises files of the other kind. Kinds of other packages come last
    read        takes text and path; returns the text as the engine gets it, and remarks about it
    """

    name: str
    recognises: Callable[[str], bool]
    rank: int = 0
    read: Callable[[str, str], tuple[str, tuple[str, ...]]] = _unchanged


def _read_string(text: str, path: str) -> tuple[str, tuple[str, ...]]:
    """Return an options string as an OPTIONS file, because trials are made from OPTIONS files.

    Options that it does not set have the defaults of the RocksDB that runs.
    """
    if (given := parse_options_string(text)) is None:
        raise UserError(f"base: {path}: the file is no options string")
    remark = f"{path} is an options string; options that it does not set have RocksDB's defaults"
    return as_options_file(given), (remark, *given.notes)


_SECTION = re.compile(r"^\s*\[(?:DBOptions|CFOptions)", re.MULTILINE)
OPTIONS_FILE = BaseFile("OPTIONS file", lambda text: _SECTION.search(text) is not None)
OPTIONS_STRING = BaseFile(
    "options string", lambda text: parse_options_string(text) is not None, 2, _read_string
)
"""Files of many programs contain a text that could be one, so its rank is the last."""
MY_CNF = BaseFile("my.cnf", is_my_cnf, rank=1)
TIKV_TOML = BaseFile("tikv.toml", is_tikv_toml)
OF_ENGINES = (OPTIONS_FILE, OPTIONS_STRING, MY_CNF, TIKV_TOML)
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
