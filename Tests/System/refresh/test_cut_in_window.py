"""Within a reuse window: a refresh token in an answer of no other use, beside an answer that brings none."""

import socket
import threading

import pytest

from login.provider import use_silent_browser
from login.whole_provider import Whole
from refresh.test_cut_answers import Kept
from support.login import wait_until
from support.unattended import refresh


def answer(status, body, more=0):
    """`more`: bytes that are announced and do not come."""
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (
        status, len(body) + more, body)


ANSWERS = {
    "busy": answer(b"503 Service Unavailable", b"{}"),
    "refused": answer(b"400 Bad Request", b'{"error": "invalid_grant"}'),
    "cut": answer(b"200 OK", b'{"token_type": "Bearer", "refresh_token": "living", "access_tok', 40),
    "no access token": answer(b"200 OK", b'{"token_type": "Bearer", "refresh_token": "living"}'),
    "granted": answer(b"200 OK", b'{"access_token": "a", "token_type": "Bearer", "refresh_token": "of-no-use"}'),
}


class Scripted(Whole):
    """Of two requests with one refresh token that with the number `first` is answered first; then `living` lives."""

    def __init__(self, log):
        self.answers, self.first, self.count, self.log_file = None, 0, 0, log
        self.lock, self.mine, self.has_first = threading.Lock(), threading.local(), threading.Event()
        super().__init__()

    def answer(self, method, url, fields, body):
        if not self.answers or "grant_type=refresh_token" not in body:
            return super().answer(method, url, fields, body)
        with self.lock:
            self.mine.number, self.count = self.count, self.count + 1
        if self.mine.number < 2:
            return "200 OK", {}, None
        return super().answer(method, url, fields, body)

    def is_told(self):
        """Whether the log of the agent has how a request for a token ended."""
        lines = [line for line in self.log_file.read_text().splitlines() if "(issuer=" in line]
        return any("asking for a token" not in line and "logged in" not in line for line in lines)

    def serve(self, connection):
        self.mine.number = None
        kept = Kept(connection)
        super().serve(kept)
        number = self.mine.number
        if number not in (0, 1):
            return connection.sendall(kept.sent)
        wait_until(lambda: self.count > 1, 60, "it is sent once more")
        if number != self.first:
            self.has_first.wait(60)
        self.alive.clear()
        self.alive.add("living")
        connection.sendall(ANSWERS[self.answers[number]])
        connection.shutdown(socket.SHUT_WR)
        if number == self.first:
            wait_until(self.is_told, 60, "the agent has it")
            self.has_first.set()


@pytest.mark.parametrize("first, answers", [
    (1, ("cut", "busy")), (1, ("cut", "refused")), (0, ("busy", "cut")), (1, ("busy", "cut")), (1, ("granted", "cut")),
    (1, ("no access token", "busy"))])
def test_it_is_kept_whatever_the_other_answer_is(home, first, answers):
    use_silent_browser(home)
    with Scripted(home.agent.log) as provider:
        home.agent.start()
        home.oauthctl("vault", "create")
        provider.define(home, 'scope = "read"', 'keep = "on-demand"', "reuse_grace_s = 6")
        home.oauthctl("login", "work")
        provider.first, provider.answers = first, answers
        refresh(home)
        wait_until(lambda: provider.has_first.is_set() and refresh(home).status == 0, 30, "it is refreshed")
        assert provider.form("refresh_token")["refresh_token"] == "living"
