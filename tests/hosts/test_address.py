"""Addresses, and who is kept away from them."""

import ssl

import pytest

from lsmtune.errors import UserError
from lsmtune.hosts.address import (
    Address,
    UnreachableError,
    check_answers,
    check_safe,
    parse_address,
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("tls://10.0.0.1:8786", Address("tls", "10.0.0.1", 8786)),
        ("tcp://127.0.0.1:0", Address("tcp", "127.0.0.1", 0)),
        ("tls://[fd00::1]:8786", Address("tls", "fd00::1", 8786)),
        ("tls://db-host.example:1", Address("tls", "db-host.example", 1)),
    ],
)
def test_an_address_is_read_and_written(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert address.text == text


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("10.0.0.1:8786", "tls:// or tcp://"),
        ("alpha", "tls:// or tcp://"),
        ("http://10.0.0.1:1", "scheme http://"),
        ("TLS://10.0.0.1:1", "scheme TLS://"),
        ("tls://10.0.0.1", "port"),
        ("tls://[fd00::1]", "port"),
        ("tls://h:", "port"),
        ("tls://h:70000", "port '70000'"),
        ("tls://h:87x6", "port '87x6'"),
        ("tls://a b:1", ""),
        ("tls://user:pass@h:1", ""),
        ("tls://fd00::1:8786", ""),
        ("", ""),
    ],
)
def test_another_form_is_refused_with_the_mistake_and_an_example(text: str, wrong: str) -> None:
    with pytest.raises(UserError, match="tls://10") as error:
        parse_address(text)
    assert repr(text) in str(error.value)
    assert wrong in str(error.value)


@pytest.mark.parametrize("name", ["nosuch.invalid", "a..b", "a" * 70])
def test_a_name_that_is_no_host_is_named_and_may_exist_later(name: str) -> None:
    with pytest.raises(UnreachableError, match="unknown host") as error:
        check_answers(Address("tls", name, 8786), ssl.create_default_context())
    assert f"tls://{name}:8786" in str(error.value)
    with pytest.raises(UserError, match="unknown host"):
        safe(f"tcp://{name}:8786")


def safe(text: str, certificates: bool = False, insecure: bool = False) -> str | None:
    return check_safe(parse_address(text), has_certificates=certificates, insecure=insecure)


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:1", "tcp://[::1]:1", "tcp://localhost:1"])
def test_plain_tcp_is_allowed_on_the_loopback_interface(text: str) -> None:
    assert safe(text) is None


@pytest.mark.parametrize("text", ["tls://127.0.0.1:1", "tls://203.0.113.7:1", "tls://0.0.0.0:1"])
def test_tls_needs_certificates(text: str) -> None:
    assert safe(text, certificates=True) is None
    with pytest.raises(UserError, match="certificates"):
        safe(text)
    with pytest.raises(UserError, match="insecure"):
        safe(text, certificates=True, insecure=True)


@pytest.mark.parametrize("text", ["tcp://10.1.2.3:1", "tcp://192.168.0.1:1", "tcp://[fd00::1]:1"])
def test_plain_tcp_in_a_private_network_needs_insecure_and_warns(text: str) -> None:
    with pytest.raises(UserError, match="tls://"):
        safe(text)
    warning = safe(text, insecure=True)
    assert warning is not None
    assert text in warning


@pytest.mark.parametrize(
    "text", ["tcp://203.0.113.7:1", "tcp://8.8.8.8:1", "tcp://0.0.0.0:1", "tcp://[::]:1",
             "tcp://[2001:db8::1]:1", "tcp://100.64.0.1:1"],
)  # fmt: skip
def test_plain_tcp_beyond_private_networks_is_always_refused(text: str) -> None:
    for insecure in (False, True):
        with pytest.raises(UserError, match="tls://"):
            safe(text, insecure=insecure)


def test_plain_tcp_with_certificates_is_a_mistake() -> None:
    with pytest.raises(UserError, match="write tls://"):
        safe("tcp://127.0.0.1:1", certificates=True)
