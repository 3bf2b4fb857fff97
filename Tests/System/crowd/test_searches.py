"""R11, what callers begin beside asking for tokens: searches of servers, and waits for the end of a login."""

import os
import socket
import threading
from contextlib import ExitStack

import pytest

from network.listeners import Listener, read_head
from support import load
from support.accounts import define
from support.wire import WireError

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root, to count the memory of an agent that no one else may look into")

SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ


def definition(url):
    return f'issuer = "{url}"\nclient_id = "-"\n'


def answered(wire):
    """Whether an answer is there to be read."""
    wire.socket.setblocking(False)
    try:
        return bool(wire.socket.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        wire.socket.settimeout(60)


def refreshed_before_a_search_ended(home):
    """Whether an account was refreshed while searches of silent servers had all places that searches may have.

    Each search has its own server, so that no server's share of the places bounds them. The first of them ends ten
    seconds after it began.
    """
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(100)]
        searching = stack.enter_context(home.agent.connect())
        for one in silent:
            searching.request(
                "server.find", account="x", definition=definition(f"http://127.0.0.1:{one.getsockname()[1]}"))
        # One of them has reached its server: the others stand in line.
        silent[0].settimeout(60)
        stack.enter_context(silent[0].accept()[0])
        with home.agent.connect() as wire:
            wire.call("token.get", account="work", force=True)
        return not answered(searching)


def test_searches_of_silent_servers_delay_no_refresh(ready):
    """Tried again where it failed: a disk that is written to by others may take ten seconds, but not each time."""
    assert any(refreshed_before_a_search_ended(ready) for _ in range(3))


class Held(Listener):
    """Answers nothing until it is released, then that there is nothing here."""

    def __init__(self):
        self.reached, self.released = threading.Event(), threading.Event()
        super().__init__()
        self.definition = definition(f"http://127.0.0.1:{self.port}/mcp")

    def serve(self, connection):
        read_head(connection)
        self.reached.set()
        self.released.wait(60)
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("method", ["server.find", "account.check"])
def test_a_search_ends_with_its_caller(ready, method):
    with Held() as held, Held() as other, ready.agent.connect() as wire:
        with ready.agent.connect() as leaving:
            leaving.request(method, account="x", definition=held.definition)
            assert held.reached.wait(60)
        # Who is answered after it left is answered by an agent that has seen it leave.
        wire.call("agent.hello")
        held.released.set()
        other.released.set()
        with pytest.raises(WireError):
            wire.call("server.find", account="y", definition=other.definition)
        assert other.connections > 1, "a search asks at several places"
        assert held.connections == 1


def test_callers_who_wait_for_a_login_take_little_each(ready, record_property):
    """Each kept all who waited before it: 3,000 took 250 MiB, and 6,000 more than the unit allows."""
    define(ready, "person", f'issuer = "{ready.server.issuer}"', 'client_id = "dev"')
    before = load.resident_kib(ready.agent)
    with ExitStack() as stack:
        first = stack.enter_context(ready.agent.connect())
        login = first.call("login.start", request_id="one", account="person", remote_browser=True)["login_id"]
        waiting = []
        for _ in range(60):
            wire = stack.enter_context(ready.agent.connect())
            for _ in range(50):
                wire.request("token.get", account="person", interaction="wait", timeout_ms=600_000)
            waiting.append(wire)
        # Whoever is answered has been read up to here.
        for wire in waiting:
            wire.call("agent.hello")
        used = load.resident_kib(ready.agent) - before
        first.call("login.cancel", login_id=login)
    text = f"3,000 callers who wait for a login: {used} KiB"
    print(text)
    record_property("load", text)
    assert SANITIZED or used <= 64 << 10
