"""Copies of real stores of a user, opened with an exported file and with an undo file."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes import store_user
from fakes.patience import eventually
from fakes.user_stores import make_store, newest_options, state
from lsmtune.engines.base import Deployed
from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    engine_of_version,
    installed_engines,
)
from lsmtune.engines.rocksdb.user_store import rehearse_store
from lsmtune.errors import UserError
from lsmtune.metrics.options_file import replace_options
from lsmtune.rehearsal import StorePlan, StoreRehearsal
from lsmtune.system.workdir import create_workdir

THREE = {"default": "", "logs": "merge_operator=stringappend", "blobs": "enable_blob_files=true;"
         "min_blob_size=50;prefix_extractor=fixed:4"}  # fmt: skip
FOREIGN = 65534


@pytest.fixture(scope="module")
def library(installed: Path) -> Path:
    engine = engine_of_version(installed_engines(installed), DEFAULT_VERSION)
    assert engine is not None
    return engine.library


@pytest.fixture(scope="module")
def store(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that all tests only read."""
    return make_store(library, tmp_path_factory.mktemp("stores") / "store")


@pytest.fixture
def rehearse(library: Path) -> Callable[..., StoreRehearsal]:
    """Rehearses changes of the options of the default family, and checks that nothing is left."""

    def run(store: Path, *, library: Path = library, **changes: object) -> StoreRehearsal:
        before, around = state(store), sorted(store.parent.iterdir())
        plans: list[StorePlan] = []
        try:
            return rehearse_store(library, files_of(newest_options(store), changes), store,
                                  plans.append)  # fmt: skip
        finally:
            assert state(store) == before
            assert sorted(store.parent.iterdir()) == around

    return run


def files_of(options: Path, changes: dict[str, object]) -> Deployed:
    undo = options.read_text()

    def only(names: object) -> str:
        assert isinstance(names, list | tuple | set | dict)
        chosen = {('CFOptions "default"', n): str(changes[n]) for n in names}
        return replace_options(undo, chosen)

    return Deployed(
        exported=only(changes), undo=undo, changed=tuple(changes), only=only, family="default"
    )


@contextmanager
def used(library: Path, folder: Path, kind: str, *study: str) -> Iterator[list[str]]:
    """Let another process have a store open; yield its lines."""
    argv = [sys.executable, store_user.__file__, str(library), str(folder), kind, *study]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(2 if study else 1)]
        assert lines[0] == "open"
        yield lines
        process.stdin.close()


def own_store(library: Path, folder: Path, kind: str) -> Path:
    with used(library, folder, kind):
        pass
    return folder


def refusal(run: Callable[..., StoreRehearsal], *given: Path, **more: Path) -> str:
    with pytest.raises(UserError) as raised:
        run(*given, **more)
    return str(raised.value)


def test_user_store_with_three_families_opens_with_both_files(
    rehearse: Callable[..., StoreRehearsal], library: Path, tmp_path: Path
) -> None:
    found = rehearse(make_store(library, tmp_path / "store", THREE), write_buffer_size=1 << 20)
    assert found.passed
    assert found.families == ("default", "logs", "blobs")
    assert found.written == {"default": "lsmtune-rehearsal-default"}
    assert len(found.added) == 2
    assert found.version == found.store_version == DEFAULT_VERSION
    assert found.tables >= 6
    assert found.read >= 2 * found.tables
    assert found.records == 2000
    assert found.plan.linked_files > found.tables - 3  # blob files, too; the log makes tables


@pytest.mark.slow
def test_user_store_names_the_option_that_its_store_refuses(
    rehearse: Callable[..., StoreRehearsal], store: Path
) -> None:
    found = rehearse(store, write_buffer_size=1 << 20, num_levels=2, max_write_buffer_number=4)
    assert (found.failed, found.step, found.options) == ("exported", "open", ("num_levels",))
    assert "num_levels" in str(found.message)
    assert str(store.parent) not in str(found.message)


@pytest.mark.slow
def test_user_store_without_a_way_back_fails_with_the_undo_file(
    rehearse: Callable[..., StoreRehearsal], store: Path
) -> None:
    found = rehearse(store, num_levels=8, write_buffer_size=1 << 20)
    assert (found.failed, found.options) == ("undo", ("num_levels",))


def test_user_store_refuses_a_store_that_another_process_uses(
    rehearse: Callable[..., StoreRehearsal], library: Path, tmp_path: Path
) -> None:
    with used(library, tmp_path / "store", "plain"):
        assert re.search(r"process \d+ uses this store", refusal(rehearse, tmp_path / "store"))
    assert rehearse(tmp_path / "store").passed


def test_user_store_that_is_opened_during_the_copy_is_in_use(library: Path, tmp_path: Path) -> None:
    """The toucher stands for a program that opens and closes the store: CURRENT gets newer."""
    store = make_store(library, tmp_path / "store")
    with (store / "000999.log").open("wb") as log:
        log.truncate(1 << 29)

    def touch() -> None:
        assert eventually(lambda: any(tmp_path.glob("lsmtune-rehearsal-*/store/000999.log")))
        os.utime(store / "CURRENT")

    toucher = threading.Thread(target=touch)
    toucher.start()
    with pytest.raises(UserError, match="uses this store"):
        rehearse_store(library, files_of(newest_options(store), {}), store, lambda _: None)
    toucher.join()
    assert not list(tmp_path.glob("*lsmtune-*"))


@pytest.mark.parametrize(
    ("kind", "word"), [("comparator", "comparator"), ("merge", "merge operator")]
)
def test_user_store_refuses_classes_of_the_application(
    kind: str, word: str, rehearse: Callable[..., StoreRehearsal], library: Path, tmp_path: Path
) -> None:
    store = own_store(library, tmp_path / "store", kind)
    assert f"{word} my.class" in refusal(rehearse, store)


def test_user_store_without_options_file_is_refused_for_its_comparator(
    store: Path, library: Path, tmp_path: Path
) -> None:
    files = files_of(newest_options(store), {})
    foreign = own_store(library, tmp_path / "foreign", "comparator")
    newest_options(foreign).unlink()
    before = state(foreign)
    with pytest.raises(UserError, match="another comparator"):
        rehearse_store(library, files, foreign, lambda plan: None)
    assert state(foreign) == before


def test_user_store_refuses_tables_in_several_folders(
    rehearse: Callable[..., StoreRehearsal], library: Path, tmp_path: Path
) -> None:
    store = own_store(library, tmp_path / "store", "paths")
    assert list((tmp_path / "store-second").glob("*.sst"))
    assert "several folders" in refusal(rehearse, store)


def test_user_store_refuses_a_store_of_a_newer_version(
    rehearse: Callable[..., StoreRehearsal], installed: Path, store: Path
) -> None:
    oldest = installed_engines(installed)[0]
    if oldest.record.version == DEFAULT_VERSION:
        pytest.skip("one version is installed")
    assert "older" in refusal(rehearse, store, library=oldest.library)


def test_user_store_refuses_other_families(library: Path, store: Path, tmp_path: Path) -> None:
    more = make_store(library, tmp_path / "store", THREE)
    for files, folder in ((store, more), (more, store)):
        with pytest.raises(UserError, match="logs, blobs"):
            rehearse_store(library, files_of(newest_options(files), {}), folder, lambda _: None)


def test_user_store_refuses_too_little_space(library: Path, tmp_path: Path) -> None:
    store = make_store(library, tmp_path / "store")
    with (store / "000999.log").open("wb") as log:
        log.truncate(1 << 42)
    with pytest.raises(UserError, match="free some space"):
        rehearse_store(library, files_of(newest_options(store), {}), store, lambda _: None)
    assert len(list(tmp_path.iterdir())) == 2


def test_user_store_refuses_links_and_folders_without_a_store(
    rehearse: Callable[..., StoreRehearsal], library: Path, store: Path, tmp_path: Path
) -> None:
    def refused(folder: Path) -> str:
        files = files_of(newest_options(store), {})
        return refusal(lambda: rehearse_store(library, files, folder, lambda _: None))

    (tmp_path / "link").symlink_to(store)
    assert str(store) in refused(tmp_path / "link")
    assert "no such folder" in refused(tmp_path / "missing")
    assert "no store" in refused(tmp_path)
    linked = make_store(library, tmp_path / "linked")
    table = next(linked.glob("*.sst"))
    table.rename(tmp_path / "elsewhere")
    table.symlink_to(tmp_path / "elsewhere")
    assert "is a link" in refused(linked)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user for a while")
def test_user_store_refuses_a_folder_without_permission(store: Path, library: Path) -> None:
    files = files_of(newest_options(store), {})
    mode = store.stat().st_mode
    store.chmod(0o700)
    os.seteuid(FOREIGN)
    try:
        with pytest.raises(UserError, match="run lsmtune as the user"):
            rehearse_store(library, files, store, lambda _: None)
    finally:
        os.seteuid(0)
        store.chmod(mode)


def test_user_store_copies_logs_of_another_folder(library: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    store = make_store(library, tmp_path / "store", {"default": f"wal_dir={tmp_path}/logs"})
    before, logs = state(store), state(tmp_path / "logs")
    plans: list[StorePlan] = []
    found = rehearse_store(library, files_of(newest_options(store), {}), store, plans.append)
    assert found.passed
    assert found.replaced == ("wal_dir",)
    assert found.tables == 3  # two of the store, one of the records in the log
    assert plans[0].copied_bytes >= sum(size for size, *_ in logs.values())
    assert (state(store), state(tmp_path / "logs")) == (before, logs)


def test_user_store_that_is_a_mount_point_has_the_copy_inside(
    rehearse: Callable[..., StoreRehearsal], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_mount", lambda path: path == store)
    before = sorted(store.iterdir())
    found = rehearse(store)
    assert found.plan.place == str(store)
    assert sorted(store.iterdir()) == before


def test_user_store_removes_only_copies_of_dead_processes(
    rehearse: Callable[..., StoreRehearsal], library: Path, tmp_path: Path
) -> None:
    store = make_store(library, tmp_path / "store")
    make = (
        "import sys; from pathlib import Path; from lsmtune.system.workdir import create_workdir;"
    )
    make += "create_workdir(Path(sys.argv[1]), 'lsmtune-rehearsal-dead')"
    subprocess.run([sys.executable, "-c", make, str(tmp_path)], check=True)
    alive = create_workdir(tmp_path, "lsmtune-rehearsal-alive")
    (tmp_path / "lsmtune-rehearsal-mine").mkdir()
    assert rehearse_store(
        library, files_of(newest_options(store), {}), store, lambda _: None
    ).passed
    left = {path.name for path in tmp_path.glob("lsmtune-rehearsal-*")}
    assert left == {alive.name, "lsmtune-rehearsal-mine"}
