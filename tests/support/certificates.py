"""A certificate authority of the test's own, and certificates that it signs."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """`file` is what a client trusts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name(
            [x509.NameAttribute(x509.NameOID.COMMON_NAME, f"authority {x509.random_serial_number()}")]
        )
        self.file = folder / "ca.pem"
        self.file.write_bytes(self._sign(self._name, self._key, True, (), 1).public_bytes(Encoding.PEM))

    def certificate(self, *names: str, hours: float = 1) -> tuple[Path, Path]:
        """The files of certificate and key. Names are host names or addresses; negative hours: it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
        stem = f"{names[0]}-{hours}"
        files = self._folder / f"{stem}.pem", self._folder / f"{stem}.key"
        files[0].write_bytes(self._sign(name, key, False, names, hours).public_bytes(Encoding.PEM))
        files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return files

    def _sign(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, authority: bool, names: tuple[str, ...], hours: float
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=48))
            .not_valid_after(now + dt.timedelta(hours=hours))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            # Python 3.13 and later demand these of every chain.
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        if authority:
            builder = builder.add_extension(_SIGNS_CERTIFICATES, critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_alternative(each) for each in names]), False)
        return builder.sign(self._key, hashes.SHA256())


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
