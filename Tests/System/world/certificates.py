"""Keys and certificates of the test world: a private authority and a server certificate for loopback names."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True)
class Files:
    """PEM files: what clients must trust, and what the server presents."""

    authority: Path
    certificate: Path
    key: Path


def write_signing_key(file):
    """The RSA key that signs ID tokens."""
    write_key(file, rsa.generate_private_key(public_exponent=65537, key_size=2048))


def make(directory):
    """An authority and, signed by it, a certificate for localhost, 127.0.0.1 and ::1."""
    directory.mkdir(exist_ok=True)
    files = Files(directory / "ca.pem", directory / "server.pem", directory / "server.key")
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name = name("oauthctl test authority")
    names = [x509.DNSName("localhost")] + [
        x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", "::1")]
    authority = (
        certificate(authority_name, authority_key.public_key(), authority_name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(key_usage(sign_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False))
    server = (
        certificate(name("localhost"), server_key.public_key(), authority_name)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False))
    for file, builder in ((files.authority, authority), (files.certificate, server)):
        signed = builder.sign(authority_key, hashes.SHA256())
        file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    write_key(files.key, server_key)
    return files


def name(common_name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def certificate(subject, key, issuer):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=30)))


def key_usage(sign_certificates):
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=sign_certificates, crl_sign=sign_certificates, encipher_only=False,
        decipher_only=False)


def write_key(file, key):
    file.touch(0o600)
    file.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
