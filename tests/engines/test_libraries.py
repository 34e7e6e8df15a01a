"""An installation of a library is complete and proven, or leaves nothing behind."""

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.jars import VERSION, build, fetch_from, pack, pinned, serving
from lsmtune.engines.libraries.install import Installation, Sources, install
from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    Installed,
    default_engine,
    engines_folder,
    installed_engines,
    load_pins,
)
from lsmtune.engines.libraries.natives import platform_name
from lsmtune.engines.libraries.proof import prove
from lsmtune.errors import UserError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
SHA256_DIGITS = 64
PLATFORMS = {"linux64", "linux64-musl", "linux-aarch64", "linux-aarch64-musl"}


@pytest.fixture(scope="module")
def library() -> bytes:
    return build()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "engines"


@pytest.fixture
def jar(tmp_path: Path, library: bytes) -> Path:
    return pack(tmp_path / "good.jar", library)


def trusted(folder: Path, sources: Sources, version: str = VERSION) -> Installation:
    return install(version, folder, sources, lambda _: None, trust=True)


def refused(folder: Path, sources: Sources, version: str = VERSION, trust: bool = True) -> str:
    """The one sentence about an installation that fails and leaves nothing."""
    with pytest.raises(UserError) as caught:
        install(version, folder, sources, lambda _: None, trust=trust)
    message = str(caught.value)
    assert message.startswith(f"rocksdb@{version}: ")
    assert "\n" not in message
    assert not folder.exists() or list(folder.iterdir()) == []
    return message


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_only_the_library_and_its_record_are_kept(folder: Path, jar: Path, library: bytes) -> None:
    sha256 = hashlib.sha256(library).hexdigest()
    steps: list[str] = []
    sources = serving(jar, pinned(jar, library_sha256=sha256))
    done = install(VERSION, folder, sources, steps.append, trust=False)
    name = f"rocksdb-{VERSION}-{sha256[:12]}"
    assert left(folder) == ["engine.json", "librocksdb.so", name]
    assert done.is_new
    assert installed_engines(folder) == [done.engine]
    assert done.engine.library.read_bytes() == library
    assert done.engine.document(default=True) == {
        "name": "rocksdb", "version": VERSION, "source": f"org.rocksdb:rocksdbjni:{VERSION}",
        "jar_sha256": hashlib.sha256(jar.read_bytes()).hexdigest(), "sha256": sha256,
        "pinned": True, "path": str(folder / name / "librocksdb.so"), "default": True,
    }  # fmt: skip
    assert len(steps) == len(["download", "check"])


def test_what_is_installed_is_not_downloaded_again(folder: Path, jar: Path) -> None:
    first = trusted(folder, serving(jar))

    def fetch(version: str, folder: Path) -> Path:
        raise AssertionError

    again = trusted(folder, Sources(fetch, {}))
    assert (again.engine, again.is_new) == (first.engine, False)


def test_a_version_without_pin_needs_trust(folder: Path, jar: Path) -> None:
    assert "add trust" in refused(folder, serving(jar), trust=False)
    assert not trusted(folder, serving(jar)).engine.record.pinned


@pytest.mark.parametrize("trust", [True, False])
def test_a_pin_is_compared_in_any_case(
    folder: Path, jar: Path, library: bytes, trust: bool
) -> None:
    right = hashlib.sha256(library).hexdigest()
    wrong_jar = serving(jar, pinned(jar, jar_sha256="0" * 64, library_sha256=right))
    assert "SHA-256 of the jar" in refused(folder, wrong_jar, trust=trust)
    wrong_library = serving(jar, pinned(jar, library_sha256="0" * 64))
    assert "SHA-256 of the library" in refused(folder, wrong_library, trust=trust)


def test_a_library_that_was_trusted_does_not_count_for_a_pin(
    folder: Path, tmp_path: Path, jar: Path, library: bytes
) -> None:
    other = pack(tmp_path / "other.jar", library + b"\0")
    earlier = trusted(folder, serving(other)).engine
    sha256 = hashlib.sha256(library).hexdigest()
    now = trusted(folder, serving(jar, pinned(jar, library_sha256=sha256)))
    assert now.is_new
    assert installed_engines(folder) == [earlier, now.engine]
    assert default_engine([earlier, now.engine]) == now.engine


def damages(jar: Path) -> Iterator[bytes]:
    """The jar, damaged in different places."""
    content = jar.read_bytes()
    at = content.index(b"librocksdbjni") + 200
    yield b""
    yield b"<html>an error page</html>"
    yield content[: len(content) // 2]
    yield content[:at] + bytes(100) + content[at + 100 :]
    yield content[:at] + content[at + 100 :]


def test_a_damaged_jar(folder: Path, tmp_path: Path, jar: Path) -> None:
    damaged = tmp_path / "damaged.jar"
    for content in damages(jar):
        damaged.write_bytes(content)
        assert "the jar is damaged" in refused(folder, serving(damaged))


def test_a_jar_without_natives(folder: Path, tmp_path: Path, library: bytes) -> None:
    jar = pack(tmp_path / "none.jar", None)
    assert "no native library" in refused(folder, serving(jar))
    jar = pack(tmp_path / "foreign.jar", library, "linux-s390x")
    assert f"no library librocksdbjni-{platform_name()}.so" in refused(folder, serving(jar))


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("LOSES", "100 of 1000 records"),
        ("ABORTS", "SIGABRT"),
        ("REFUSES", "IO error: it does not open"),
    ],
)
def test_a_library_that_does_not_work(folder: Path, tmp_path: Path, fault: str, word: str) -> None:
    jar = pack(tmp_path / "broken.jar", build(fault))
    assert word in refused(folder, serving(jar))


def test_a_library_that_hangs(tmp_path: Path) -> None:
    library = tmp_path / "library.so"
    library.write_bytes(build("HANGS"))
    with pytest.raises(UserError, match="does not end"):
        prove(library, VERSION, tmp_path, limit_s=0.5)


def test_a_library_of_another_version(folder: Path, tmp_path: Path) -> None:
    jar = pack(tmp_path / "other.jar", build(version="9.9.8"))
    assert "is RocksDB 9.9.8" in refused(folder, serving(jar))


def test_a_packaging_that_was_repeated(folder: Path, jar: Path) -> None:
    done = trusted(folder, serving(jar), f"{VERSION}.1")
    assert done.engine.record.version == f"{VERSION}.1"


def test_a_library_without_the_c_api(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.c"
    empty.write_text("int nothing;\n")
    shared = tmp_path / "empty.so"
    subprocess.run(["cc", "-shared", "-o", shared, empty], check=True)
    jar = pack(tmp_path / "empty.jar", shared.read_bytes())
    assert "no function rocksdb_options_create" in refused(folder, serving(jar))
    jar = pack(tmp_path / "text.jar", b"not a library")
    assert "cannot load it" in refused(folder, serving(jar))


def test_no_network(folder: Path) -> None:
    def fetch(version: str, folder: Path) -> Path:
        folder.mkdir()
        (folder / "half").write_bytes(b"half a jar")
        raise UserError("cannot download")

    assert "cannot download" in refused(folder, Sources(fetch, {}))


@pytest.mark.parametrize(
    "version", ["", "11", "11.8", "11.8.1-SNAPSHOT", "11.8.1\n", "../../x", "LATEST"]
)
def test_what_is_no_version(folder: Path, jar: Path, version: str) -> None:
    with pytest.raises(UserError, match="three numbers") as caught:
        trusted(folder, serving(jar), version)
    assert "\n" not in str(caught.value)
    assert not folder.exists()


def test_two_installations_at_once(folder: Path, jar: Path) -> None:
    others: list[Installation] = []

    def fetch(version: str, place: Path) -> Path:
        if not others:
            others.append(trusted(folder, serving(jar)))
        return fetch_from(jar)(version, place)

    done = trusted(folder, Sources(fetch, {}))
    assert (done.is_new, others[0].is_new) == (False, True)
    assert done.engine == others[0].engine
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("damaged", ["librocksdb.so", "engine.json"])
def test_an_installation_that_was_damaged_is_told(folder: Path, jar: Path, damaged: str) -> None:
    engine = trusted(folder, serving(jar)).engine
    (engine.folder / damaged).write_bytes(b"{}")
    with pytest.raises(UserError, match=f"{damaged}: .*remove the folder"):
        trusted(folder, serving(jar))
    (engine.folder / damaged).unlink()
    with pytest.raises(UserError, match=f"{damaged}: cannot read"):
        trusted(folder, serving(jar))


def test_the_default_is_the_usual_version_or_the_newest(folder: Path, jar: Path) -> None:
    one = trusted(folder, serving(jar)).engine

    def of(version: str) -> Installed:
        return replace(one, record=one.record.model_copy(update={"version": version}))

    assert default_engine([]) is None
    assert default_engine([of("9.11.2"), of("10.1.3")]) == of("10.1.3")
    assert default_engine([of(DEFAULT_VERSION), of("99.0.0")]) == of(DEFAULT_VERSION)


def test_versions_are_in_the_order_of_their_numbers(folder: Path, tmp_path: Path) -> None:
    for version in ("10.1.0", "9.10.0", "9.9.0"):
        trusted(folder, serving(pack(tmp_path / "a.jar", build(version=version))), version)
    found = [engine.record.version for engine in installed_engines(folder)]
    assert found == ["9.9.0", "9.10.0", "10.1.0"]


def test_all_pins_are_complete() -> None:
    pins = load_pins()
    assert DEFAULT_VERSION in pins
    digests = [pin.jar for pin in pins.values()]
    for pin in pins.values():
        assert set(pin.libraries) == PLATFORMS
        digests += pin.libraries.values()
    assert len(set(digests)) == len(digests)
    assert all(len(one) == SHA256_DIGITS and int(one, 16) for one in digests)


@pytest.mark.parametrize(
    ("machine", "has_glibc", "name"),
    [
        ("x86_64", True, "linux64"),
        ("x86_64", False, "linux64-musl"),
        ("aarch64", True, "linux-aarch64"),
        ("aarch64", False, "linux-aarch64-musl"),
    ],
)
def test_the_platform_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, machine: str, has_glibc: bool, name: str
) -> None:
    def confstr(_: str) -> str:
        if not has_glibc:
            raise ValueError
        return "glibc 2.36"

    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(os, "confstr", confstr)
    assert name in PLATFORMS
    assert platform_name() == name


def test_a_machine_without_libraries(
    folder: Path, jar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert "x86_64 or aarch64" in refused(folder, serving(jar))


def test_the_folder_of_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert engines_folder() == tmp_path / "lsmtune" / "engines"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert engines_folder() == tmp_path / ".cache" / "lsmtune" / "engines"
