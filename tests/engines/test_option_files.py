"""A base of the wrong kind is refused before any engine starts."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.registry import entry_of, read_base
from lsmtune.errors import UserError
from lsmtune.knobs.option_files import OF_ENGINES, BaseFile, file_kind, foreign_kind
from lsmtune.metrics.options_file import parse_options

TEXTS = {
    "OPTIONS file": "[Version]\n  rocksdb_version=8.0.0\n[DBOptions]\n  max_open_files=-1\n",
    "my.cnf": "# ours\n[client]\nuser=x\n[mysqld]\nrocksdb_block_size=16384\n",
    "tikv.toml": '[server]\ngrpc-concurrency = 4\n[rocksdb.defaultcf]\nblock-size = "16KB"\n',
    "arangod.conf": "[server]\nendpoint = tcp://[::]:8529\n[rocksdb]\n"
    "total-write-buffer-size = 536870912\nmax-background-jobs = 4\n",
    "options string": "write_buffer_size=64M,max_background_jobs=4",
    "LOG": "2025/10/07-10:00:00.000000 1234 RocksDB version: 9.9.3\n",
}
READ_BY = {"OPTIONS file": "rocksdb", "options string": "rocksdb", "my.cnf": "myrocks",
           "tikv.toml": "tikv"}  # fmt: skip


def test_the_kinds_are_those_of_the_entries() -> None:
    assert set(OF_ENGINES) == {f for name in ENGINES.built_in for f in entry_of(name).base_files}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_kind_is_told_by_the_content(kind: str) -> None:
    assert file_kind(TEXTS[kind]) == kind


@pytest.mark.parametrize("kind", READ_BY)
@pytest.mark.parametrize("engine", ["rocksdb", "myrocks", "tikv"])
def test_each_engine_reads_its_own_kind(kind: str, engine: str) -> None:
    if READ_BY[kind] == engine:
        read_base(TEXTS[kind], "base", engine)
    else:
        with pytest.raises(UserError, match=rf"^base: .*engine = {READ_BY[kind]}"):
            read_base(TEXTS[kind], "base", engine)


def test_the_simulator_reads_options_files() -> None:
    read_base(TEXTS["OPTIONS file"], "base", "simulated")


OF_TIKV = ("[raftdb]\n", "[storage.block-cache]\n", 'raftstore.capacity = "0"\n',
           'rocksdb.writecf.block-size = "8KB"\n', "[rocksdb]\nmax-open-files = 900\n",
           "[rocksdb.titan]\n", "[server]\naddr = ''\n[raft-engine]\n")  # fmt: skip


@pytest.mark.parametrize("text", OF_TIKV)
def test_tikv_is_told_by_its_own_tables_and_keys(text: str) -> None:
    assert file_kind(text) == "tikv.toml"


@pytest.mark.parametrize("key", ["block-cache-size", "write-buffer-size", "level0-stop-trigger"])
def test_a_table_of_rocksdb_with_keys_of_arangodb_is_not_of_tikv(key: str) -> None:
    assert file_kind(f"[rocksdb]\nmax-background-jobs = 4\n{key} = 9\n") == "arangod.conf"


FOREIGN = {
    "Pebble": "[Version]\n  pebble_version=0.1\n\n[Options]\n  bytes_per_sync=524288\n",
    "LevelDB": "LevelDB:    version 1.21\nKeys:       16 bytes each\n"
    "fillseq      :       2.341 micros/op;   47.3 MB/s\n",
    "Flink": "jobmanager.rpc.port: 6123\nstate.backend.rocksdb.writebuffer.size: 64MB\n",
    "kvrocks.conf": "bind 0.0.0.0\nport 6666\n# rocksdb\nrocksdb.write_buffer_size 64\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_others_are_named(name: str) -> None:
    told = foreign_kind(FOREIGN[name])
    assert told is not None
    assert name in told
    with pytest.raises(UserError, match=rf"^base: .*{name}"):
        read_base(FOREIGN[name], "base", "rocksdb")


@pytest.mark.parametrize("kind", TEXTS)
def test_files_that_are_read_are_not_those_of_others(kind: str) -> None:
    assert foreign_kind(TEXTS[kind]) is None


def test_no_engine_reads_the_file_of_arangodb() -> None:
    with pytest.raises(UserError, match=r"^base: .*arangod\.conf.*OPTIONS file"):
        read_base(TEXTS["arangod.conf"], "base", "rocksdb")


def test_an_options_string_becomes_an_options_file() -> None:
    text, notes = read_base(
        "write_buffer_size=64M,flusher_threads=4,max_open_files=9", "ours", "rocksdb"
    )
    assert parse_options(text).sections['CFOptions "default"'] == {"write_buffer_size": "67108864"}
    assert parse_options(text).get("DBOptions", "max_open_files") == "9"
    assert "ours" in notes[0]
    assert "flusher_threads" in notes[1]


@pytest.mark.parametrize("kind", ["OPTIONS file", "my.cnf", "tikv.toml"])
def test_other_baselines_stay_as_they_are(kind: str) -> None:
    assert read_base(TEXTS[kind], "ours", READ_BY[kind]) == (TEXTS[kind], ())


def test_an_engine_without_a_kind_of_files_refuses_each_file() -> None:
    for text in (*TEXTS.values(), "", "speed = 3\n"):
        with pytest.raises(UserError, match=r"^base: not used by engine embedded; remove base$"):
            read_base(text, "ours", "embedded")


def _toy_file(text: str) -> bool:
    return text.startswith("[toy]")


def _options_file(text: str) -> bool:
    return "[DBOptions]" in text


def _raising(text: str) -> bool:
    raise LookupError(text)


def test_an_engine_of_a_package_reads_a_kind_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = BaseFile("toy.ini", _toy_file, read=lambda text, path: (text.upper(), (path,)))
    others = {
        "toy": (own,),
        "fork": (BaseFile("OPTIONS file", _options_file), BaseFile("odd", _raising)),
    }
    for name, files in others.items():
        entry = replace(entry_of("embedded"), name=name, base_files=files)
        monkeypatch.setitem(ENGINES, name, entry)
    assert read_base("[toy]\nx = 1\n", "ours", "toy") == ("[TOY]\nX = 1\n", ("ours",))
    with pytest.raises(UserError, match=r"this file is a toy\.ini; add engine = toy"):
        read_base("[toy]\nx = 1\n", "ours", "rocksdb")
    with pytest.raises(UserError, match="engine = myrocks"):
        read_base(TEXTS["my.cnf"], "ours", "toy")
    assert read_base(TEXTS["OPTIONS file"], "ours", "fork")[1] == ()
    assert read_base(TEXTS["OPTIONS file"], "ours", "rocksdb")[1] == ()


def test_a_package_takes_no_file_from_the_engines_of_lsmtune(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    greedy = BaseFile("anything", lambda text: True, rank=-1)
    entry = replace(entry_of("embedded"), name="greedy", base_files=(greedy,))
    monkeypatch.setitem(ENGINES, "greedy", entry)
    for kind, engine in READ_BY.items():
        read_base(TEXTS[kind], "ours", engine)


def test_of_a_log_a_study_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--to-study"):
        read_base(TEXTS["LOG"], str(tmp_path), "rocksdb")
