"""A base of the wrong kind is refused before any engine starts."""

from pathlib import Path

import pytest

from lsmtune.engines.option_files import check_readable, file_kind
from lsmtune.errors import UserError

TEXTS = {
    "OPTIONS file": "[Version]\n  rocksdb_version=8.0.0\n[DBOptions]\n  max_open_files=-1\n",
    "my.cnf": "# ours\n[client]\nuser=x\n[mysqld]\nrocksdb_block_size=16384\n",
    "tikv.toml": '[server]\ngrpc-concurrency = 4\n[rocksdb.defaultcf]\nblock-size = "16KB"\n',
    "LOG": "2025/10/07-10:00:00.000000 1234 RocksDB version: 9.9.3\n",
}
READ_BY = {"OPTIONS file": "rocksdb", "my.cnf": "myrocks", "tikv.toml": "tikv"}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_kind_is_told_by_the_content(kind: str) -> None:
    assert file_kind(TEXTS[kind]) == kind


@pytest.mark.parametrize("kind", READ_BY)
@pytest.mark.parametrize("engine", ["rocksdb", "myrocks", "tikv"])
def test_each_engine_reads_its_own_kind(kind: str, engine: str) -> None:
    if READ_BY[kind] == engine:
        check_readable(TEXTS[kind], "base", engine)
    else:
        with pytest.raises(UserError, match=rf"^base: .*--engine {READ_BY[kind]}"):
            check_readable(TEXTS[kind], "base", engine)


def test_the_simulator_reads_options_files() -> None:
    check_readable(TEXTS["OPTIONS file"], "base", "simulated")


def test_of_a_log_a_study_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--to-study"):
        check_readable(TEXTS["LOG"], str(tmp_path), "rocksdb")
