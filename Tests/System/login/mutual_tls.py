"""An authorization server whose clients prove themselves by certificates (RFC 8705), on a port for them alone."""

import contextlib
import socket
import ssl
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from login.provider import Provider
from network.identities import day
from network.listeners import Listener, server_tls
from world.certificates import name


def new_key():
    return ec.generate_private_key(ec.SECP256R1())


def pem_of(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def issue_client(authority, subject, key, begins=-1, ends=30):
    """A certificate for `key` as a client's, PEM, by an Authority; `begins` and `ends` are days from now."""
    signed = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(authority.name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(day(begins)).not_valid_after(day(ends))
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(authority.key, hashes.SHA256()))
    return signed.public_bytes(serialization.Encoding.PEM).decode()


class Door(Listener):
    """Lets in whoever shows a certificate that `trusted` (PEM) leads to, and has the server judge whose it is."""

    def __init__(self, server, files, trusted):
        self.server, self.files = server, files
        super().__init__(tls=self.context(trusted))

    def context(self, trusted):
        context = server_tls(self.files, verify_mode=ssl.CERT_REQUIRED)
        context.load_verify_locations(cadata=trusted)
        return context

    def trust(self, trusted):
        """From now on."""
        self.tls = self.context(trusted)

    def handle(self, connection):
        secure = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with secure, contextlib.suppress(OSError):
            try:
                secure.do_handshake()
            except ssl.SSLError:
                # A socket closed with something unread resets the connection, and the alert may be lost by that.
                while socket.socket.recv(secure, 65536):
                    pass
            else:
                self.serve(secure)

    def serve(self, connection):
        self.server.peer.certificate = connection.getpeercert()
        self.server.serve(connection)


class CertificateProvider(Provider):
    """Its endpoints for everybody prove nobody; those of `door` take the client with the name `client`."""

    def __init__(self, files, trusted):
        self.client, self.shown, self.peer = "mine", [], threading.local()
        self.door = Door(self, files, trusted)
        super().__init__()
        aliases = f"https://localhost:{self.door.port}"
        self.metadata = {
            "token_endpoint_auth_methods_supported": ["tls_client_auth", "self_signed_tls_client_auth"],
            "mtls_endpoint_aliases": {
                "token_endpoint": aliases + "/token", "revocation_endpoint": aliases + "/revoke"}}

    def __exit__(self, *arguments):
        self.door.__exit__(*arguments)
        super().__exit__(*arguments)

    def answer(self, method, url, fields, body):
        if url.path in ("/token", "/revoke"):
            certificate = getattr(self.peer, "certificate", None)
            subject = certificate and dict(part for names in certificate["subject"] for part in names)["commonName"]
            self.shown.append((url.path, subject))
            if subject != self.client or "client_id=mine" not in body or "client_secret" in body:
                return "401 Unauthorized", {}, {"error": "invalid_client"}
        return super().answer(method, url, fields, body)

    def define(self, home, *lines, method="tls_client_auth"):
        super().define(
            home, 'scope = "read"', f'client_authentication = "{method}"', f'ca_file = "{self.door.files.authority}"',
            *lines)
