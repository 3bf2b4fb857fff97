"""Time in which the agent and its helper did not run is not the server's: no answer and no login is lost by it.

A machine that sleeps is pretended by SIGSTOP: for both, every clock goes on and nothing runs.
"""

import json
import socket
import struct
import subprocess
import time

import pytest

from support import processes
from support.dev_server import DevServer
from support.login import wait_until
from support.processes import stopped

# More than the helper's tolerance (ExchangeTimeout.swift), and than the limits that the tests set.
NAP_SECONDS = 4.5
# More than the 61 s that the agent has for a refresh.
SLEEP_SECONDS = 65


# The helper by itself

def frame(kind, payload):
    return struct.pack(">BI", kind, len(payload)) + payload


def request_of(url, timeout_ms, body=b"grant_type=refresh_token"):
    """What the agent writes to `oauthd-fetch` (FetchWire)."""
    texts = b"".join(struct.pack(">H", len(text)) + text for text in (url.encode(), b""))
    head = struct.pack(">BBIIIBBB", 5, 2, timeout_ms, timeout_ms, 1 << 20, 0, 0, 0) + texts + struct.pack(">H", 0)
    return frame(1, head) + frame(2, body)


def events_of(data):
    """(kind, payload) of each frame that the helper wrote."""
    while data:
        kind, length = struct.unpack(">BI", data[:5])
        yield kind, data[5:5 + length]
        data = data[5 + length:]


SENT, ANSWER, BODY, FAILURE = 0x11, 0x12, 0x13, 0x14
ANSWERED = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'


@pytest.fixture
def exchange(home):
    """exchange(timeout_ms) -> (the helper's process, the server's end of its connection), the request read."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(20)
    left = [listener]

    def begin(timeout_ms):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/token"
        process = home.start(home.programs / "oauthd-fetch", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdin.buffer.raw.write(request_of(url, timeout_ms))
        connection, _ = listener.accept()
        left.append(connection)
        connection.settimeout(20)
        read = b""
        while not read.endswith(b"grant_type=refresh_token"):
            read += connection.recv(65536)
        return process, connection

    yield begin
    for each in left:
        each.close()


def told(process):
    output = process.stdout.buffer.read()
    process.wait(20)
    process.stdin.close()
    return list(events_of(output))


def test_a_helper_that_was_stopped_tells_the_answer_that_came_meanwhile(exchange):
    process, connection = exchange(1_000)
    with stopped(process.pid):
        connection.sendall(ANSWERED)
        time.sleep(NAP_SECONDS)
    assert [kind for kind, _ in told(process)] == [SENT, ANSWER, BODY]


def test_a_helper_that_was_stopped_gives_the_server_the_rest_of_its_time(exchange):
    process, connection = exchange(1_000)
    with stopped(process.pid):
        time.sleep(NAP_SECONDS)
    # Longer than its limit, shorter than what is left at least.
    time.sleep(2)
    connection.sendall(ANSWERED)
    assert [kind for kind, _ in told(process)] == [SENT, ANSWER, BODY]


def test_a_helper_that_was_not_stopped_ends_at_its_limit(exchange):
    process, connection = exchange(1_000)
    began = time.monotonic()
    (sent, _), (kind, failure) = told(process)
    assert (sent, kind) == (SENT, FAILURE) and b"timed out" in failure
    assert time.monotonic() - began < 9, "as if it had been stopped"


# Both, for longer than a refresh may take

@pytest.fixture
def server(home, agent):
    server = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    home.use_browser("alice", "demo")
    home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read")
    yield server
    server.stop()


@pytest.mark.prove
@pytest.mark.parametrize("times", [1, 2])
def test_a_refresh_outlives_a_sleep(home, agent, server, times):
    """The server answers while nobody runs; the refresh token is not sent twice, and the login lives."""
    server.script(delay_ms={"token": 3_000})
    with agent.connect() as wire:
        wire.socket.settimeout(300)
        wire.request("token.get", account="work", force=True, timeout_ms=600_000)
        wait_until(server.refreshes, 20, "the request has come")
        (helper,) = processes.children(agent.process.pid, named="oauthd-fetch")
        for _ in range(times):
            with stopped(agent.process.pid, helper):
                time.sleep(SLEEP_SECONDS)
        assert json.loads(wire.read_line())["result"]["access_token"]
    assert [entry["status"] for entry in server.refreshes()] == [200]
    server.script(delay_ms={})
    assert home.oauthctl("get-token", "work", "--force").status == 0
    assert [entry["status"] for entry in server.refreshes()] == [200, 200]
