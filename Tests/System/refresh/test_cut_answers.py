"""A token answer that has come, whole or in part, and whose connection ends badly behind it."""

import json
import socket
import struct

import pytest

from login.provider import use_silent_browser
from login.whole_provider import Whole
from support import ports
from support.login import wait_until

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class Cutting(Whole):
    """Refuses a refresh token that it has seen before. Its next answer to one, or to a code, ends as `cut` says."""

    def __init__(self):
        self.living, self.cut, self.cuts, self.reused = None, None, "refresh_token=", 0
        super().__init__()

    def answer(self, method, url, fields, body):
        if url.path == "/token" and "refresh_token=" in body:
            if f"refresh_token={self.living}" not in body:
                self.reused += 1
                return "400 Bad Request", {}, {"error": "invalid_grant"}
        told = super().answer(method, url, fields, body)
        if url.path == "/token":
            self.living = told[2]["refresh_token"]
            self.ends_badly = self.cuts in body
        return told

    def serve(self, connection):
        self.ends_badly = False
        if not self.cut:
            return super().serve(connection)
        kept = Kept(connection)
        super().serve(kept)
        if not self.ends_badly:
            return connection.sendall(kept.sent)
        body = kept.sent.partition(b"\r\n\r\n")[2]
        cut, self.cut = self.cut, None
        if cut == "the last chunk is missing":
            connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n")
        elif cut == "a length that is too long":
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) + 10) + body)
        elif cut == "a reset":
            connection.sendall(HEAD + b"\r\n" + body)
            # It would throw away what is not read yet.
            wait_until(lambda: not ports.has_unread(self.port, is_peer=True), 10, "the answer is read")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif cut == "behind the refresh token":
            token = json.loads(body)["refresh_token"]
            part = b'{"token_type": "Bearer", "refresh_token": "%s", "access_tok' % token.encode()
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (len(part) + 40) + part)
        elif cut == "blanks without end":
            connection.sendall(HEAD + b"\r\n" + body)
            try:
                for _ in range(40):
                    connection.sendall(b" " * (1 << 16))
            except OSError:
                pass


class Kept:
    """A connection whose answer is not sent yet."""

    def __init__(self, connection):
        self.connection, self.sent = connection, b""

    def recv(self, count):
        return self.connection.recv(count)

    def sendall(self, data):
        self.sent += data


@pytest.fixture
def provider(home):
    use_silent_browser(home)
    with Cutting() as provider:
        home.agent.start()
        home.oauthctl("vault", "create")
        provider.define(home, 'scope = "read"', 'keep = "on-demand"')
        yield provider
        assert provider.reused == 0


@pytest.mark.parametrize("cut", ["the last chunk is missing", "a length that is too long", "a reset",
                                 "behind the refresh token", "blanks without end"])
def test_a_refresh_token_that_came_before_the_connection_failed_is_kept(home, provider, cut):
    home.oauthctl("login", "work")
    provider.cut = cut
    home.oauthctl("get-token", "work", "--force")
    assert provider.cut is None
    home.oauthctl("get-token", "work", "--force")


@pytest.mark.parametrize("words", [[], ["--device"]], ids=["by browser", "by device code"])
def test_a_login_whose_answer_has_come_whole_is_made(home, provider, words):
    provider.cuts, provider.cut = "code=", "the last chunk is missing"
    home.oauthctl("login", "work", *words)
    assert provider.cut is None and len(provider.log) == 1
    home.oauthctl("get-token", "work", "--force")


@pytest.mark.parametrize("words", [[], ["--device"]], ids=["by browser", "by device code"])
def test_a_login_whose_answer_is_cut_leaves_no_living_token(home, provider, words):
    provider.cuts, provider.cut = "code=", "behind the refresh token"
    assert home.oauthctl("login", "work", *words, check=False).status != 0
    assert provider.form("revoke")["token"] == "refresh-1"
