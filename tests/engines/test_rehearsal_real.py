"""Rehearsals on installed libraries and on db_bench: RocksDB itself reads the files."""

import hashlib
from collections.abc import Collection
from pathlib import Path

import pytest

from fakes.rig import Rig
from lsmtune.engines.base import Deployed, Places, Rehearses, TrialFailedError, Watch
from lsmtune.engines.libraries.installed import installed_engines
from lsmtune.engines.rocksdb.bench import StoreOpener
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.db_bench.opener import BenchOpener
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.engines.rocksdb.exports import OPTIONS
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.metrics.options_file import replace_options
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import StudySettings
from lsmtune.trials import Protocol, Running, TrialSpec
from lsmtune.workloads import Workload

pytest.importorskip("lsmsim", reason="the native core is not built here")

FAMILY = 'CFOptions "default"'
LEVELS, BUFFER, CODEC = (
    (FAMILY, "num_levels"),
    (FAMILY, "write_buffer_size"),
    (FAMILY, "compression"),
)
Changes = dict[tuple[str, str], str]


@pytest.fixture(scope="module", params=["library", "db_bench"])
def rig(
    request: pytest.FixtureRequest, installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Rig:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "db_bench":
        return Rig("db_bench", folder)
    library = installed_engines(installed)[-1].library
    return Rig("", folder, StudySettings(library=str(library)))


def rehearsed(
    rig: Rig,
    changes: Changes,
    *,
    undo: str | None = None,
    new_store: bool = False,
    running: Running | None = None,
) -> Rehearsal:
    """Rehearse the baseline's file with these changes."""
    spec = rig.spec.model_copy(update={"new_store": new_store})
    before = undo or OPTIONS.user_file(spec, rig.ground.base, None).text

    def only(names: Collection[str]) -> str:
        return replace_options(before, {p: v for p, v in changes.items() if p[1] in names})

    names = tuple(key for _, key in changes)
    files = Deployed(
        exported=only(names), undo=before, changed=names, only=only, family="default",
        new_store=new_store,
    )  # fmt: skip
    rig.runs += 1
    workdir = rig.folder / f"rehearsal{rig.runs}"
    workdir.mkdir()
    trial = TrialSpec(
        settings=rig.base, base_settings=rig.base, workload=Workload(num=5_000),
        protocol=Protocol(), seed=7, running=running,
    )  # fmt: skip
    places = Places(workdir, rig.folder / "templates")
    assert isinstance(rig.engine, Rehearses)
    return rig.engine.rehearse(trial, rig.ground.base, files, places, Watch(lambda phase: None))


@pytest.mark.db_bench
def test_files_that_open_the_store_pass(rig: Rig) -> None:
    found = rehearsed(rig, {BUFFER: "8388608", CODEC: "kZSTD"})
    assert found.passed
    assert (found.reader, found.families, found.options) == ("store", ("default",), ())
    assert found.records > 3_000


@pytest.mark.db_bench
def test_the_store_of_running_trials_is_opened(rig: Rig) -> None:
    if rig.program:
        pytest.skip("only lsmtune's driver has trials of a running store")
    found = rehearsed(rig, {BUFFER: "8388608"}, running=Running(rate=None))
    assert found.passed
    assert found.records > 5_000
    folder = rig.folder / f"rehearsal{rig.runs}"
    assert (folder / "template-stdout.txt").exists()
    assert not (folder / "running-stdout.txt").exists()


@pytest.mark.db_bench
def test_fewer_levels_are_refused_and_named(rig: Rig) -> None:
    found = rehearsed(rig, {BUFFER: "8388608", LEVELS: "5", CODEC: "kZSTD"})
    assert (found.failed, found.step, found.options) == ("exported", "open", ("num_levels",))
    assert "num_levels" in str(found.message)


@pytest.mark.db_bench
def test_more_levels_have_no_way_back(rig: Rig) -> None:
    if rig.program:
        pytest.skip("RocksDB 7.8 moves the data down only after more writes")
    text = OPTIONS.user_file(rig.spec, rig.ground.base, None).text
    dynamic = {(FAMILY, "level_compaction_dynamic_level_bytes"): "true"}
    undo = replace_options(text, dynamic)
    found = rehearsed(rig, {LEVELS: "8", BUFFER: "8388608"}, undo=undo)
    assert (found.failed, found.options) == ("undo", ("num_levels",))


@pytest.mark.db_bench
def test_two_causes_that_need_each_other_are_both_named(rig: Rig) -> None:
    changes = {
        (DATABASE_SECTION, "use_direct_reads"): "true",
        BUFFER: "8388608",
        (DATABASE_SECTION, "allow_mmap_reads"): "true",
    }
    found = rehearsed(rig, changes)
    assert found.failed == "exported"
    assert found.options == ("use_direct_reads", "allow_mmap_reads")


@pytest.mark.db_bench
def test_an_option_that_rocksdb_does_not_know_is_its_own_words(rig: Rig) -> None:
    found = rehearsed(rig, {(DATABASE_SECTION, "speed"): "high"})
    assert (found.failed, found.step) == ("exported", "options")
    assert "speed" in str(found.message)


@pytest.mark.db_bench
def test_a_new_store_needs_no_way_back(rig: Rig) -> None:
    found = rehearsed(rig, {LEVELS: "5"}, new_store=True)
    assert found.passed
    assert found.new_store


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.db_bench
def test_folders_of_the_user_s_file_stay_as_they_are(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "000003.log").write_bytes(b"of the running store")
    (tmp_path / "LOG").write_bytes(b"of the running store")
    before = contents(tmp_path)
    text = OPTIONS.user_file(rig.spec, rig.ground.base, None).text
    folders = {(DATABASE_SECTION, key): str(tmp_path) for key in ("wal_dir", "db_log_dir")}
    paths = f"{{{{path={tmp_path};target_size=1000}}}}"
    folders |= {(DATABASE_SECTION, "db_paths"): paths, (FAMILY, "cf_paths"): paths}
    found = rehearsed(rig, {BUFFER: "8388608"}, undo=replace_options(text, folders))
    assert found.passed
    assert set(found.replaced) == {"wal_dir", "db_log_dir", "db_paths", "cf_paths"}
    assert found.remarks
    assert contents(tmp_path) == before


@pytest.mark.db_bench
def test_a_baseline_that_does_not_open_is_no_verdict(rig: Rig) -> None:
    text = OPTIONS.user_file(rig.spec, rig.ground.base, None).text
    unknown = {(DATABASE_SECTION, "speed"): "high"}
    with pytest.raises(TrialFailedError, match="speed"):
        rehearsed(rig, {BUFFER: "8388608"}, undo=replace_options(text, unknown))


@pytest.mark.db_bench
def test_another_order_of_keys_is_that_of_the_file(rig: Rig) -> None:
    text = OPTIONS.user_file(rig.spec, rig.ground.base, None).text
    order = {(FAMILY, "comparator"): "rocksdb.ReverseBytewiseComparator"}
    assert rehearsed(rig, {BUFFER: "8388608"}, undo=replace_options(text, order)).passed


@pytest.mark.db_bench
def test_families_of_the_file_are_made_and_compared(rig: Rig) -> None:
    text = OPTIONS.user_file(rig.spec, rig.ground.base, None).text
    at = text.index(f"[{FAMILY}]")
    more = text[at:].replace('"default"', '"users"')
    found = rehearsed(rig, {BUFFER: "8388608"}, undo=f"{text}\n{more}")
    assert found.passed
    assert found.families == ("default", "users")


class StaticDbBench(DbBench):
    """A db_bench as if RocksDB were a part of it."""

    def opener(self, folder: Path, limit_s: float, load: Workload) -> StoreOpener:
        """Return db_bench itself."""
        return BenchOpener("db_bench", folder, limit_s, load)


@pytest.mark.db_bench
def test_a_db_bench_with_rocksdb_inside_opens_the_store_itself(tmp_path: Path) -> None:
    rig = Rig("db_bench", tmp_path)
    rig.engine = RocksDB(StaticDbBench("db_bench"))
    found = rehearsed(rig, {BUFFER: "8388608", CODEC: "kZSTD"})
    assert found.passed
    assert found.records > 3_000
    assert found.remarks
    reads = {(DATABASE_SECTION, key): "true" for key in ("use_direct_reads", "allow_mmap_reads")}
    refused = rehearsed(rig, {BUFFER: "8388608", **reads})
    assert (refused.failed, refused.step) == ("exported", "open")
    assert set(refused.options) == {"use_direct_reads", "allow_mmap_reads"}


def test_a_library_that_reads_no_files_says_so(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest = installed_engines(installed)[0]
    if oldest.record.version.startswith("6."):
        found = rehearsed(Rig("", tmp_path, StudySettings(library=str(oldest.library))),
                          {LEVELS: "5"})  # fmt: skip
        assert (found.reader, found.failed, found.options) == (
            "lsmtune", "exported", ("num_levels",)
        )  # fmt: skip
        assert found.remarks
