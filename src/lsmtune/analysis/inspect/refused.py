"""Texts that inspect cannot read: what they are, and what to use instead."""

import re

from lsmtune.engines.option_files import foreign_kind

_LEVELDB = re.compile(
    r"^\d{4}/\d\d/\d\d-[\d:.]+ \w+ (?:Recovering log #|Level-0 table #|Compacting \d+@|"
    r"compacted to: files\[|Delete type=)", re.MULTILINE
)  # fmt: skip
_READ = (
    "a LOG of RocksDB, a statistics dump, output of db_bench, MyRocks' SHOW ENGINE ROCKSDB STATUS, "
    "report.tsv of RocksDB's benchmark.sh, an OPTIONS file, an options string, my.cnf, tikv.toml "
    "and arangod.conf"
)
"""All kinds of input."""


def refusal(where: str, text: str) -> str:
    """Return the message for a text that is none of the kinds of input."""
    if (told := foreign_kind(text)) is not None:
        return f"{where}: {told}"
    if _LEVELDB.search(text):
        return f"{where}: this file is a LOG of LevelDB; inspect reads the LOG of RocksDB"
    return f"{where}: unknown kind of file; inspect reads {_READ}"
