"""An exported file is the user's file in which only the tuned keys changed."""

import re
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

import pytest

from fakes.studies import open_study
from lsmtune.api.online_files import online_files
from lsmtune.api.results import write_results
from lsmtune.api.study_result import read_result
from lsmtune.cli.main import run
from lsmtune.engines.base import EngineFacts, OwnBase
from lsmtune.engines.myrocks.options import as_my_cnf, read_base, read_settings
from lsmtune.engines.rocksdb import options as rocksdb_options
from lsmtune.knobs.types import Config
from lsmtune.metrics.options_file import parse_options
from lsmtune.progress import Observer
from lsmtune.spaces import knob_space
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.record import read_record
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, TrialResult, TrialSpec

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
AS_RUN = rocksdb_options.own_options((CAPTURED / "myrocks-6.29-OPTIONS").read_text())
OF_MYROCKS = re.sub(r"( write_buffer_size=)\d+", rf"\g<1>{8 << 20}", AS_RUN)
assert OF_MYROCKS != AS_RUN
CACHE = 8 << 20
MY_CNF = f"""\
# production
[client]
port = 3306
password = never-to-be-shown

[mysqld]
user            = mysql
datadir         = /var/lib/mysql   # the big disk
plugin_load_add = ha_rocksdb
rocksdb-block-cache-size = {CACHE}   # bytes
rocksdb_delayed_write_rate=0
rocksdb_default_cf_options = write_buffer_size=8m;compression=kLZ4Compression
rocksdb_info_log_level = error_level
innodb_buffer_pool_size = 1G

[mysqldump]
quick
"""
OPTIONS = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
OPTIONS = OPTIONS.replace("  block_size=4096\n", "\tblock_size =  4096   # pages of the disk\n")
OPTIONS = OPTIONS.replace("  info_log_level=DEBUG_LEVEL\n", "  info_log_level=WARN_LEVEL\n")
assert "pages of the disk" in OPTIONS
assert "WARN_LEVEL" in OPTIONS


class OwnEngine(ScriptedEngine):
    """An engine that runs the user's file as baseline."""

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the baseline as the real engine of this name does."""
        assert own is not None
        if self.name == "rocksdb":
            settings = rocksdb_options.read_settings(self.catalogue, own.options)
            return Base(options=own.options, settings=settings, given=own.options)
        given = read_base(own.options)
        settings = read_settings(self.catalogue, OF_MYROCKS, given)
        return Base(options=OF_MYROCKS, settings=settings, given=as_my_cnf(given))


def small_cache_gains(trial: TrialSpec) -> TrialResult:
    return measured(write_amp=float(trial.settings["cache_size"]))


def large_block_gains(trial: TrialSpec) -> TrialResult:
    return measured(write_amp=65536 / float(trial.settings["block_size"]))


@dataclass
class Own:
    """A user's files and the home of his studies of them."""

    folder: Path
    home: Home

    def command(self, study: str, form: str, *flags: str) -> list[str]:
        return ["export", study, "--format", form, *flags, "--home", str(self.home.path)]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    folder = tmp_path_factory.mktemp("own")
    (folder / "my.cnf").write_text(MY_CNF)
    (folder / "my.cnf").chmod(0o640)
    (folder / "OPTIONS").write_text(OPTIONS)
    common = {"objective": "write_amp", "limits": [], "optimizer": "random", "base_runs": 1,
              "trials": 4, "repeats": 0, "pairs": 0}  # fmt: skip
    server = OwnEngine(small_cache_gains, "myrocks", OF_MYROCKS)
    studies = {
        "server": ("my.cnf", server, {"workload": {"name": "tpcc", "duration_s": 2},
                                      "engine": "myrocks", "knobs": "cache_size",
                                      "memory": "1GiB", "scale": "1"}),
        "store": ("OPTIONS", OwnEngine(large_block_gains, options=OPTIONS),
                  {"knobs": "block_size"}),
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        for name, (file, engine, given) in studies.items():
            spec = make_spec({**common, **given, "study": name, "base": str(folder / file)}, "here")
            with open_study(home, spec, engine, lambda _: None) as study:
                run_search(study)
            write_results(home, read_result(home, name), Observer())
        yield Own(folder, home)


@pytest.fixture
def own(tuned: Own) -> Iterator[Own]:
    """The user's files; a test may change his my.cnf."""
    yield tuned
    (tuned.folder / "my.cnf").unlink(missing_ok=True)
    (tuned.folder / "my.cnf").write_text(MY_CNF)
    (tuned.folder / "my.cnf").chmod(0o640)


def body(text: str) -> str:
    """Return a file without the notes of lsmtune at its top."""
    assert text.startswith("# lsmtune, study ")
    lines = text.splitlines(keepends=True)
    return "".join(list(dropwhile(lambda line: "End of the notes" not in line, lines))[1:])


def changed(text: str, before: str) -> list[tuple[str, str]]:
    """Return the lines that differ, each as it was and as it is."""
    pairs = zip(before.split("\n"), body(text).split("\n"), strict=True)
    return [(was, now) for was, now in pairs if was != now]


def out(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    capsys.readouterr()
    assert run(arguments) == 0
    return capsys.readouterr().out


def test_a_my_cnf_of_the_results_is_the_users_file(own: Own) -> None:
    results = own.home.path / "results" / "server"
    [(was, now)] = changed((results / "my.cnf").read_text(), MY_CNF)
    assert was.split("=")[0] == now.split("=")[0] == "rocksdb-block-cache-size "
    assert now.endswith("   # bytes")
    assert body((results / "my.cnf.back").read_text()) == MY_CNF


def test_only_the_results_contain_what_may_be_secret(own: Own) -> None:
    results = own.home.path / "results" / "server"
    files = [path for path in own.home.path.rglob("*") if path.is_file()]
    secret = {path for path in files if b"never-to-be-shown" in path.read_bytes()}
    assert secret == {results / "my.cnf", results / "my.cnf.back"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in secret} == {0o640}


def test_an_export_is_the_users_file_with_its_permissions(
    own: Own, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for flags in ([], ["--base", str(own.folder / "my.cnf")]):
        path = tmp_path / f"my.cnf.{len(flags)}"
        out(capsys, own.command("server", "my.cnf", *flags, "-o", str(path)))
        assert len(changed(path.read_text(), MY_CNF)) == 1
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_back_restores_a_file_that_was_deployed_in_its_place(
    own: Own, capsys: pytest.CaptureFixture[str]
) -> None:
    place = own.folder / "my.cnf"
    deployed = out(capsys, own.command("server", "my.cnf")) + "# added later\n"
    place.write_text(deployed)
    for flags in ([], ["--base", str(place)]):
        text = out(capsys, own.command("server", "my.cnf", "--back", *flags))
        assert body(text) == MY_CNF + "# added later\n"
        assert text.count("# lsmtune, study ") == 1
        assert "Verified" not in text


def test_without_the_users_file_its_part_is_marked(
    own: Own, capsys: pytest.CaptureFixture[str]
) -> None:
    (own.folder / "my.cnf").unlink()
    for flags in ([], ["--back"]):
        text = out(capsys, own.command("server", "my.cnf", *flags))
        assert set(read_base(text)) == {
            "block_cache_size", "delayed_write_rate", "default_cf_options"
        }  # fmt: skip
        assert "port" not in body(text)
        command = " ".join(["lsmtune", "export server --format my.cnf", *flags, "--base my.cnf"])
        assert f"{command} --home {own.home.path}\n" in text


def test_online_tuning_changes_only_what_it_kept(own: Own) -> None:
    record = read_record(own.home, "server")
    spec, ground = record.spec, record.ground
    wide = spec.model_copy(update={"knobs": "cache_size,delayed_write_rate"})
    assert (
        knob_space(wide, ground).settings(knob_space(wide, ground).default())["delayed_write_rate"]
        != 0
    )
    given = {**wide.model_dump(mode="json"), "study": "online"}
    server = OwnEngine(small_cache_gains, "myrocks", OF_MYROCKS)
    with open_study(own.home, make_spec(given, "here"), server, lambda _: None) as study:
        base = study.space.default()
    files = online_files(read_record(own.home, "online"), base)
    assert [body(file.text) for file in (files.options, files.back)] == [MY_CNF] * 2
    kept = Config({**base, "cache_size": int(base["cache_size"]) // 2})
    files = online_files(read_record(own.home, "online"), kept)
    [(was, now)] = changed(files.options.text, MY_CNF)
    assert (was.split()[2], now.split()[2]) == (str(CACHE), str(CACHE // 2))
    assert body(files.back.text) == MY_CNF
    assert files.options.source == own.folder / "my.cnf"


def test_online_tuning_of_rocksdb_tells_the_calls(own: Own) -> None:
    given = {"study": "open", "rocksdb": "11.8.1", "base": str(own.folder / "OPTIONS"),
             "workload": "overwrite", "online": {}, "memory": "1GiB",
             "knobs": "target_file_size_base,max_background_jobs"}  # fmt: skip
    engine = OwnEngine(large_block_gains, options=OPTIONS)
    with open_study(own.home, make_spec(given, "here"), engine, lambda _: None) as study:
        base = study.space.default()
    files = online_files(read_record(own.home, "open"), base)
    assert files.name == "OPTIONS"
    assert [body(file.text) for file in (files.options, files.back)] == [OPTIONS] * 2

    size = int(base["target_file_size_base"]) * 2
    kept = Config({**base, "target_file_size_base": size, "max_background_jobs": 6})
    files = online_files(read_record(own.home, "open"), kept)
    assert body(files.back.text) == OPTIONS
    after, before = parse_options(files.options.text), parse_options(OPTIONS)
    family = 'CFOptions "default"'
    size *= 16  # the smallest scale that such small memtables allow
    assert after.get("DBOptions", "max_background_jobs") == "6"
    assert after.get(family, "target_file_size_base") == str(size)
    # A running RocksDB does not derive it again.
    assert after.get(family, "max_compaction_bytes") == str(25 * size)
    for text, options in ((files.options.text, after), (files.back.text, before)):
        for section, key in ((family, "target_file_size_base"), (family, "max_compaction_bytes"),
                             ("DBOptions", "max_background_jobs")):  # fmt: skip
            assert f'{{"{key}", "{options.get(section, key)}"}},' in text
        assert "SetDBOptions also changes bytes_per_sync" in text


def test_an_options_file_is_the_users_file(own: Own, capsys: pytest.CaptureFixture[str]) -> None:
    results = own.home.path / "results" / "store"
    for text in ((results / "OPTIONS").read_text(), out(capsys, own.command("store", "options"))):
        [(was, now)] = changed(text, OPTIONS)
        assert was.startswith("\tblock_size =  ")
        assert now.startswith("\tblock_size =  ")
        assert now.endswith("   # pages of the disk")
        assert parse_options(text).get("DBOptions", "info_log_level") == "WARN_LEVEL"
    assert body((results / "OPTIONS.back").read_text()) == OPTIONS


def test_notes_of_an_earlier_export_are_replaced(
    own: Own, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "OPTIONS.new"
    path.write_text(out(capsys, own.command("store", "options")))
    back = out(capsys, own.command("store", "options", "--back", "--base", str(path)))
    assert back.count("# lsmtune, study ") == 1
    assert "options of trial" not in back
    assert body(back) == OPTIONS


def test_the_command_to_undo_names_the_home(own: Own, capsys: pytest.CaptureFixture[str]) -> None:
    text = (own.home.path / "results" / "store" / "OPTIONS").read_text()
    [line] = [line for line in text.splitlines() if line.startswith("# To undo: ")]
    words = line.removeprefix("# To undo: lsmtune ").split()
    assert words[words.index("--home") + 1] == str(own.home.path)
    assert body(out(capsys, [w for w in words if w not in ("-o", "OPTIONS.back")])) == OPTIONS


def test_the_users_file_may_be_another_one_meanwhile(
    own: Own, capsys: pytest.CaptureFixture[str]
) -> None:
    place = own.folder / "my.cnf"
    place.write_text(MY_CNF.replace("port = 3306", "port = 3307").replace(str(CACHE), "1G"))
    text = out(capsys, own.command("server", "my.cnf", "--back"))
    assert body(text) == MY_CNF.replace("port = 3306", "port = 3307")
    assert "other RocksDB options than the baseline" in text
