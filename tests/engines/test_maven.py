"""What Maven answers becomes a jar or one sentence; and once a real download, where there is one.

Only the last test uses the network.
"""

import errno
import io
import json
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from jgo.maven import MavenContext

from fakes.jars import FOUND, MISSING, answer
from fakes.libraries import put
from lsmtune.engines.libraries.install import Sources, install
from lsmtune.engines.libraries.installed import DEFAULT_VERSION, load_pins
from lsmtune.engines.libraries.maven import fetch_jar
from lsmtune.errors import UserError

CONTENT = b"a jar"
VERSIONS = ["9.9.9", "10.1.0", "10.2.0", "11.0.0", "11.1.0", "11.2.0"]
METADATA = (
    "<metadata><versioning><versions>"
    + "".join(f"<version>{version}</version>" for version in VERSIONS)
    + "</versions></versioning></metadata>"
)
Answer = Callable[[str], requests.Response]


def registry(url: str) -> requests.Response:
    """One that has only the newest version, but lists the others too."""
    if url.endswith("maven-metadata.xml"):
        return answer(FOUND, METADATA.encode())
    if url.endswith(f"{VERSIONS[-1]}.jar"):
        return answer(FOUND, CONTENT)
    return answer(MISSING, b"")


def broken(url: str) -> requests.Response:
    """One that has nothing."""
    return answer(MISSING, b"")


def unreachable(url: str) -> requests.Response:
    raise requests.ConnectionError(f"no route to {url}")


def silent(url: str) -> requests.Response:
    raise requests.ReadTimeout(url)


def ending(url: str) -> requests.Response:
    """One whose connection ends after half of the jar."""

    class Half(io.BytesIO):
        def read(self, size: int | None = None) -> bytes:
            if (piece := super().read(2)) != b"":
                return piece
            raise requests.exceptions.ChunkedEncodingError

    response = answer(FOUND, CONTENT)
    response.raw = Half(CONTENT)
    return response


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def ask(
    no_proxy: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[Answer, str], Path]:
    def fetch(registry: Answer, version: str) -> Path:
        monkeypatch.setattr(requests, "request", lambda _, url, **__: registry(url))
        return fetch_jar(version, tmp_path / "maven")

    return fetch


def test_the_jar_is_in_the_folder(ask: Callable[[Answer, str], Path], tmp_path: Path) -> None:
    jar = ask(registry, VERSIONS[-1])
    assert jar.is_relative_to(tmp_path / "maven")
    assert jar.read_bytes() == CONTENT


def refused(ask: Callable[[Answer, str], Path], registry: Answer, version: str) -> str:
    with pytest.raises(UserError) as caught:
        ask(registry, version)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("registry", [unreachable, silent, ending, broken])
def test_a_registry_without_an_answer(ask: Callable[[Answer, str], Path], registry: Answer) -> None:
    message = refused(ask, registry, VERSIONS[-1])
    assert urlsplit(MavenContext().remote_repos["central"]).hostname in message
    assert "http" not in message


@pytest.mark.usefixtures("no_proxy")
def test_a_proxy_that_refuses_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def message(proxy: str) -> str:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with pytest.raises(UserError) as caught:
            fetch_jar(DEFAULT_VERSION, tmp_path)
        return str(caught.value)

    with socket.socket() as closed:  # bound, but it does not listen
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        refusal = os.strerror(errno.ECONNREFUSED)
        shown = message(f"http://{address}")
        hidden = message(f"http://user:secret@{address}")
    assert all(word in shown for word in ("HTTPS_PROXY", address, refusal))
    assert all(word in hidden for word in ("HTTPS_PROXY", refusal))
    assert "secret" not in hidden + message("http://user:secret@:bad")
    assert "garbage" in message("garbage://x")
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(requests, "request", lambda _, url, **__: unreachable(url))
    assert "HTTPS_PROXY" not in message("http://unused")


def test_an_unknown_version(
    ask: Callable[[Answer, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    message = refused(ask, registry, "8.10.99")
    assert ", ".join(VERSIONS[-5:]) in message
    assert "`lsmtune engines install rocksdb@8.10.2`" in message
    put(tmp_path / "cache", "8.10.7", pinned=False)
    assert "`--rocksdb 8.10.7`" in refused(ask, registry, "8.10.99")
    assert "lists this version" in refused(ask, registry, VERSIONS[0])


def test_what_jgo_logs_is_not_printed(
    ask: Callable[[Answer, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError):
        ask(broken, VERSIONS[-1])
    logging.getLogger("jgo.maven").warning("a warning")
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_a_real_installation(tmp_path: Path) -> None:
    def fetch(version: str, folder: Path) -> Path:
        try:
            return fetch_jar(version, folder)
        except UserError as error:
            if isinstance(error.__cause__, requests.RequestException):
                pytest.skip("Maven cannot be reached")
            raise

    folder = tmp_path / "engines"
    sources = Sources(fetch, load_pins())
    done = install(DEFAULT_VERSION, folder, sources, lambda _: None, trust=False)
    assert done.is_new
    assert done.engine.record.pinned
    done.engine.check()
    record = json.loads((done.engine.folder / "engine.json").read_text())
    assert record["version"] == DEFAULT_VERSION
    files = {path.name for path in folder.rglob("*") if path.is_file()}
    assert files == {"librocksdb.so", "engine.json"}
