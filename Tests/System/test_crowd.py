"""R11: no caller, however slow, many or malformed, keeps another waiting. How long it takes: test_load."""

import contextlib
import resource
import socket

import pytest

from support.dev_server import DevServer
from support.login import get_token

ASK = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}\n'
# More than the agent keeps at once, which is 1,024.
MANY = 1_100


@pytest.fixture
def crowd(home):
    """crowd(count, *said): connections of callers that said this and stay, reading nothing."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4 * MANY, before[1]), before[1]))
    with contextlib.ExitStack() as callers:

        def gather(count, *said):
            for _ in range(count):
                caller = callers.enter_context(socket.socket(socket.AF_UNIX))
                # Waits while the queue is full, which a time limit would not.
                caller.connect(str(home.socket))
                caller.setblocking(False)
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                    for some in said:
                        caller.send(some)

        yield gather
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_crowd_of_difficult_callers_keeps_nobody_from_an_answer(home, agent, crowd):
    server = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    try:
        home.environment["BROWSER"] = str(home.bin / "browser")
        (home.bin / "browser").write_text('#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n')
        (home.bin / "browser").chmod(0o700)
        home.oauthctl("login", "work", server.issuer, "--client-id", "dev")
        token = get_token(home)
        crowd(50, ASK[:40])
        crowd(20, ASK, *[ASK * 50] * 40)
        crowd(20, b"\xff\x00 no line of ours\n" * 100)
        crowd(20, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        crowd(20, b"x" * 65_000)
        assert get_token(home) == token
        crowd(MANY)
        assert [get_token(home) for _ in range(10)] == [token] * 10
        assert agent.is_running
    finally:
        server.stop()
