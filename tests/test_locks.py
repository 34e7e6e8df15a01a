"""The lock files: the versions of constraints.txt with the SHA-256 of each file, and no address."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
_PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^\s;\\]+)(?P<where> ; [^\\]+)?")


def pins(file: Path) -> set[tuple[str, str, str]]:
    """Name, version and condition of each package in a file."""
    lines = [line for line in file.read_text().splitlines() if line[:1] not in " #"]
    found = [_PIN.match(line) for line in lines]
    assert all(found), file.name
    return {(f["name"], f["version"], (f["where"] or "").strip()) for f in found if f is not None}


def named(requirements: list[str]) -> set[str]:
    """The names of packages as lock files write them, without lsmtune itself."""
    names = {re.split(r"[^\w.-]", each)[0] for each in requirements}
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names} - {"lsmtune"}


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.name)
def test_a_lock_has_the_versions_of_the_constraints(file: Path) -> None:
    assert pins(file) <= pins(ROOT / "constraints.txt")


@pytest.mark.parametrize("file", LOCKS, ids=lambda file: file.name)
def test_each_package_of_a_lock_has_hashes_and_no_address(file: Path) -> None:
    text = re.sub(r"(?m)^#.*\n", "", file.read_text())
    assert "://" not in text
    entries = text.replace("\\\n", " ").splitlines()
    assert len(entries) == len(pins(file))
    for entry in entries:
        assert re.search(r"(\s+--hash=sha256:[0-9a-f]{64})+\s*$", entry), entry


def test_all_requirements_are_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    native = tomllib.loads((ROOT / "native" / "lsmsim-py" / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    system, build = (each["build-system"]["requires"] for each in (project, native))
    needed = [*project["project"]["dependencies"], *extras["myrocks"], *extras["dev"], *system]
    locked = {name for name, _, _ in pins(ROOT / "requirements.lock")}
    assert named(needed) <= locked
    native_locked = {name for name, _, _ in pins(ROOT / "requirements-native.lock")}
    assert named(build) <= native_locked
    pinned = {name for name, _, _ in pins(ROOT / "constraints.txt")}
    assert named([*needed, *(each for extra in extras.values() for each in extra)]) <= pinned
    assert build == [f"{name}=={version}" for name, version, _ in pins(ROOT / "constraints.txt")
                     if name == "maturin"]  # fmt: skip
