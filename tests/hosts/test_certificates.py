"""The certificates of the hosts: private, for a year, of one CA."""

import socket
import ssl
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lsmtune.errors import UserError
from lsmtune.hosts import certificates
from lsmtune.hosts.certificates import ROLES, Role, files_of, make, renew, security


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return make(tmp_path / "keys").folder


def contexts(folder: Path, role: Role) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The contexts of a role as the side that connects, and as the side that listens."""
    found = security(folder, role)
    return (
        found.get_connection_args(role)["ssl_context"],
        found.get_listen_args(role)["ssl_context"],
    )


def accepts(server: ssl.SSLContext, client: ssl.SSLContext) -> bool:
    """Whether both sides accept each other."""
    ours, theirs = socket.socketpair()
    problems: list[Exception] = []

    def serve() -> None:
        try:
            with server.wrap_socket(theirs, server_side=True) as secure:
                secure.sendall(b"x")
        except OSError as error:
            problems.append(error)
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(ours) as secure:
            received = secure.recv(1)
    except OSError:
        ours.close()
        received = b""
    thread.join()
    return received == b"x" and not problems


def test_folder_and_files_are_only_for_their_owner(keys: Path) -> None:
    assert mode(keys) == 0o700
    names = {name for role in ROLES for name in files_of(role)} | {"ca-key.pem"}
    assert {file.name for file in keys.iterdir()} == names
    assert {mode(file) for file in keys.iterdir()} == {0o600}


def test_certificates_are_valid_for_a_year(tmp_path: Path) -> None:
    made = make(tmp_path / "keys")
    left = made.expires - datetime.now(UTC)
    assert timedelta(days=364) < left <= timedelta(days=365)


@pytest.mark.parametrize("server", ["scheduler", "worker"])
@pytest.mark.parametrize("client", ROLES)
def test_the_roles_accept_each_other(keys: Path, server: Role, client: Role) -> None:
    assert accepts(contexts(keys, server)[1], contexts(keys, client)[0])


def test_a_client_cannot_pose_as_a_scheduler(keys: Path) -> None:
    assert not accepts(contexts(keys, "client")[1], contexts(keys, "worker")[0])


def test_another_ca_is_not_accepted(keys: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other").folder
    assert not accepts(contexts(keys, "scheduler")[1], contexts(other, "client")[0])
    assert not accepts(contexts(other, "scheduler")[1], contexts(keys, "client")[0])


def test_old_and_renewed_certificates_accept_each_other(keys: Path) -> None:
    old = contexts(keys, "client"), contexts(keys, "scheduler")
    before = (keys / "worker.pem").read_bytes()
    renew(keys)
    assert (keys / "worker.pem").read_bytes() != before
    new = contexts(keys, "client"), contexts(keys, "scheduler")
    for client, _ in (old[0], new[0]):
        for _, server in (old[1], new[1]):
            assert accepts(server, client)
    assert {mode(file) for file in keys.iterdir()} == {0o600}


def test_a_folder_with_files_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UserError, match="not empty"):
        make(tmp_path)
    with pytest.raises(UserError, match="ca-key"):
        renew(tmp_path)


def test_a_key_that_others_can_read_is_refused(keys: Path) -> None:
    (keys / "worker-key.pem").chmod(0o640)
    with pytest.raises(UserError, match="0640"):
        security(keys, "worker")


def test_a_missing_file_is_named(keys: Path) -> None:
    (keys / "client.pem").unlink()
    with pytest.raises(UserError, match=r"client\.pem"):
        security(keys, "client")


def test_files_of_two_folders_do_not_fit(keys: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other").folder
    (keys / "worker.pem").write_bytes((other / "worker.pem").read_bytes())
    with pytest.raises(UserError, match="not the key of"):
        security(keys, "worker")
    (keys / "worker-key.pem").write_bytes((other / "worker-key.pem").read_bytes())
    with pytest.raises(UserError, match=r"not signed by ca\.pem"):
        security(keys, "worker")


@pytest.mark.parametrize(
    ("valid", "before", "word"),
    [(timedelta(days=-1), timedelta(days=3), "expired"),
     (timedelta(days=3), timedelta(days=-1), "clock")],
)  # fmt: skip
def test_the_time_of_a_certificate_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, valid: timedelta, before: timedelta, word: str
) -> None:
    monkeypatch.setattr(certificates, "VALID", valid)
    monkeypatch.setattr(certificates, "_BEFORE", before)
    folder = make(tmp_path / "keys").folder
    with pytest.raises(UserError, match=word):
        security(folder, "worker")


def test_a_file_that_is_no_certificate_is_named(keys: Path) -> None:
    (keys / "ca.pem").write_text("nothing")
    with pytest.raises(UserError, match=r"ca\.pem.*PEM"):
        security(keys, "worker")
