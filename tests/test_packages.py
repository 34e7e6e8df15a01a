"""What the wheels contain.

The wheel of lsmtune is built here, which takes half a second. The native one takes almost a
minute, so `make wheels` checks it, and `.ci/run` calls that. A wheel in dist/ may be older than
the sources, so it is not read here.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

from lsmtune import __version__

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "native"
LICENCES = NATIVE / "lsmsim-py" / "THIRD-PARTY-LICENSES.txt"
MODULE = "lsmsim/lsmsim.abi3.so"
Members = dict[str, bytes]


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = spec_from_file_location("check_wheels", ROOT / "scripts" / "check_wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(path: Path, members: Members) -> Path:
    with ZipFile(path, "w") as wheel:
        for name, content in members.items():
            wheel.writestr(name, content)
    return path


def changed(path: Path, folder: Path, change: Callable[[Members], object]) -> Path:
    """The same wheel with a fault."""
    with ZipFile(path) as wheel:
        members = {name: wheel.read(name) for name in wheel.namelist()}
    change(members)
    return written(folder / path.name, members)


@pytest.fixture(scope="module")
def lsmtune_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def lsmsim_wheel(check: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The names and licence texts that the real one has, and an empty module."""
    version = check.version_of("lsmsim")
    texts = f"lsmsim-{version}.dist-info/licenses"
    name = f"lsmsim-{version}-cp311-abi3-manylinux_2_28_x86_64.whl"
    return written(
        tmp_path_factory.mktemp("native") / name,
        {
            MODULE: b"\x7fELF",
            f"{texts}/LICENSE": (ROOT / "LICENSE").read_bytes(),
            f"{texts}/{LICENCES.name}": LICENCES.read_bytes(),
        },
    )


def test_every_crate_is_in_the_licence_texts() -> None:
    """To write them again: python scripts/licences.py."""
    lock = tomllib.loads((NATIVE / "Cargo.lock").read_text(encoding="utf-8"))
    crates = {f"{each['name']} {each['version']}" for each in lock["package"] if "source" in each}
    assert len(crates) > 50
    assert crates - set(re.findall(r"^  (\S+ \S+)$", LICENCES.read_text(), re.MULTILINE)) == set()


def test_the_wheels_are_complete_and_contain_nothing_else(
    check: ModuleType, lsmtune_wheel: Path, lsmsim_wheel: Path
) -> None:
    assert lsmtune_wheel.name.startswith(f"lsmtune-{__version__}-")
    assert list(check.faults(lsmtune_wheel)) == []
    assert list(check.faults(lsmsim_wheel)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda members: members.pop("lsmtune/report/page.css"),
        lambda members: members.pop("lsmtune_reproductions/recipes/page.toml"),
        lambda members: members.pop(f"lsmtune-{__version__}.dist-info/licenses/LICENSE"),
        lambda members: members.update({"lsmtune/librocksdb.so.11": b""}),
        lambda members: members.update({"lsmtune/driver": b"\x7fELF"}),
        lambda members: members.update({"lsmtune/data/a.zip": b"PK\x03\x04"}),
        lambda members: members.update({"lsmtune/data/a.json": str(ROOT).encode()}),
        lambda members: members.update({"lsmtune/data/a.json": b"/home/somebody"}),
    ],
)
def test_faults_of_lsmtune(
    check: ModuleType, lsmtune_wheel: Path, tmp_path: Path, change: Callable[[Members], object]
) -> None:
    assert len(list(check.faults(changed(lsmtune_wheel, tmp_path, change)))) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda members: members.pop(MODULE),
        lambda members: members.pop(next(each for each in members if LICENCES.name in each)),
        lambda members: members.update({MODULE: b"\x7fELF _ZN7rocksdb6DBImpl"}),
        lambda members: members.update({MODULE: b"\x7fELF /root/.cargo/registry"}),
        lambda members: members.update({"lsmsim.libs/libstdc++.so.6": b"\x7fELF"}),
    ],
)
def test_faults_of_lsmsim(
    check: ModuleType, lsmsim_wheel: Path, tmp_path: Path, change: Callable[[Members], object]
) -> None:
    assert len(list(check.faults(changed(lsmsim_wheel, tmp_path, change)))) == 1


def test_another_version_is_a_fault(check: ModuleType, lsmsim_wheel: Path, tmp_path: Path) -> None:
    path = changed(lsmsim_wheel, tmp_path, dict)
    other = path.rename(path.with_name("lsmsim-9.9.9-cp311-abi3-manylinux_2_28_x86_64.whl"))
    assert any("9.9.9" in fault for fault in check.faults(other))


def test_both_wheels_have_to_be_there(
    check: ModuleType, lsmtune_wheel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([lsmtune_wheel]) == 1
    assert "lsmsim" in capsys.readouterr().out
