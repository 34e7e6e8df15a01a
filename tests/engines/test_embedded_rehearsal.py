"""Rehearsals of embedded stores: settings that open them, and settings that do not."""

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from fakes.rig import Rig
from fakes.stores import NEEDS_STORES
from lsmtune.engines.base import Deployed, Places, Rehearses, Watch
from lsmtune.engines.libraries.installed import default_engine, installed_engines
from lsmtune.knobs.types import Settings
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import StudySettings
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.workloads import Workload

pytest.importorskip("lsmsim", reason="the native core is not built here")
pytestmark = NEEDS_STORES
STORES = ("rocksdb", "leveldb", "lmdb")
SMALL = Workload(num=5000, value_size=100, threads=2)


@pytest.fixture(scope="module")
def rig(on_disk: Path, installed: Path) -> Rig:
    usual = default_engine(installed_engines(installed))
    assert usual is not None
    spec = StudySettings(engine="embedded", workload=SMALL, scale="1", library=str(usual.library))
    return Rig("", on_disk, spec)


def rehearsed(rig: Rig, store: str, changes: Settings, *, new_store: bool = False) -> Rehearsal:
    base = rig.base | {"store": store}
    folder = rig.folder / f"rehearsal{len(list(rig.folder.glob('rehearsal*')))}"
    folder.mkdir()

    def text(names: Collection[str]) -> str:
        values = {name: changes.get(name, base[name]) for name in [*changes, "store"]}
        kept = {n: v if n in names else base[n] for n, v in values.items()}
        return "# a note\n" + "".join(f"{n} = {json.dumps(v)}\n" for n, v in kept.items())

    files = Deployed(
        exported=text(changes), undo=text([]), changed=tuple(changes), only=text, family="",
        new_store=new_store,
    )  # fmt: skip
    protocol = Protocol(quiet_s=0.05)
    spec = TrialSpec(
        settings=base, base_settings=base, workload=SMALL, protocol=protocol, seed=7
    )  # fmt: skip
    assert isinstance(rig.engine, Rehearses)
    places = Places(folder, rig.folder / "templates")
    watch = Watch(lambda phase: None)
    return rig.engine.rehearse(spec, rig.ground.base, files, places, watch)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("new_store", [False, True])
def test_rehearse_other_tables_passes(rig: Rig, store: str, new_store: bool) -> None:
    changes: Settings = {"block_size": 16384, "bloom_bits": 10, "compression_type": "none",
                         "write_buffer_size": 1 << 18}  # fmt: skip
    found = rehearsed(rig, store, changes, new_store=new_store)
    assert found.passed, found
    assert found.version.startswith(f"{store} ")
    assert (found.reader, found.new_store) == ("lsmtune", new_store)
    assert found.records >= (4000 if new_store else 2 * SMALL.num)
    assert len(found.remarks) == 1


def test_rehearse_another_store_is_a_new_one(rig: Rig) -> None:
    found = rehearsed(rig, "rocksdb", {"store": "lmdb", "block_size": 8192})
    assert found.passed
    assert found.new_store
    assert any("rocksdb" in remark for remark in found.remarks)


def test_rehearse_refused_settings_names_the_cause(rig: Rig) -> None:
    found = rehearsed(rig, "rocksdb", {"bloom_bits": 10, "block_size": 1 << 40})
    assert (found.failed, found.step, found.options) == ("exported", "open", ("block_size",))
    assert "block" in str(found.message)
