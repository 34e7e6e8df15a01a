"""The certificates of the hosts: a CA, and one key and certificate per role.

Dask accepts each certificate that the CA signed, for every role and from every host. The
certificate of a client cannot be used by a scheduler or a worker.
"""

import os
import stat
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from lsmtune.errors import UserError
from lsmtune.hosts.extra import need_extra
from lsmtune.system.write import remove_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, ExtendedKeyUsage
    from distributed import Security

Role = Literal["scheduler", "worker", "client"]
ROLES: tuple[Role, ...] = get_args(Role)
VALID = timedelta(days=365)
_BEFORE = timedelta(days=1)
"""A certificate is valid a little earlier: the clocks of the hosts may differ."""
_CA = "ca"
_RENEW = "`lsmtune hosts renew DIR` makes new ones"


@dataclass(frozen=True, slots=True)
class Made:
    """A folder with certificates, and the moment when they expire."""

    folder: Path
    expires: datetime


def files_of(role: Role) -> tuple[str, str, str]:
    """Return the names of the files that a host with this role needs."""
    return f"{_CA}.pem", f"{role}.pem", f"{role}-key.pem"


def make(folder: Path) -> Made:
    """Make the CA and all certificates in a new or empty folder, which only its owner can read.

    UserError if the folder contains files, or cannot be written.
    """
    need_extra()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if any(folder.iterdir()):
            raise UserError(
                f"{folder}: the folder is not empty; name a new folder, or renew the certificates "
                "in it with `lsmtune hosts renew`"
            )
        folder.chmod(0o700)
        return _write_all(folder, _new_key())
    except OSError as error:
        raise _unwritable(folder, error) from error


def renew(folder: Path) -> Made:
    """Replace all certificates; hosts with the files from before can still connect.

    The key of the CA stays, so old and new certificates accept each other until the old ones
    expire. UserError if the folder has no CA.
    """
    need_extra()
    key = _read_key(folder / f"{_CA}-key.pem")
    _check_private(folder / f"{_CA}-key.pem")
    try:
        return _write_all(folder, key)
    except OSError as error:
        raise _unwritable(folder, error) from error


def security(folder: Path, role: Role) -> "Security":
    """Return what Dask needs to use the certificate of a role, for encrypted connections only.

    UserError if a file is missing or readable by others, if the certificate has expired, or if
    key, certificate and CA do not belong together.
    """
    need_extra()
    import ssl

    from distributed import Security

    ca, certificate, key = (folder / name for name in files_of(role))
    _check(ca, certificate, key)
    files = {f"tls_{role}_cert": str(certificate), f"tls_{role}_key": str(key)}
    return Security(
        require_encryption=True,
        tls_ca_file=str(ca),
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **files,
    )


def _check(ca_file: Path, certificate_file: Path, key_file: Path) -> None:
    from cryptography.exceptions import InvalidSignature

    ca, certificate = _read_certificate(ca_file), _read_certificate(certificate_file)
    _check_private(key_file)
    if _read_key(key_file).public_key() != certificate.public_key():
        raise UserError(
            f"{key_file}: not the key of {certificate_file.name}; copy both files of one "
            "`lsmtune hosts init`"
        )
    try:
        certificate.verify_directly_issued_by(ca)
    except (ValueError, InvalidSignature) as error:
        raise UserError(
            f"{certificate_file}: not signed by {ca_file.name} of the same folder; copy the files "
            "of one `lsmtune hosts init`"
        ) from error
    for file, one in ((ca_file, ca), (certificate_file, certificate)):
        if one.not_valid_after_utc < datetime.now(UTC):
            raise UserError(f"{file}: expired on {one.not_valid_after_utc:%Y-%m-%d}; {_RENEW}")
        if one.not_valid_before_utc > datetime.now(UTC):
            raise UserError(
                f"{file}: not valid before {one.not_valid_before_utc:%Y-%m-%d %H:%M} UTC; check "
                "the clock of this host"
            )


def _write_all(folder: Path, ca_key: "EllipticCurvePrivateKey") -> Made:
    ca = _ca_certificate(ca_key)
    _write_key(folder / f"{_CA}-key.pem", ca_key)
    _write_certificate(folder / f"{_CA}.pem", ca)
    for role in ROLES:
        key = _new_key()
        _write_key(folder / f"{role}-key.pem", key)
        _write_certificate(folder / f"{role}.pem", _role_certificate(role, key, ca, ca_key))
    return Made(folder, ca.not_valid_after_utc)


def _new_key() -> "EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _ca_certificate(key: "EllipticCurvePrivateKey") -> "Certificate":
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import NameOID

    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lsmtune hosts")])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _role_certificate(
    role: Role,
    key: "EllipticCurvePrivateKey",
    ca: "Certificate",
    ca_key: "EllipticCurvePrivateKey",
) -> "Certificate":
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import NameOID

    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"lsmtune {role}")])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(ca.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ca.not_valid_before_utc)
        .not_valid_after(ca.not_valid_after_utc)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(_purposes(role), critical=False)
        .add_extension(issuer, critical=False)
        .sign(ca_key, hashes.SHA256())
    )


def _purposes(role: Role) -> "ExtendedKeyUsage":
    """Return the sides of a connection that the role may be; schedulers and workers are both."""
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    sides = [ExtendedKeyUsageOID.CLIENT_AUTH]
    if role != "client":
        sides.append(ExtendedKeyUsageOID.SERVER_AUTH)
    return x509.ExtendedKeyUsage(sides)


def _usage(*, signs: bool):  # type: ignore[no-untyped-def]
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs, key_cert_sign=signs, crl_sign=signs,
        content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _read_certificate(file: Path) -> "Certificate":
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(_read(file))
    except ValueError as error:
        raise UserError(f"{file}: not a certificate in PEM form; {_RENEW}") from error


def _read_key(file: Path) -> "EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    try:
        key = serialization.load_pem_private_key(_read(file), password=None)
    except (ValueError, TypeError) as error:
        raise UserError(f"{file}: not a key that `lsmtune hosts init` made") from error
    if not isinstance(key, EllipticCurvePrivateKey):
        raise UserError(f"{file}: not a key that `lsmtune hosts init` made")
    return key


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(
            f"{file}: cannot read this file: {error.strerror}; `lsmtune hosts init DIR` makes the "
            "certificates, and `lsmtune hosts init -h` says which files a host needs"
        ) from error


def _check_private(key_file: Path) -> None:
    mode = stat.S_IMODE(key_file.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserError(
            f"{key_file}: other users can read this key (mode {mode:04o}); allow only its owner: "
            f"chmod 600 {key_file}"
        )


def _write_key(file: Path, key: "EllipticCurvePrivateKey") -> None:
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    _write(file, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def _write_certificate(file: Path, certificate: "Certificate") -> None:
    from cryptography.hazmat.primitives.serialization import Encoding

    _write(file, certificate.public_bytes(Encoding.PEM))


def _write(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)  # mode 0600
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)
    except BaseException:
        remove_file(draft)
        raise


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(f"{folder}: cannot write the certificates: {error.strerror}")
