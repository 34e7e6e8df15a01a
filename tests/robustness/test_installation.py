"""An installation that is interrupted, killed or out of space leaves nothing that stays."""

import os
import shutil
import signal
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from user import disk, end

from fakes.forks import Program
from fakes.jars import VERSION, build, pack, settings
from fakes.patience import eventually
from fakes.steps import run_steps
from lsmtune.engines.libraries.installed import installed_engines

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
KIB = 1 << 10


@dataclass
class Site:
    """A folder with a jar, and the folder of caches."""

    folder: Path
    cache: Path
    jar: Path

    @property
    def engines(self) -> Path:
        return self.cache / "lsmtune" / "engines"

    @property
    def hold(self) -> Path:
        """A file that the download makes when half of the jar is written."""
        return self.folder / "hold"

    def start(self, *, held: bool = False) -> Program:
        told = settings(self.jar, self.hold if held else None)
        return Program(
            ["engines", "install", f"rocksdb@{VERSION}", "--trust"], self.folder,
            os.environ | told | {"XDG_CACHE_HOME": str(self.cache)},
        )  # fmt: skip

    def left(self) -> list[str]:
        return sorted(path.name for path in self.engines.glob("*"))

    def check_works(self) -> None:
        """The same command installs it, and removes what was left."""
        code, _, err = end(self.start())
        assert code == 0, err
        assert len(self.left()) == 1
        assert self.left()[0].startswith(f"rocksdb-{VERSION}-")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, tmp_path / "cache", pack(tmp_path / "a.jar", build()))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_download_that_is_interrupted(site: Site, how: signal.Signals) -> None:
    running = site.start(held=True)
    assert eventually(site.hold.exists)
    running.send_signal(how)
    code, out, err = end(running)
    assert out == ""
    if how is signal.SIGKILL:
        assert (code, len(site.left())) == (-how, 1)
    else:
        assert (code, site.left()) == (1, [])
        assert err.splitlines()[-1].startswith("lsmtune: interrupted")
    site.check_works()


def test_a_check_that_is_interrupted(site: Site) -> None:
    works = site.jar.read_bytes()
    pack(site.jar, build("HANGS"))
    running = site.start()
    assert eventually(lambda: bool(list(site.engines.glob("install-*/store/LOG"))))
    running.send_signal(signal.SIGINT)
    code, _, err = end(running)
    assert (code, site.left()) == (1, []), err
    site.jar.write_bytes(works)
    site.check_works()


@pytest.mark.slow
def test_killed_before_each_change_it_is_whole_or_not_there(site: Site) -> None:
    command = ["engines", "install", f"rocksdb@{VERSION}", "--trust"]
    environment = settings(site.jar) | {"XDG_CACHE_HOME": str(site.cache)}
    for number in count(1):
        shutil.rmtree(site.cache, ignore_errors=True)
        site.cache.mkdir()
        killed = run_steps(command, site.cache, environment, killed_before=number)
        for engine in installed_engines(site.engines):
            engine.check()
        again = run_steps(command, site.cache, environment)
        assert (again.code, len(site.left())) == (0, 1), (killed.next, again.err, site.left())
        if killed.code == 0:
            break  # it made fewer changes
        assert killed.code == -signal.SIGKILL, killed.err
    assert number > len(["work directory", "jar", "library", "check", "record", "its name"])


@pytest.mark.parametrize("size_bytes", [16 * KIB, 64 * KIB])
def test_a_full_disk(site: Site, size_bytes: int) -> None:
    """There is no room for the jar, and for the jar but not for its library."""
    library = build()
    pack(site.jar, library + bytes(200 * KIB) if size_bytes > 16 * KIB else os.urandom(64 * KIB))
    with disk(site.cache, size_bytes):
        code, out, err = end(site.start())
        assert (code, out, site.left()) == (2, "", []), err
        assert os.strerror(28) in err.splitlines()[-1]
