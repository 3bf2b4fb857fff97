"""A server that takes ciphers which encrypt nothing, and somebody who listens on the way."""

import socket
import ssl
import threading

import pytest

from attacks.client import curl
from attacks.test_client_hosts import GRANTED, TOKEN
from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import Listener, Portal, server_tls


class Wire(Listener):
    """Passes everything on to `target`, and keeps what goes there."""

    def __init__(self, target):
        self.target, self.seen = target, b""
        super().__init__()

    def serve(self, connection):
        server = socket.create_connection(("127.0.0.1", self.target))

        def back():
            while data := server.recv(65536):
                connection.sendall(data)

        threading.Thread(target=back, daemon=True).start()
        while data := connection.recv(65536):
            self.seen += data
            server.sendall(data)


@pytest.fixture
def wire(home, agent, scratch):
    authority = Authority(scratch / "attacks-ciphers")
    tls = server_tls(authority.issue("localhost"))
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0")
    tls.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    with Portal("200 OK", GRANTED, tls=tls) as server, Wire(server.port) as wire:
        wire.url = f"https://localhost:{wire.port}"
        write_account(home, "work", **endpoints(wire.url), ca_file=str(authority.file))
        log_in_by_password(home, "work")
        wire.seen = b""
        yield wire


@pytest.mark.parametrize("ciphers", [
    "eNULL:@SECLEVEL=0", "NULL-SHA:@SECLEVEL=0", "ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0", "kEECDH+SHA1:@SECLEVEL=0",
    "ECDSA+SHA1:@SECLEVEL=0", "SSLv3:TLSv1:@SECLEVEL=0", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"])
def test_no_cipher_sends_the_token_readable(home, wire, ciphers):
    curl(home, "work", "-sS", "-m", "10", "--ciphers", ciphers, f"{wire.url}/a")
    assert TOKEN.encode() not in wire.seen
    # What people do name.
    assert curl(home, "work", "-sS", "--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", f"{wire.url}/a").status == 0
