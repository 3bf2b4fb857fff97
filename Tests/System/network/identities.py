"""Certificates that servers should not have: each is right but for one thing."""

import datetime
import ipaddress
import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from world.certificates import Files, certificate, key_usage, name, write_key

LOOPBACK = ("localhost", "127.0.0.1", "::1")
NOW = datetime.datetime.now(datetime.timezone.utc)


def day(number):
    """Midnight-free days from now; negative ones are past."""
    return NOW + datetime.timedelta(days=number)


class Authority:
    """A private authority; `file` is what its users must trust."""

    def __init__(self, directory):
        directory.mkdir(exist_ok=True)
        self.directory, self.file = directory, directory / "ca.pem"
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = name(f"authority in {directory.name}")
        signed = (
            certificate(self.name, self.key.public_key(), self.name)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(key_usage(sign_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256()))
        self.file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def issue(self, label, names=LOOPBACK, begins=-1, ends=30, self_signed=False):
        """Key and certificate for `names`, valid from day `begins` to day `ends`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = name(names[0])
        signer, signer_name = (key, subject) if self_signed else (self.key, self.name)
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(signer_name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(day(begins)).not_valid_after(day(ends))
            .add_extension(x509.SubjectAlternativeName([general_name(text) for text in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False))
        files = Files(self.file, self.directory / f"{label}.pem", self.directory / f"{label}.key")
        files.certificate.write_bytes(builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        write_key(files.key, key)
        return files


def general_name(text):
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def folder_of(authority, folder):
    """`folder`, with `authority` in it as the system's folder of authorities has them."""
    folder.mkdir()
    command = ["openssl", "x509", "-noout", "-hash", "-in", str(authority.file)]
    hashed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    (folder / f"{hashed}.0").write_bytes(authority.file.read_bytes())
    return folder
